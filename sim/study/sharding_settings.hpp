// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace gradway {

/// A strategy that shards with one of its settings changed.
struct OtherSetting {
  std::string name;                         ///< "reshard_false"; unique
  std::string words;                        ///< "parameters kept after the forward pass"
  std::pair<std::string, std::string> set;  ///< the scenario's key that gives it
  Strategy strategy;
};

/// What could be set otherwise without another result of the training: resharding, prefetch, wrapping,
/// replicas, overlap. Empty for strategies that do not shard.
std::vector<OtherSetting> other_settings(const Scenario& scenario);

}  // namespace gradway
