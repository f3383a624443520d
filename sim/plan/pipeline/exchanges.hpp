// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/plan/task_list.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// Groups of a rank that exchange inside a pass, in the order of their slots.
std::vector<RankGroup> groups_inside(const Layout& layout);

/// A rank that holds a part of the model: of its layers, or of each of them.
struct RankPart {
  int rank = 0;                  ///< of the pipeline
  const Model* whole = nullptr;  ///< see `with_tied_copies`
  ModelShard part;
  std::vector<Bytes> messages{};  ///< by stage: activations of a micro-batch that it hands on
  Bytes tied{};                   ///< gradients of parameters that the first and the last rank share
  std::array<Slot, rank_group_words.size()> slots{};  ///< by `RankGroup`, of those that the layout has
  Slot scales{};                                      ///< of the stage's ranks, which share scales of fp8
  Slot first_slot{};  ///< of the groups of the pipeline: its hops, then that of tied parameters
};

/// What a rank of a pipeline sends to its neighbours and takes from them.
///
/// PyTorch's pipelining, and Megatron's with several chunks on a rank or split backward passes (its fork
/// zero-bubble-pipeline-parallelism), post a receive when the CPU comes to the pass that needs it, and send
/// when a pass is done; the GPU alone waits. Megatron's 1F1B exchanges between two passes and blocks the CPU
/// meanwhile: what the one made is sent, what the other needs is received, with one neighbour both at once.
/// DeepSpeed does so one by one; each of the ranks that share layers hands on its part of the activations and
/// of their gradients, and these gather what they received (pipe_partitioned, grad_partitioned).
/// @source torch/distributed/pipelining/schedules.py, megatron/core/pipeline_parallel/p2p_communication.py
/// (batch_p2p_sync) and, of the fork at 425b42e5, zb_schedules.py; deepspeed/runtime/pipe/engine.py
class Exchanges {
 public:
  /// @param stage, tasks must outlive this
  Exchanges(const Scenario& scenario, const RankPart& stage, TaskList& tasks);

  /// @return what the first kernel of the pass waits for
  std::optional<TaskId> before(const std::vector<ChunkPass>& turns, std::size_t turn);
  /// @param computed all that the pass made is there when they have ended
  void after(const std::vector<ChunkPass>& turns, std::size_t turn, std::vector<TaskId> computed);
  /// First and last rank add up the gradients of what both hold.
  void reduce_tied();

 private:
  struct Neighbour {
    StageHop hop;
    Slot slot{};
    StreamId stream{0};
  };

  const Neighbour* find(int from, int to, bool is_backward) const;
  const Neighbour* source_of(const ChunkPass& turn) const;
  const Neighbour* target_of(const ChunkPass& turn) const;
  TaskId transfer(const Neighbour& with, Bytes size, const char* what, std::vector<TaskId> after);
  Bytes size_for(const ChunkPass& turn, bool is_target) const;
  TaskId gather(Bytes size, std::vector<TaskId> after);
  TaskId wait_for(std::vector<TaskId> transfers);
  void exchange(const ChunkPass* done, const ChunkPass* next, const std::vector<TaskId>& computed);

  const RankPart& stage_;
  TaskList& tasks_;
  Pipeline pipeline_;
  Framework framework_;
  bool is_blocking_;
  int shares_;  ///< of a message, one for each rank that shares layers
  StreamId gathers_{0};
  std::vector<Neighbour> neighbours_;
  Slot tied_slot_{};
};

}  // namespace gradway
