// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/turns.hpp"

#include "sim/cost/framework_cost.hpp"

namespace gradway {

Turns::Turns(const Program& program, ProgramId id)
    : program_{&program}, id_{id}, streams_(program.streams.size()) {
  std::map<std::optional<Footprint>, std::size_t> known;
  for (const auto& task : program.tasks) {
    const auto* kernel = std::get_if<Kernel>(&task.work);
    const auto of = kernel ? kernel->footprint : std::nullopt;
    footprints_.push_back(known.try_emplace(of, known.size()).first->second);
  }
  kinds_of_footprints_ = known.size();
}

void Turns::take(std::size_t index, int step) {
  const auto& task = program_->tasks[index];
  turn_.task = &task;
  turn_.number = static_cast<std::size_t>(step) * program_->tasks.size() + index;
  turn_.origin = {.task = static_cast<std::int32_t>(index),
                  .step = step,
                  .program = static_cast<std::uint16_t>(id_.index()),
                  .activity = activity_of(task.work),
                  .phase = task.phase};
  launch();
  const auto lane = program_->lane(task);
  auto& stream = streams_[task.stream.index()];
  if (task.begins_turn) next_server(task.stream);
  turn_.before = lane == Lane::unordered ? std::nullopt : std::exchange(stream, turn_.number);
  turn_.copied_before.clear();
  if (const auto* call = std::get_if<Call>(&task.work)) {
    turn_.of_slot = calls_[call->group]++;
  } else if (lane == Lane::compute) {
    turn_.copied_before = std::exchange(wanted_, {});
    in_queue_.emplace_back(turn_.number, task.launches);
    queued_ += task.launches;
  }
  if (const auto* put = std::get_if<Put>(&task.work)) turn_.of_slot = puts_[put->channel]++;
  if (const auto* take = std::get_if<Take>(&task.work)) turn_.of_slot = takes_[take->channel]++;
  if (program_->is_background_copy(task)) prefetches_.push_back(turn_.number);
  if (task.host_waits) waits_.push_back(turn_.number);
}

/// Whose last task is what the next one waits for.
void Turns::next_server(StreamId stream) {
  auto& busy = servers_[stream];
  auto& last = streams_[stream.index()];
  if (last) busy.push_back(*last);
  last.reset();
  if (busy.size() < static_cast<std::size_t>(program_->streams[stream.index()].servers)) return;
  last = busy.front();
  busy.pop_front();
}

/// The CPU's part of a task. It costs no op where issuing is free and nothing is waited for.
void Turns::launch() {
  const auto& task = *turn_.task;
  turn_.is_launched = task.launch != Seconds{} || !waits_.empty();
  turn_.before_launch.clear();
  if (!turn_.is_launched) return;
  std::swap(turn_.before_launch, waits_);
  for (; queued_ + task.launches > launch_queue_depth && !in_queue_.empty(); in_queue_.pop_front()) {
    queued_ -= in_queue_.front().second;
    turn_.before_launch.push_back(in_queue_.front().first);
  }
}

}  // namespace gradway
