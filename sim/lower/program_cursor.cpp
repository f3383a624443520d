// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/program_cursor.hpp"

#include "sim/cost/framework_cost.hpp"

namespace gradway {

ProgramCursor::ProgramCursor(const Program& program, ProgramId id)
    : program_{&program}, id_{id}, streams_(program.streams.size()) {
  std::map<std::optional<Footprint>, std::size_t> known;
  for (const auto& task : program.tasks) {
    const auto* kernel = std::get_if<Kernel>(&task.work);
    const auto footprint = kernel ? kernel->footprint : std::nullopt;
    footprints_.push_back(known.try_emplace(footprint, known.size()).first->second);
    facts_.push_back({activity_of(task.work), program.lane(task), program.is_background_copy(task)});
  }
  footprint_count_ = known.size();
}

void ProgramCursor::advance(std::size_t index, int step) {
  const auto& task = program_->tasks[index];
  const auto& [activity, lane, is_background_copy] = facts_[index];
  current_.task = &task;
  current_.number = static_cast<std::size_t>(step) * program_->tasks.size() + index;
  current_.origin = {.task = static_cast<std::int32_t>(index),
                     .step = step,
                     .program = static_cast<std::uint16_t>(id_.index()),
                     .activity = activity,
                     .phase = task.phase};
  launch();
  auto& stream = streams_[task.stream.index()];
  if (task.begins_turn) take_server(task.stream);
  current_.previous = lane == Lane::unordered ? std::nullopt : std::exchange(stream, current_.number);
  current_.prefetches.clear();
  if (const auto* call = std::get_if<Call>(&task.work)) {
    current_.count_at_slot = calls_[call->group]++;
  } else if (lane == Lane::compute) {
    current_.prefetches = std::exchange(due_prefetches_, {});
    launch_queue_.emplace_back(current_.number, task.launches);
    queued_launches_ += task.launches;
  }
  if (const auto* put = std::get_if<Put>(&task.work)) current_.count_at_slot = puts_[put->channel]++;
  if (const auto* take = std::get_if<Take>(&task.work)) current_.count_at_slot = takes_[take->channel]++;
  if (is_background_copy) prefetches_.push_back(current_.number);
  if (task.host_waits) host_waits_.push_back(current_.number);
}

/// The next task of the stream runs on an idle server, or waits for the last task of the server busy longest.
void ProgramCursor::take_server(StreamId stream) {
  auto& busy = busy_servers_[stream];
  auto& last = streams_[stream.index()];
  if (last) busy.push_back(*last);
  last.reset();
  if (busy.size() < static_cast<std::size_t>(program_->streams[stream.index()].servers)) return;
  last = busy.front();
  busy.pop_front();
}

/// The launch needs no op if it takes no time and waits for nothing.
void ProgramCursor::launch() {
  const auto& task = *current_.task;
  current_.is_launched = task.launch != Seconds{} || !host_waits_.empty();
  current_.launch_after.clear();
  if (!current_.is_launched) return;
  std::swap(current_.launch_after, host_waits_);
  for (; queued_launches_ + task.launches > launch_queue_depth && !launch_queue_.empty();
       launch_queue_.pop_front()) {
    queued_launches_ -= launch_queue_.front().second;
    current_.launch_after.push_back(launch_queue_.front().first);
  }
}

}  // namespace gradway
