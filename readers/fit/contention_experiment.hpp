// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// A contention experiment: a sequence of kernels on one stream and a sequence of all-reduces on another,
/// started together.
struct ContentionExperiment {
  Seconds kernel{};  ///< One of them alone.
  int kernels = 0;
  Seconds collective{};  ///< One of them alone.
  int collectives = 0;
};

/// End of each of the two sequences.
struct ContentionEnds {
  Seconds kernels{};
  Seconds collectives{};
};

/// Simulates an experiment as the engines do: while both sequences run, each is slowed down by its factor; if
/// `is_serialized`, a collective that follows another starts when the running kernel ends.
ContentionEnds contention_ends(const ContentionExperiment& trial, double kernel_slowdown,
                               double collective_slowdown, bool is_serialized);

/// An experiment and its measured ends.
struct MeasuredTrial {
  ContentionExperiment trial;
  ContentionEnds ends;
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
  double known_slowdown = 1;   ///< Known slow-down of kernels, by which the fitted one is multiplied.
  bool is_serialized = false;  ///< As in `contention_ends`.
};

/// The slow-downs that reproduce the measured ends of all experiments best: with the least sum of the errors
/// of both ends. Of equal slow-downs the smallest are chosen. @pre an experiment
Slowdowns find_slowdowns(const std::vector<MeasuredTrial>& trials, const SlowdownSearch& search);

/// Predicted divided by measured end, minus one, of kernels and of collectives.
struct EndErrors {
  double kernels = 0;
  double collectives = 0;
};
EndErrors end_errors(const MeasuredTrial& measured, const Slowdowns& slowdowns, const SlowdownSearch& search);

}  // namespace gradway
