// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sim/plan/task_list.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

struct ModelTasks;

/// Groups of a rank that communicate within a pass, in order of slot.
std::vector<RankGroup> groups_inside(const Layout& layout);

/// The model part of a rank: some of the layers, or a shard of each layer.
struct RankPart {
  int rank = 0;                    ///< pipeline rank
  const Model* whole = nullptr;    ///< see `with_tied_copies`
  const Blocks* blocks = nullptr;  ///< of the whole model
  ModelTasks* tasks = nullptr;  ///< of the whole model, for all ranks; empty until the first one makes them
  ModelShard part;
  std::vector<Bytes> messages{};  ///< by stage: activations of a micro-batch that it sends on
  Bytes tied{};                   ///< gradients of parameters shared by the first and the last rank
  std::array<Slot, rank_group_words.size()> slots{};  ///< by `RankGroup`, for groups of the layout
  Receives receives{};  ///< as PyTorch plans them; empty if each pass receives its own input
  Slot scales{};        ///< group of all ranks of a stage, which share fp8 scales
  Slot first_slot{};    ///< first group of the pipeline: its hops, then tied parameters
};

/// Messages between a pipeline rank and its neighbours.
///
/// PyTorch's pipelining, and Megatron's with several chunks per rank or split backward passes (its fork
/// zero-bubble-pipeline-parallelism), post a receive when the CPU reaches the pass that needs it, and send
/// when a pass has ended; only the GPU waits. With several chunks per rank, PyTorch plans all messages of a
/// rank in one order (`planned_receives`), on one stream: a message waits for those before it and for the
/// pass before it, and while it waits for the other rank, its kernel occupies multiprocessors beside the
/// passes. Megatron's 1F1B exchanges messages between two passes and blocks the CPU: the output of the last
/// pass is sent and the input of the next one received, both at once if they go to the same neighbour.
/// DeepSpeed sends and receives one by one; each of the ranks that share layers sends its part of the
/// activations and of their gradients, and the receiving ranks gather the parts (pipe_partitioned,
/// grad_partitioned).
/// @source torch/distributed/pipelining/schedules.py, megatron/core/pipeline_parallel/p2p_communication.py
/// (batch_p2p_sync) and, of the fork at 425b42e5, zb_schedules.py; deepspeed/runtime/pipe/engine.py
class Exchanges {
 public:
  /// @param stage, tasks must outlive this
  Exchanges(const Layout& layout, Framework framework, const RankPart& stage, TaskList& tasks);

  /// @return tasks that the first kernel of the pass waits for
  std::optional<TaskId> before(const std::vector<ChunkPass>& turns, std::size_t turn);
  /// @param computed tasks after which the results of the pass are complete
  void after(const std::vector<ChunkPass>& turns, std::size_t turn, std::vector<TaskId> computed);
  /// All-reduce of tied gradients between the first and the last rank.
  void reduce_tied();

 private:
  struct Neighbour {
    StageHop hop;
    Slot slot{};
    StreamId stream{0};
  };

  const Neighbour* find(int sender, int receiver, bool is_backward) const;
  const Neighbour* source_of(const ChunkPass& turn) const;
  const Neighbour* target_of(const ChunkPass& turn) const;
  TaskId transfer(const Neighbour& with, Bytes size, const char* operation, std::vector<TaskId> after);
  Bytes size_for(const ChunkPass& turn, bool is_target) const;
  TaskId gather(Bytes size, std::vector<TaskId> after);
  TaskId wait_for(std::vector<TaskId> transfers);
  void exchange(const ChunkPass* done, const ChunkPass* next, const std::vector<TaskId>& computed);

  const RankPart& stage_;
  TaskList& tasks_;
  Pipeline pipeline_;
  Framework framework_;
  bool is_blocking_;
  int shares_;  ///< parts of a message, one for each rank that shares layers
  StreamId gathers_{0};
  std::vector<std::optional<TaskId>> received_;  ///< planned receives, by pass that needs the message
  std::vector<TaskId> computed_{};               ///< tasks after which the last pass is complete
  std::vector<Neighbour> neighbours_;
  Slot tied_slot_{};
};

}  // namespace gradway
