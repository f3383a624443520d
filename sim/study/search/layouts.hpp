// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/progress.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/run/simulate.hpp"
#include "sim/study/compare/leaders.hpp"
#include "sim/study/search/optimize.hpp"

namespace gradway {

/// A layout that was simulated.
struct LayoutResult {
  Job job;
  Metrics metrics;
  TimeRange range;                    ///< of the step's time
  std::vector<PossibleError> errors;  ///< that it may have
  Bytes memory{};                     ///< of the largest stage
  MemoryVerdict verdict = MemoryVerdict::fits;
  std::vector<std::string> basis;     ///< what the prediction rests on
  std::vector<std::string> warnings;  ///< what to know before trusting it
};

/// A layout that the GPUs do not hold.
struct UnfitLayout {
  Job job;
  Bytes needs{};
};

/// A layout that NCCL refuses.
struct RefusedLayout {
  Job job;
  std::string reason;
};

/// What keys that are not searched would make of the fastest layout.
struct KeyGain {
  std::vector<std::pair<std::string, std::string>> set;
  Seconds step_time{};
  Bytes memory{};
};

struct LayoutSearchResult {
  std::vector<LayoutResult> ranked;  ///< the fastest first
  Leaders leaders;                  ///< of them
  std::vector<bool> on_front;       ///< beside them: none that was simulated is as fast and as small
  std::vector<UnfitLayout> unfit;   ///< one of each way to cut the model, which needs least; the least first
  std::vector<RefusedLayout> refused;
  std::vector<KeyGain>
      key_gains;  ///< keys that would make the fastest faster, and fit; the last one: all of them
  std::size_t candidates = 0;  ///< that the rules allow
  std::size_t do_not_fit = 0;  ///< of them
  std::size_t simulated = 0;
  std::size_t slower = 0;  ///< for sure, by what their kernels take alone, or as others of their kind did

  /// The fastest; if its memory is tight, the fastest of those tied with it that surely fits.
  const LayoutResult& recommended() const;
};

/// Layouts of the scenario's job that train on so many samples a step, by the rules of its framework:
/// * tensor ranks divide heads, keys' heads and MLP, and the GPUs that NVLink joins; with sequence
///   parallelism, and for Megatron without it too
/// * context ranks, within what NVLink joins, that leave each 8,192 tokens or more; expert ranks that divide
///   the experts; powers of two, and as the scenario says if it says more than 1
/// * a pipeline has a block a stage at least, for Megatron as many on each; 1f1b, interleaved in chunks of
///   as many blocks, or the schedule that the scenario names
/// * micro-batches of powers of two, of which a step has a whole number; for interleaved groups of as many
///   as the pipeline has ranks
/// * activations kept or computed again, with attention of kind math its scores alone, too
/// * Megatron's distributed optimizer, overlapped; PyTorch: FSDP over all ranks or within what NVLink joins
/// @param beyond_nodes tensor ranks of several NVLink domains alone
std::vector<Job> candidate_layouts(const Scenario& written, int global_batch, bool beyond_nodes);

/// The layout with torchtitan's selective checkpoints, which compute again all but attention and every second
/// product: in place of whole blocks, or to make room for micro-batches of twice as many samples. Empty where
/// PyTorch has none, or no whole number of them makes a step.
std::optional<Job> with_selective_checkpoints(const Scenario& written, const Job& job);

/// Finds the layouts with the least time of a step. Memory is asked before anything is simulated. Then the
/// candidates are simulated in the order of a lower bound, the kernels of a stage and the way to it and back,
/// until none that is left can be the fastest: by that bound, times the least by which those that differ from
/// it in chunks and replicas alone missed it. Without sequence parallelism is tried what is within 2 % of the
/// best with it; with selective checkpoints the fastest ones. What keys that are not searched would be worth
/// is simulated on the fastest.
/// @param engine a name from engines()
/// @throws SimulationError if a simulation could not finish, ConfigError if no layout is to be found
LayoutSearchResult search_layouts(const Scenario& written, int global_batch, const std::string& engine,
                            const ForEach& for_each, const ProgressCallback& on_progress = {});

}  // namespace gradway
