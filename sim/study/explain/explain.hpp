// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/campaign/local_sgd.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/explain/overlap.hpp"
#include "sim/study/explain/what_ifs.hpp"
#include "sim/study/search/largest_batch.hpp"
#include "sim/study/staging/ways_in.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// A smaller share of the step is no gain.
inline constexpr double least_gain = 0.01;

/// Step time with one thing changed.
struct Counterfactual : WhatIf {
  Seconds step_time{};
  MemoryVerdict verdict = MemoryVerdict::fits;
  Bytes needs{};  ///< expected memory

  /// Share of the step that it saves; negative if the step gets longer.
  double gain(Seconds step) const { return (step - step_time) / step; }
};

/// Simulates each what-if. What NCCL refuses does not fit, unless all must run.
/// @throws ConfigError if all must run and NCCL refuses one
std::vector<Counterfactual> counterfactuals(const std::vector<WhatIf>& what_ifs, const Scenario& scenario,
                                            const QuestionOptions& options, int threads, bool must_run);

/// Slowdown of the kernels of the straggler that `explain` simulates: the least that monitors of production
/// jobs report (GREYHOUND, ATC 2025: 10 % of an iteration).
inline constexpr double slow_gpu_factor = 1.1;

/// Share of a class of operations in the kernel time of both passes.
struct KernelShare {
  OperationClass kind = OperationClass::product;
  double share = 0;
};

/// What limits a step, and what would help.
struct Explanation {
  Run run;
  std::vector<KernelShare> kernels{};  ///< at least 1 % each, the largest first; empty without operations
  std::optional<Overlap> overlap{};    ///< empty without communication
  bool mostly_communication = false;   ///< exposed communication is the longest part of the step
  std::vector<ExposedCalls> exposed{};
  std::vector<Counterfactual> helps{};       ///< the greatest gain first
  std::vector<Counterfactual> no_help{};     ///< a gain below `least_gain`, or none, in the same order
  std::optional<OuterLoop> outer{};          ///< of local SGD over a WAN
  std::vector<Counterfactual> meeting{};     ///< mean steps of `outer` with one change, the best first
  std::optional<Counterfactual> slow_gpu{};  ///< cost of a straggler
  std::optional<WaysIn> ways_in{};           ///< of a dataset that is staged
  /// Times until the first epoch ends, staging included, with one change of the staging; the best first.
  std::vector<Counterfactual> staging{};
};

/// Simulates the scenario, then again with each of its what-ifs. Adds the bound of perfect overlap (Overlap).
/// Speeds that the scenario itself sets are multiplied.
///
/// The step time of each counterfactual but bounds is that of `simulate` for the scenario with its `set`.
/// @param engine "auto" or a name from engines()
/// @param threads at a time, at least 1
/// @param drive of a node, to which a dataset outside the nodes might be staged
Explanation explain(const Scenario& scenario, std::string_view engine, int threads,
                    const std::optional<StorageTier>& drive = std::nullopt);

/// Changes of a job with which the samples of a step stay the same and the expected memory fits into the GPU:
/// recomputed blocks, smaller micro-batches, a loss in chunks, sequence and context parallelism, sharding,
/// offload. Also the three best pairs of changes with shorter steps than single ones that fit as surely, or,
/// where no single one and no pair suffices, the three best of the fewest changes that do. The shortest step
/// first; empty if nothing suffices.
/// @param nccl buffers of NCCL as the job is written
/// @pre the job trains a model whose memory is known
std::vector<Counterfactual> changes_to_fit(const Scenario& scenario, Bytes nccl, std::string_view engine,
                                           int threads);

/// The answer of `--fit`.
struct WhatFits {
  std::optional<LargestBatch> largest_batch{};  ///< empty: not asked for, or no batch fits
  std::vector<Counterfactual> changes{};        ///< empty: the job fits as written, or nothing suffices
  Seconds step_as_written{};                    ///< before these changes
};

/// Takes the largest batch, if one fits. Of a job that does not fit as written, answers what makes it fit.
/// @throws ConfigError if neither is possible
WhatFits take_what_fits(Scenario& scenario, std::string_view engine, int threads);

}  // namespace gradway
