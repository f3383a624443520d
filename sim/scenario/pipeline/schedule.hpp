// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/scenario/layout.hpp"

namespace gradway {

/// A pass of one micro-batch through one of a rank's chunks.
struct StageTurn {
  Pass pass = Pass::forward;
  int micro_batch = 0;
  int chunk = 0;
  bool is_woven =
      false;  ///< into the next turn: what both need is there before, what they make goes out behind
  auto operator<=>(const StageTurn&) const = default;
};

/// A pipeline: how many ranks, and chunks of the model on each.
struct Pipeline {
  Schedule schedule = Schedule::one_f_one_b;
  int ranks = 1;
  int chunks = 1;

  int stages() const { return ranks * chunks; }
  /// Whether the second chunks run through the ranks from the last to the first.
  bool is_v_shaped() const { return schedule == Schedule::zb_v || schedule == Schedule::dual_pipe_v; }
  int stage_of(int rank, int chunk) const;
  int rank_of(int stage) const;
  int chunk_of(int stage) const { return stage / ranks; }
  /// Whether gradients of parameters have passes of their own.
  bool splits_backward() const { return is_v_shaped() || schedule == Schedule::zb_h1; }
};

Pipeline pipeline_of(const Layout& layout);

/// The passes of a rank, in order. @source torch/distributed/pipelining/schedules.py (PyTorch 2.9) and
/// megatron/core/pipeline_parallel/schedules.py, of which each schedule here is a rule:
/// * gpipe: all forward, then all backward
/// * 1f1b: p - 1 - r forward passes ahead, then one of each in turn
/// * interleaved: micro-batches in groups of p through one chunk after the other; 2 (p - 1 - r) + (v - 1) p
///   forward passes ahead
/// * looped_bfs: all micro-batches through a chunk before the next; backward the other way round
/// * zb_h1: 1f1b whose rank r puts off the gradients of parameters by r micro-batches
/// * zb_v, dual_pipe_v: two chunks in the shape of a V
/// @pre micro-batches are a multiple of the ranks for interleaved, twice the ranks at least for dual_pipe_v
std::vector<StageTurn> turns_of_rank(const Pipeline& pipeline, int rank, int micro_batches);

}  // namespace gradway
