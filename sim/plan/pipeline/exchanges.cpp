// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/pipeline/exchanges.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/cost/framework_cost.hpp"

namespace gradway {

Exchanges::Exchanges(const Layout& layout, Framework framework, const RankPart& stage, TaskList& tasks)
    : stage_{stage},
      tasks_{tasks},
      pipeline_{pipeline_of(layout)},
      framework_{framework},
      is_blocking_{
          framework_ == Framework::deepspeed ||
          (framework_ == Framework::megatron && pipeline_.chunks == 1 && !pipeline_.splits_backward())},
      shares_{framework_ == Framework::deepspeed && !layout.sequence ? layout.tensor : 1},
      received_(stage.receives.size()) {
  if (shares_ > 1) gathers_ = tasks.add_stream("parts of messages");
  std::optional<StreamId> common;
  if (!stage.receives.empty()) common = tasks.add_stream("messages");
  auto slot = stage.first_slot;
  for (const auto& hop : hops_of(pipeline_)) {
    if (hop.from != stage.rank && hop.to != stage.rank) continue;
    const auto* content = hop.is_backward ? "gradients" : "activations";
    neighbours_.push_back(
        {hop, slot,
         common ? *common : tasks.add_stream(fmt::format("{} {} to {}", content, hop.from, hop.to))});
    ++slot.index;
  }
  tied_slot_ = slot;
}

/// Null if both stages are on one rank.
const Exchanges::Neighbour* Exchanges::find(int sender, int receiver, bool is_backward) const {
  if (sender == receiver) return nullptr;
  const auto neighbour =
      std::ranges::find(neighbours_, StageHop{sender, receiver, is_backward}, &Neighbour::hop);
  expects(neighbour != neighbours_.end(), "stages that follow each other are joined");
  return &*neighbour;
}

/// The rank whose output the pass needs.
const Exchanges::Neighbour* Exchanges::source_of(const ChunkPass& turn) const {
  const auto source = pipeline_.source_of(turn.pass, pipeline_.stage_of(stage_.rank, turn.chunk));
  return source ? find(pipeline_.rank_of(*source), stage_.rank, turn.pass != Pass::forward) : nullptr;
}

/// The rank that needs the output of the pass.
const Exchanges::Neighbour* Exchanges::target_of(const ChunkPass& turn) const {
  const auto target = pipeline_.target_of(turn.pass, pipeline_.stage_of(stage_.rank, turn.chunk));
  return target ? find(stage_.rank, pipeline_.rank_of(*target), turn.pass != Pass::forward) : nullptr;
}

/// Size of the message that a pass sends or receives.
Bytes Exchanges::size_for(const ChunkPass& turn, bool is_target) const {
  const auto stage = pipeline_.stage_of(stage_.rank, turn.chunk);
  const bool is_own = is_target == (turn.pass == Pass::forward);
  return stage_.messages[static_cast<std::size_t>(is_own ? stage : stage - 1)];
}

std::vector<RankGroup> groups_inside(const Layout& layout) {
  std::vector<RankGroup> groups;
  if (layout.tensor > 1) groups.push_back(RankGroup::tensor);
  if (layout.context > 1) groups.push_back(RankGroup::context);
  if (layout.expert > 1) groups.push_back(RankGroup::expert);
  if (layout.expert_tensor > 1) groups.push_back(RankGroup::expert_tensor);
  return groups;
}

TaskId Exchanges::transfer(const Neighbour& with, Bytes size, const char* operation,
                           std::vector<TaskId> after) {
  Task task;
  task.name = fmt::format("{} {}", operation, with.hop.is_backward ? "gradients" : "activations");
  task.work = Call{CollectiveKind::send, Bytes{size.value() / shares_}, with.slot, !stage_.receives.empty()};
  task.phase = Phase::communication;
  task.stream = with.stream;
  task.launch = tasks_.cpu(ddp_cpu.all_reduce);
  task.after = std::move(after);
  return tasks_.add(std::move(task));
}

TaskId Exchanges::gather(Bytes size, std::vector<TaskId> after) {
  Task task;
  task.name = "gather parts";
  task.work =
      Call{CollectiveKind::all_gather, size, stage_.slots[static_cast<std::size_t>(RankGroup::tensor)]};
  task.phase = Phase::communication;
  task.stream = gathers_;
  task.launch = tasks_.cpu(ddp_cpu.all_reduce);
  task.after = std::move(after);
  return tasks_.add(std::move(task));
}

TaskId Exchanges::wait_for(std::vector<TaskId> transfers) {
  const auto id = tasks_.wait("exchange is done", Phase::communication, {});
  tasks_[id].after = std::move(transfers);
  tasks_[id].host_waits = true;
  return id;
}

/// Exchanges messages between two passes.
void Exchanges::exchange(const ChunkPass* done, const ChunkPass* next, const std::vector<TaskId>& computed) {
  const auto* target = done ? target_of(*done) : nullptr;
  const auto* source = next ? source_of(*next) : nullptr;
  auto ready = computed;  // the CPU issues nothing before they have ended
  const auto send = [&] { return transfer(*target, size_for(*done, true), "send", ready); };
  const auto receive = [&] { return transfer(*source, size_for(*next, false), "receive", ready); };
  const auto alone = [&](TaskId call) { ready = {wait_for({call})}; };
  if (target && source && framework_ == Framework::megatron && target->hop.to == source->hop.from) {
    const auto sent = send();
    wait_for({sent, receive()});
    return;
  }
  // The order of messages must match between neighbours: DeepSpeed's TrainSchedule receives a gradient first
  // if the neighbour sends it first. With gpipe, or too few micro-batches, the neighbour still waits for the
  // last activations.
  const bool turns_back = target && source && done->pass == Pass::forward && next->pass != Pass::forward;
  const bool receives_first = turns_back && pipeline_.schedule != Schedule::gpipe &&
                              done->micro_batch - next->micro_batch >= pipeline_.ranks - 1 - stage_.rank;
  if (receives_first) alone(receive());
  if (target) alone(send());
  if (source && !receives_first) alone(receive());
  if (source && shares_ > 1) alone(gather(size_for(*next, false), ready));
}

std::optional<TaskId> Exchanges::before(const std::vector<ChunkPass>& turns, std::size_t turn) {
  if (is_blocking_) {
    if (turn == 0) exchange(nullptr, &turns.front(), {});
    return std::nullopt;
  }
  if (!stage_.receives.empty()) {
    // A message waits for the stream of the passes: at the start of a step, for the optimizer of the last.
    if (turn == 0) computed_ = {tasks_.wait("step begins", Phase::communication, {})};
    for (const auto later : stage_.receives[turn])
      received_[later] =
          transfer(*source_of(turns[later]), size_for(turns[later], false), "receive", computed_);
    return received_[turn];
  }
  const auto* source = source_of(turns[turn]);
  if (!source) return std::nullopt;
  return transfer(*source, size_for(turns[turn], false), "receive", {});
}

void Exchanges::after(const std::vector<ChunkPass>& turns, std::size_t turn, std::vector<TaskId> computed) {
  if (is_blocking_) {
    exchange(&turns[turn], turn + 1 < turns.size() ? &turns[turn + 1] : nullptr, computed);
  } else if (const auto* target = target_of(turns[turn])) {
    transfer(*target, size_for(turns[turn], true), "send", computed);
  }
  computed_ = std::move(computed);
}

void Exchanges::reduce_tied() {
  const auto last = pipeline_.rank_of(pipeline_.stages() - 1);
  if (stage_.tied == 0_B || (stage_.rank != 0 && stage_.rank != last)) return;
  const auto ready = tasks_.wait("gradients of tied parameters", Phase::communication, {});
  const auto id =
      tasks_.call({CollectiveKind::all_reduce, stage_.tied, tied_slot_}, tasks_.add_stream("tied parameters"),
                  "all-reduce of tied parameters", tasks_.cpu(ddp_cpu.all_reduce), ready);
  const auto done = tasks_.wait("tied parameters are reduced", Phase::communication, {});
  tasks_[done].after.push_back(id);
}

}  // namespace gradway
