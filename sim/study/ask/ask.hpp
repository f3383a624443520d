// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/compute/memory_range.hpp"
#include "sim/config/set_keys.hpp"
#include "sim/run/simulate_within.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/study/parallel.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway {

/// How a scenario is simulated.
struct AskOptions {
  std::string_view engine = "auto";  ///< or a name from engines()
  FoldRanks fold = FoldRanks::yes;
  FoldMicroBatches micro_batches = FoldMicroBatches::yes;
  ProgressCallback on_progress{};
  TimelineCache* timelines = nullptr;  ///< of steps that were simulated before; null: none
};

/// Simulates a scenario. All questions that need a simulation ask here.
/// @throws ConfigError for jobs that NCCL refuses, SimulationError if the simulation cannot finish
Run ask(Scenario scenario, const AskOptions& options = {});

/// The same with another job on the same platform.
Run ask(Scenario scenario, Job job, const AskOptions& options);

enum class Outcome : std::uint8_t {
  simulated,
  beyond_limits,  ///< not simulated to its end: it takes longer than asked for, or more memory
  refused,        ///< by NCCL
};

/// What the simulation of a scenario predicts: one of several that were tried.
struct Answer {
  Outcome outcome = Outcome::simulated;
  std::size_t scenario = 0;  ///< index of the scenario that was changed, if there are several
  Job job{};                 ///< that was simulated; empty in answers that are read from files
  Settings set{};            ///< keys that were changed
  std::string platform{};
  int gpus = 0;
  int nodes = 1;  ///< that hold the job's GPUs
  Metrics metrics{};
  TimeRange range{};                    ///< of the step time
  std::vector<PossibleError> errors{};  ///< of the step time
  Bytes memory{};                       ///< expected need of the GPU, of the largest stage; zero: unknown
  MemoryVerdict verdict = MemoryVerdict::fits;
  Bottleneck bottleneck{};
  ProvenanceClass provenance = ProvenanceClass::measured;
  std::optional<Price> price{};         ///< of a node
  std::vector<ProvenanceFact> basis{};  ///< provenance of the prediction
  std::vector<Warning> warnings{};
  /// Why it cannot run, or may not: "does not fit: 93 of 24 GB on each l4". Empty if it can.
  std::string failure_reason{};

  bool can_run() const { return failure_reason.empty(); }
  bool surely_fits() const { return verdict == MemoryVerdict::fits; }
  /// By which steps of different batches are compared.
  Seconds time_per_sample() const { return metrics.step_time / job.samples(); }
  /// For a ranking by a figure that is proportional to the step time.
  Choice choice(double figure) const { return {figure, metrics.step_time, errors}; }
  /// For a ranking by step time, or by the time of a sample.
  Choice choice() const { return choice(metrics.step_time.value()); }
  Choice sample_choice() const { return choice(time_per_sample().value()); }
};

Answer answer_of(const Run& run);

/// A scenario with changes.
struct Question {
  const Scenario* scenario = nullptr;
  std::optional<Job> job{};  ///< instead of that of the scenario
  Settings set{};            ///< keys to change then
  bool must_run = false;     ///< a refusal by NCCL is an error of the user's
};

/// What all questions of a list share.
struct QuestionOptions {
  std::string_view engine = "auto";
  StepLimits limits{};
  std::vector<StorageTier> tiers{};  ///< by which changes name the storage of samples
};

/// @throws ConfigError for a job that must run and that NCCL refuses, SimulationError
Answer answer_to(const Question& question, const QuestionOptions& options);

/// Answers in the order of the questions. @throws what the first question that failed threw
std::vector<Answer> answers_to(const std::vector<Question>& questions, const QuestionOptions& options,
                               const ForEach& for_each);

}  // namespace gradway
