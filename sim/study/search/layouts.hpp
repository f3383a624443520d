// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
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

/// A layout that was simulated, and its result.
struct LayoutResult {
  Job job;
  Metrics metrics;
  TimeRange range;                    ///< of the step time
  std::vector<PossibleError> errors;  ///< of the step time
  Bytes memory{};                     ///< of the largest stage
  MemoryVerdict verdict = MemoryVerdict::fits;
  std::vector<ProvenanceFact> basis;  ///< provenance of the prediction
  std::vector<Warning> warnings;
};

/// A layout that does not fit into the GPUs' memory.
struct UnfitLayout {
  Job job;
  Bytes needs{};
};

/// A layout that NCCL refuses.
struct RefusedLayout {
  Job job;
  std::string reason;
};

/// A key that the search leaves as the scenario has it, at a value that may be faster.
struct UnsearchedKey {
  std::vector<std::pair<std::string, std::string>> set;  ///< as for `--set`
  void (*change)(Job& job);
};

/// The result of the fastest layout with unsearched keys changed.
struct KeyGain {
  std::vector<std::pair<std::string, std::string>> set;
  Seconds step_time{};
  Bytes memory{};
};

struct LayoutSearchResult {
  std::vector<LayoutResult> ranked;  ///< the fastest first
  Leaders leaders;                   ///< of `ranked`
  std::vector<bool> on_front;        ///< per ranked layout: no other is as fast with as little memory
  std::vector<UnfitLayout> unfit;    ///< per partition of the model the layout with the least memory, sorted
  std::vector<RefusedLayout> refused;
  std::vector<KeyGain> key_gains;  ///< keys that make the fastest faster and still fit; last: all together
  std::size_t candidates = 0;      ///< that the rules allow
  std::size_t do_not_fit = 0;
  std::size_t simulated = 0;
  std::size_t slower = 0;     ///< not simulated to the end, because their lower bound is too slow
  std::size_t not_tried = 0;  ///< because the search was stopped

  /// Index of the fastest; if its memory is tight, of the fastest that is tied with it and certainly fits.
  std::size_t recommended_index() const;
  const LayoutResult& recommended() const { return ranked[recommended_index()]; }
};

/// Layouts of the scenario's job with this global batch, by the rules of its framework:
/// * Tensor ranks divide heads, key-value heads, the MLP and the GPUs that NVLink joins. They use sequence
///   parallelism; Megatron's are also tried without.
/// * Context ranks stay within an NVLink domain and keep at least 8,192 tokens each. Expert ranks divide the
///   experts. Both are powers of two, unless the scenario has more than 1.
/// * A pipeline has at least one block per stage; Megatron has the same number on each. Schedules are 1f1b,
///   interleaved with chunks of equal size, and the schedule that the scenario names.
/// * Micro-batches are powers of two that divide the samples of a rank; interleaved schedules need a multiple
///   of the pipeline ranks.
/// * Activations are kept or recomputed; with attention of kind math also the attention scores alone.
/// * Megatron uses the distributed optimizer with overlap. PyTorch uses FSDP over all ranks, or within an
///   NVLink domain.
/// @param beyond_nodes only tensor groups that span several NVLink domains
std::vector<Job> candidate_layouts(const Scenario& written, int global_batch, bool beyond_nodes);

/// The layout with torchtitan's selective activation checkpointing, which recomputes everything but attention
/// and every second matrix product. It replaces full recomputation, or allows micro-batches of twice the
/// size. None if PyTorch does not support it, or if the micro-batches cannot be doubled.
std::optional<Job> with_selective_checkpoints(const Model& model, const Job& job);

/// Unsearched keys that change the program of the job: formats of parameters, torch.compile, the optimizer's
/// kernels, exchanges that overlap with matrix products. @param best the fastest layout
std::vector<UnsearchedKey> unsearched_keys(const Model& model, const Gpu& gpu, const Job& best);

/// Whether the model has layers for tensor parallelism or blocks for pipeline stages.
bool can_be_distributed(const Model& model);

/// Finds the `best` layouts with the least step time, and the fastest that certainly fits. Memory is checked
/// before anything is simulated. Candidates are simulated in the order of a lower bound, which is the kernels
/// of a stage and the latency of the pipeline up to it, until no other can be one of these: they are those
/// that simulating all candidates finds. Layouts without sequence parallelism are tried if they are within 2
/// % of the best with it, selective checkpoints with the fastest ones. Keys that are not searched are tried
/// on the fastest layout.
/// @param best number of layouts to find, at least 1
/// @param engine a name from engines()
/// @param is_stopped asked now and then: if true, the search ends with the best so far, once it has one
/// @throws SimulationError if a simulation could not finish, ConfigError if no layout exists
LayoutSearchResult search_layouts(const Scenario& written, int global_batch, std::size_t best,
                                  const std::string& engine, const ForEach& for_each,
                                  const ProgressCallback& on_progress = {},
                                  const std::function<bool()>& is_stopped = {});

/// Finds a layout that certainly fits and is close to the fastest such one, in a fraction of the time of
/// `search_layouts` (sim/decisions/0063-find-a-layout-fast-for-plans.md). If none certainly fits, the same of
/// those that may fit.
/// @return `ranked` has the layouts that were simulated; what does not fit is listed only if nothing fits
/// @throws ConfigError if no layout exists
LayoutSearchResult find_layout(const Scenario& written, int global_batch, const std::string& engine);

}  // namespace gradway
