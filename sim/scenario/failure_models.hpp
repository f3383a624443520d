// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// Why trainings were interrupted, and how often.
struct FailureCause {
  std::string_view name;
  double count = 1;        ///< of its model's
  bool takes_node = true;  ///< the node goes to repair; else the job only starts again
};

/// Published interruptions of a fleet of nodes with 8 GPUs.
struct FailureModel {
  std::string_view name;
  double per_node_day = 0;  ///< of a node of 8 GPUs
  std::span<const FailureCause> causes;
  std::string_view source;
};

std::span<const FailureModel> failure_models();
std::span<const std::string_view> failure_model_names();
/// @return null if there is none of that name
const FailureModel* find_failure_model(std::string_view name);

/// How long nodes of spare capacity stayed and were missing. Both are log-normal: the means are several times
/// the medians.
struct SpotModel {
  std::string_view name{};
  Seconds up_mean{};
  double up_mean_over_median = 1;
  Seconds down_mean{};
  double down_mean_over_median = 1;
  int group = 1;  ///< nodes that go together
  std::string_view source{};
};

std::span<const SpotModel> spot_models();
std::span<const std::string_view> spot_model_names();
const SpotModel* find_spot_model(std::string_view name);

}  // namespace gradway
