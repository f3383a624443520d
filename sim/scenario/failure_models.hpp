// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A cause of interruptions and its frequency.
struct FailureCause {
  std::string_view name;
  double count = 1;        ///< number of interruptions in the source of the model
  bool takes_node = true;  ///< the node goes to repair; false: the job only restarts
};

/// Published failures of a fleet of nodes with 8 GPUs.
struct FailureModel {
  std::string_view name;
  double per_node_day = 0;  ///< failures per day of a node with 8 GPUs
  std::vector<FailureCause> causes;
  std::string_view source;
};

/// The models are rows of failure_models.txt, each with its source.
std::span<const std::string_view> failure_model_names();
/// @return null for an unknown name
const FailureModel* find_failure_model(std::string_view name);

/// Times for which spot nodes were available and missing. Both are log-normal: the means are several times
/// the medians.
struct SpotModel {
  std::string_view name{};
  Seconds up_mean{};
  double up_mean_over_median = 1;
  Seconds down_mean{};
  double down_mean_over_median = 1;
  int group = 1;  ///< nodes that are taken away together
  std::string_view source{};
};

std::span<const std::string_view> spot_model_names();
const SpotModel* find_spot_model(std::string_view name);

}  // namespace gradway
