// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway::testing {

/// A run that pictures have to show right.
struct PicturedRun {
  std::string what;
  std::string scenario;
  std::vector<Override> set;
};

/// One of each kind: layers, profiles, hooks, accumulation, several steps, prefetches, traffic, nodes, ranks
/// that stand for others, one rank, no exchange, a collective alone.
std::vector<PicturedRun> pictured_runs();

Scenario scenario_of(const PicturedRun& run);

}  // namespace gradway::testing
