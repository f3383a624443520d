// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/simulate.hpp"

namespace gradway {

/// A figure and where the real one is to be expected in nine of ten cases.
struct Expected {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// A scenario on one platform with one number of GPUs: what a buyer wants to know.
struct Alternative {
  std::string platform;
  int gpus = 0;
  Metrics metrics;
  TimeRange range;
  Bottleneck bottleneck;
};

/// A training of many steps.
struct WholeRun {
  Expected hours;
  std::optional<Expected> usd;  ///< none without a price
};

Alternative alternative_of(const Run& run);

/// None without a price.
std::optional<Expected> usd_per_step(const Alternative& alternative);
std::optional<Expected> usd_per_million_samples(const Alternative& alternative);

/// @param samples that are trained on in all
WholeRun whole_run(const Alternative& alternative, double samples);

/// Positions in the order of cost for a million samples, those without a price last, then of throughput, then
/// as they stand.
std::vector<std::size_t> by_cost(const std::vector<Alternative>& alternatives);

/// Position of the one with the most samples a second, the first of them. @pre there is one
std::size_t fastest(const std::vector<Alternative>& alternatives);

/// Which of them no other beats: there is none that is both at least as fast and at least as cheap for a
/// sample, and better in one of the two. Those without a price are not among them. @return beside them
std::vector<bool> pareto_front(const std::vector<Alternative>& alternatives);

}  // namespace gradway
