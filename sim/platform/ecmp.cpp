// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/ecmp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

double poisson(int number, double mean) {
  return std::exp(number * std::log(mean) - mean - std::lgamma(number + 1.0));
}

/// Probability that no uplink of a switch has more than `most` flows.
double chance_of_at_most(int most, const HashedFlows& hashed) {
  constexpr double negligible = 1e-20;
  const auto flows = static_cast<std::size_t>(hashed.flows);
  const auto mean = static_cast<double>(hashed.flows) / hashed.uplinks;
  std::vector<double> chances(flows + 1, 0);  // by number of flows on the uplinks so far
  chances[0] = 1;
  for (int uplink = 0; uplink < hashed.uplinks; ++uplink) {
    std::vector<double> next(flows + 1, 0);
    for (int load = 0; load <= std::min(most, hashed.flows); ++load) {
      const auto chance = poisson(load, mean);
      if (chance < negligible) continue;
      const auto shift = static_cast<std::size_t>(load);
      for (std::size_t sum = shift; sum <= flows; ++sum) next[sum] += chance * chances[sum - shift];
    }
    chances = std::move(next);
  }
  return std::min(1.0, chances[flows] / poisson(hashed.flows, hashed.flows));
}

}  // namespace

double most_loaded(const HashedFlows& hashed) {
  expects(hashed.flows > 0 && hashed.uplinks > 0 && hashed.groups > 0, "flows are hashed to uplinks");
  constexpr int exact_flows = 2048;
  if (hashed.flows > exact_flows) {
    const auto few = HashedFlows{exact_flows, hashed.uplinks, hashed.groups};
    const auto mean_of_few = static_cast<double>(exact_flows) / hashed.uplinks;
    const auto times = static_cast<double>(hashed.flows) / exact_flows;
    return mean_of_few * times + (most_loaded(few) - mean_of_few) * std::sqrt(times);
  }
  constexpr double surely = 1e-12;
  const auto least = (hashed.flows + hashed.uplinks - 1) / hashed.uplinks;
  double mean = least;  // fewer flows on each uplink are impossible
  for (int most = least; most < hashed.flows; ++most) {
    const auto exceeded = 1 - std::pow(chance_of_at_most(most, hashed), hashed.groups);
    if (exceeded < surely) break;
    mean += exceeded;
  }
  return mean;
}

double hashed_share(const HashedFlows& hashed) {
  return static_cast<double>(hashed.flows) / hashed.uplinks / most_loaded(hashed);
}

}  // namespace gradway
