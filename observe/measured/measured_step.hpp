// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/report/format/style.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/explain/what_ifs.hpp"

namespace gradway {

/// Something that could make a step longer or shorter than predicted, as a change of the scenario.
struct StepCause {
  WhatIf change;
  std::string decide;   ///< what to measure to find out
  double penalty = 0;   ///< how unusual it is, in the unit of `StepCause::distance`
  Seconds step_time{};  ///< predicted with it

  /// Logarithm of the predicted over the measured step, plus the penalty: the least is the likeliest.
  double distance(Seconds measured) const;
};

/// A smaller difference needs no explanation: steps of two healthy runs differ by as much.
inline constexpr double as_predicted = 0.15;

/// A measured step that is shipped with its source.
struct PublishedStep {
  std::string name{};
  std::string source{};
  std::string model{};
  std::string strategy{};
  int gpus = 1;
  Seconds time{};
  double samples = 0;  ///< per second and GPU
  double tokens = 0;   ///< of a sample; 0: not a model of text
};

/// A measured step beside its prediction.
struct MeasuredStep {
  Seconds time{};
  std::size_t steps = 1;                      ///< of which it is the median
  std::vector<StepCause> causes;              ///< likeliest first; none if the step is as predicted
  std::vector<PublishedStep> published = {};  ///< closest first
};

/// The step time that a user gives: a time or a rate with its unit ("2.31 s", "152 samples/s"), a line of a
/// log, or a log, whose median counts.
/// @throws ConfigError if there is no step time in it
MeasuredStep read_measured_step(const std::string& text, const Run& run);

/// What the prediction says of a measured step.
enum class StepVerdict {
  expected,   ///< within `as_predicted`
  inside,     ///< the prediction interval
  fast,       ///< below the interval
  slow,       ///< above the interval of a prediction from kernels of this GPU
  undecided,  ///< above the interval of a prediction that was extrapolated to this GPU
};
StepVerdict verdict_of(const MeasuredStep& measured, const Run& run);

/// A step of the scenario, to stand beside published ones.
PublishedStep step_of(const Scenario& scenario, Seconds time);

/// Measured steps on the same GPU that are most like the scenario: model size, GPUs, work of a GPU, strategy,
/// precision.
std::vector<PublishedStep> closest_published_steps(const Scenario& scenario, const DataPath& data,
                                                   std::size_t most);

/// Simulates what could explain the difference. @param measured receives the causes
void find_causes(MeasuredStep& measured, const Run& run, std::string_view engine, int threads);

namespace report {

void write_measured(std::ostream& out, const MeasuredStep& measured, const Run& run, const Style& style);
void write_measured_json(std::ostream& out, const MeasuredStep& measured, const Run& run);

}  // namespace report
}  // namespace gradway
