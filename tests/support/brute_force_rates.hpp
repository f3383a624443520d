// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "sim/base/ids.hpp"

namespace gradway::testing {

struct BruteForceFlow {
  std::vector<ResourceId> path;
  double weight = 1;
  double cap = std::numeric_limits<double>::infinity();
};

/// Progressive filling as in textbooks: raise the level until the first resource is full or the first flow
/// reaches its cap, fix those flows, and start again with new sums. No data structures, no tolerance.
inline std::vector<double> brute_force_rates(const std::vector<double>& capacities,
                                             const std::vector<BruteForceFlow>& flows) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> rate(flows.size(), infinity);
  std::vector<bool> fixed(flows.size(), false);
  const auto times = [&](std::size_t flow, std::size_t resource) {
    return static_cast<double>(
        std::count(flows[flow].path.begin(), flows[flow].path.end(), ResourceId{resource}));
  };
  while (true) {
    double level = infinity;
    std::size_t full = capacities.size();  // the first resource that is full, if any
    std::size_t capped = flows.size();     // or the first flow that reaches its cap
    for (std::size_t resource = 0; resource < capacities.size(); ++resource) {
      double left = capacities[resource];
      double weight = 0;
      for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        if (fixed[flow])
          left -= times(flow, resource) > 0 ? rate[flow] * times(flow, resource) : 0;
        else
          weight += flows[flow].weight * times(flow, resource);
      }
      if (weight > 0 && std::max(0.0, left) / weight < level) {
        level = std::max(0.0, left) / weight;
        full = resource;
      }
    }
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      if (!fixed[flow] && flows[flow].cap / flows[flow].weight < level) {
        level = flows[flow].cap / flows[flow].weight;
        capped = flow;
      }
    }
    if (capped < flows.size()) {
      rate[capped] = flows[capped].cap;
      fixed[capped] = true;
    } else if (full < capacities.size()) {
      for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        if (fixed[flow] || times(flow, full) == 0) continue;
        rate[flow] = flows[flow].weight * level;
        fixed[flow] = true;
      }
    } else {
      return rate;  // nothing limits the remaining flows
    }
  }
}

}  // namespace gradway::testing
