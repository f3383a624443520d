// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/config/set_keys.hpp"
#include "sim/study/search/search.hpp"

namespace gradway {

/// `unfit` has for each partition of the model the layout with the least memory.
struct LayoutSearchResult : TriedCandidates {
  Leaders leaders{};                ///< of `ranked`
  std::vector<bool> on_front{};     ///< per ranked layout: no other is as fast with as little memory
  std::vector<Answer> key_gains{};  ///< keys that make the fastest faster and still fit; last: all together
  std::size_t candidates = 0;       ///< that the rules allow
  std::size_t slower = 0;           ///< not simulated to the end, because their lower bound is too slow

  std::optional<Job> written{};  ///< the job of the scenario, if it is among those that were tried

  bool is_written(std::size_t ranked_index) const;
  /// Index of the fastest; if its memory is tight, of the fastest that is tied with it and certainly fits.
  std::size_t recommended_index() const;
  const Answer& recommended() const { return ranked[recommended_index()]; }
};

/// Layouts of the scenario's job with this global batch, by the rules of its framework:
/// * Tensor ranks divide heads, key-value heads, the MLP and the GPUs that NVLink joins. They use sequence
///   parallelism; Megatron's are also tried without.
/// * Context ranks stay within an NVLink domain and keep at least 8,192 tokens each. Expert ranks divide the
///   experts. Both are powers of two, unless the scenario has more than 1.
/// * A pipeline has at least one block per stage; Megatron has the same number on each. Schedules are 1f1b,
///   interleaved with chunks of equal size, and the schedule that the scenario names.
/// * Micro-batches divide the samples of a rank; the number of micro-batches of interleaved schedules is a
///   multiple of the pipeline ranks.
/// * Activations are kept or recomputed; with attention of kind math also the attention scores alone.
/// * Megatron uses the distributed optimizer with overlap. PyTorch uses FSDP over all ranks, or within an
///   NVLink domain, and DDP where each GPU has the whole model.
/// @param beyond_nodes only tensor groups that span several NVLink domains
std::vector<Job> candidate_layouts(const Scenario& written, int global_batch, bool beyond_nodes);

/// The layout with torchtitan's selective activation checkpointing, which recomputes everything but attention
/// and every second matrix product. It replaces full recomputation, or allows micro-batches of twice the
/// size. None if PyTorch does not support it, or if the micro-batches cannot be doubled.
std::optional<Job> with_selective_checkpoints(const Model& model, const Job& job);

/// Keys that the search leaves as the scenario has them, at values that may be faster. They change the
/// program of the job: formats of parameters, torch.compile, the optimizer's kernels, exchanges that overlap
/// with matrix products. @param best the fastest layout
std::vector<Settings> unsearched_keys(const Model& model, const Gpu& gpu, const Job& best);

/// Whether the model has layers for tensor parallelism or blocks for pipeline stages.
bool can_be_distributed(const Model& model);

/// Searches layouts for a step of `global_batch` samples. Candidates are simulated in the order of a lower
/// bound, which is the kernels of a stage and the latency of the pipeline up to it, or the CPU's launches,
/// until no other can be among those to find. The job as it is written is tried first, if it has this global
/// batch, so that no result is slower. Tensor groups that span several NVLink domains are searched only if
/// nothing else can run. Layouts without sequence parallelism are tried if they are within 2 % of the best
/// with it, selective checkpoints with the fastest ones.
/// @throws SimulationError if a simulation could not finish, ConfigError if no layout exists
LayoutSearchResult search_layouts(const Scenario& written, int global_batch, const SearchEffort& effort,
                                  const SearchOptions& options = {});

}  // namespace gradway
