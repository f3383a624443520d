// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/scenario/layout.hpp"

namespace gradway {

/// A pass of one micro-batch through one of a rank's chunks.
struct ChunkPass {
  Pass pass = Pass::forward;
  int micro_batch = 0;
  int chunk = 0;
  bool overlaps_next = false;  ///< overlaps the next turn: both wait for the inputs of both, and both outputs
                               ///< are sent after the two
  auto operator<=>(const ChunkPass&) const = default;
};

/// A pipeline: its schedule, number of ranks and chunks per rank.
struct Pipeline {
  Schedule schedule = Schedule::one_f_one_b;
  int ranks = 1;
  int chunks = 1;
  std::vector<int> blocks{};  ///< by stage: number of blocks; empty: as even as possible

  int stages() const { return ranks * chunks; }
  /// Whether the second chunks are assigned from the last rank to the first.
  bool is_v_shaped() const { return schedule == Schedule::zb_v || schedule == Schedule::dual_pipe_v; }
  int stage_of(int rank, int chunk) const;
  int rank_of(int stage) const;
  int chunk_of(int stage) const { return stage / ranks; }
  /// The stage whose output the pass needs on `stage`; none if it needs no other's.
  std::optional<int> source_of(Pass pass, int stage) const;
  /// The stage that needs the output of the pass on `stage`; none if no other does.
  std::optional<int> target_of(Pass pass, int stage) const;
  /// Whether parameter gradients are computed in separate passes.
  bool splits_backward() const { return is_v_shaped() || schedule == Schedule::zb_h1; }
};

/// A stage layout for another number of stages, such as that of a search's candidate, is ignored.
Pipeline pipeline_of(const Layout& layout);

/// The passes of a rank in their order. @source torch/distributed/pipelining/schedules.py (PyTorch 2.9) and
/// megatron/core/pipeline_parallel/schedules.py. Their rules:
/// * gpipe: all forward, then all backward
/// * 1f1b: p - 1 - r forward passes ahead, then one of each in turn
/// * interleaved: micro-batches in groups of p through one chunk after the other; 2 (p - 1 - r) + (v - 1) p
///   forward passes ahead
/// * looped_bfs: all micro-batches through a chunk before the next; backward in reverse order
/// * zb_h1: 1f1b, where rank r delays parameter gradients by r micro-batches
/// * zb_v, dual_pipe_v: two chunks in the shape of a V
/// @pre interleaved: micro-batches are a multiple of the ranks; dual_pipe_v: at least twice the ranks
std::vector<ChunkPass> passes_of_rank(const Pipeline& pipeline, int rank, int micro_batches);

/// By pass of a rank, the passes whose inputs it begins to receive just before it, as indices of
/// `passes_of_rank`.
using Receives = std::vector<std::vector<std::size_t>>;

/// The order in which PyTorch receives with several chunks per rank, by rank. PyTorch plans all messages
/// before training. It goes through the ranks, one pass of each in turn, and lets the target of a pass
/// receive after what that has done so far. @source torch/distributed/pipelining/schedules.py (PyTorch 2.11),
/// _add_send_recv
std::vector<Receives> planned_receives(const Pipeline& pipeline, int micro_batches);

}  // namespace gradway
