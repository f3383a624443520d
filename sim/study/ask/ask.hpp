// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/compute/memory_range.hpp"
#include "sim/config/set_keys.hpp"
#include "sim/run/simulate_within.hpp"
#include "sim/study/compare/leaders.hpp"
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

/// The same with keys changed. @param tiers by which changes name the storage of samples
Run ask(Scenario scenario, const Settings& changes, const AskOptions& options,
        const std::vector<StorageTier>& tiers = {});

/// The same with another job on the same platform.
Run ask(Scenario scenario, Job job, const AskOptions& options);

/// What the simulation of a scenario predicts: one of several that were tried.
struct Answer {
  std::string platform{};
  int gpus = 0;
  int nodes = 1;  ///< that hold the job's GPUs
  Metrics metrics{};
  TimeRange range{};                    ///< of the step time
  std::vector<PossibleError> errors{};  ///< of the step time
  Bytes memory{};                       ///< expected need of the GPU, of the largest stage
  MemoryVerdict verdict = MemoryVerdict::fits;
  Bottleneck bottleneck{};
  ProvenanceClass provenance = ProvenanceClass::measured;
  std::optional<Price> price{};         ///< of a node
  std::vector<ProvenanceFact> basis{};  ///< provenance of the prediction
  std::vector<Warning> warnings{};
  /// Why it cannot run, as in "does not fit: 93 of 24 GB on each l4". Empty if it can, or was not asked for.
  std::string failure_reason{};

  bool surely_fits() const { return verdict == MemoryVerdict::fits; }
  /// For a ranking by a figure that is proportional to the step time.
  Choice choice(double figure) const { return {figure, metrics.step_time, errors}; }
};

Answer answer_of(const Run& run);

/// The answer within limits, or that the step is beyond them.
std::variant<Answer, BeyondLimits> ask_within(const StepLimits& limits, Scenario scenario,
                                              std::string_view engine);

}  // namespace gradway
