// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// One experiment: a sequence of kernels on one stream and a sequence of all-reduces on another, started
/// together.
struct SideBySideTrial {
  Seconds kernel{};  ///< one alone
  int kernels = 0;
  Seconds collective{};  ///< one alone
  int collectives = 0;
};

/// End of each of the two sequences.
struct SideBySideEnds {
  Seconds kernels{};
  Seconds collectives{};
};

/// The experiment by the law of the engines: while both are under way each takes its slow-down longer; if
/// `held`, a collective that follows another starts when the kernel then running ends.
SideBySideEnds side_by_side_ends(const SideBySideTrial& trial, double kernel_slowdown,
                                 double collective_slowdown, bool held);

/// An experiment and its measured ends.
struct MeasuredTrial {
  SideBySideTrial trial;
  SideBySideEnds ends;
};

/// Slow-downs of kernels and collectives that run concurrently.
struct Slowdowns {
  double kernel = 1;
  double collective = 1;
};

/// Range of the search for slow-downs, in steps of 0.01 from 1.
struct SlowdownSearch {
  double most_kernel = 2.5;
  double most_collective = 4;
  double taken = 1;   ///< known slow-down of kernels, by which the fitted one is multiplied
  bool held = false;  ///< as in `side_by_side_ends`
};

/// The slow-downs with which all experiments end most nearly as they were measured: with the least sum of the
/// errors of both ends. Of slow-downs that fit alike the smallest win. @pre an experiment
Slowdowns find_slowdowns(const std::vector<MeasuredTrial>& trials, const SlowdownSearch& search);

/// Predicted over measured end, less one, of kernels and of collectives.
struct EndErrors {
  double kernels = 0;
  double collectives = 0;
};
EndErrors end_errors(const MeasuredTrial& measured, const Slowdowns& slowdowns, const SlowdownSearch& search);

}  // namespace gradway
