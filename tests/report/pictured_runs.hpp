// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace gradway::testing {

/// A run for tests of traces and pages.
struct PicturedRun {
  std::string what;
  std::string scenario;
  std::vector<Override> set;
};

/// Runs of all kinds: layers, profiles, hooks, accumulation, several steps, prefetches, traffic, nodes,
/// folded ranks, one rank, no communication, a single collective.
std::vector<PicturedRun> pictured_runs();

Scenario scenario_of(const PicturedRun& run);

}  // namespace gradway::testing
