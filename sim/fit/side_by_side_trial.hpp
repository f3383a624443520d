// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// One experiment: kernels (or copies) in a row on one stream, all-reduces in a row on another, begun
/// together.
struct SideBySideTrial {
  Seconds kernel{};  ///< one alone
  int kernels = 0;
  Seconds collective{};  ///< one alone
  int collectives = 0;
};

/// When each of the two rows ends.
struct SideBySideEnds {
  Seconds kernels{};
  Seconds collectives{};
};

/// The experiment by the law of the engines: while both are under way each takes its slow-down longer; if
/// `held`, a collective that follows another starts when the kernel then running ends.
SideBySideEnds side_by_side_ends(const SideBySideTrial& trial, double kernel_slowdown,
                                 double collective_slowdown, bool held);

/// An experiment and how it came out.
struct MeasuredTrial {
  SideBySideTrial trial;
  SideBySideEnds ends;
};

/// What each of two things that run side by side costs the other.
struct Slowdowns {
  double kernel = 1;
  double collective = 1;
};

/// Where slow-downs are looked for, in steps of 0.01 from 1.
struct SlowdownSearch {
  double most_kernel = 2.5;
  double most_collective = 4;
  double taken = 1;   ///< how many times slower kernels are anyway; comes on top of what is found
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
