// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/explain/explain.hpp"

namespace gradway {

/// A change of the scenario that a counterfactual simulates.
struct ScenarioChange {
  std::string name;
  Change change;
  std::vector<std::pair<std::string, std::string>> set;
  std::function<void(Scenario&)> apply;
};

/// What could be done about the network between the nodes of a job: about lost packets, connections and
/// buffers over a distance, and flows that switches hash to uplinks. Empty without such conditions.
std::vector<ScenarioChange> network_changes(const Scenario& scenario);

}  // namespace gradway
