// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/plan/task_list.hpp"
#include "sim/platform/platform.hpp"

/// Builders of workloads that no strategy produces.
namespace gradway::test {

inline Task kernel(std::string name, Seconds work, std::vector<TaskId> after = {}) {
  Task task;
  task.name = std::move(name);
  task.work = Kernel{.work = work};
  task.after = std::move(after);
  task.stream = compute_stream;
  return task;
}

/// A call on the communicator's stream of a rank with dependencies.
inline Task call(CollectiveKind kind, Bytes bytes, std::uint32_t slot, std::vector<TaskId> after = {}) {
  Task task;
  task.name = name_of(kind);
  task.work = Call{kind, bytes, Slot{slot}};
  task.phase = Phase::communication;
  task.after = std::move(after);
  task.stream = communicator_stream;
  return task;
}

/// Other work than kernels, copies and calls, in order of the compute stream.
inline Task other(std::string name, TaskWork work) {
  Task task;
  task.name = std::move(name);
  task.work = std::move(work);
  task.stream = compute_stream;
  return task;
}

inline Program program(std::string name, std::vector<Task> tasks) {
  return {.name = std::move(name), .streams = streams_of_a_rank(), .tasks = std::move(tasks)};
}

/// Adds a rank on the next GPU.
inline ActorId add_rank(Workload& workload, const Platform& platform, std::size_t program,
                        double slower = 1) {
  const ActorId id{workload.actors.size()};
  workload.actors.push_back(
      {.program = ProgramId{program}, .at = platform.gpus[id.index()], .slowdown = slower});
  workload.ranks = static_cast<int>(workload.actors.size());
  return id;
}

/// Adds a group in the next slot of each member.
inline GroupId add_group(Workload& workload, std::string name, const std::vector<std::size_t>& members) {
  const GroupId id{workload.groups.size()};
  auto& group = workload.groups.emplace_back(Group{std::move(name), {}});
  for (const auto member : members) {
    group.members.emplace_back(member);
    workload.actors[member].groups.push_back(id);
  }
  return id;
}

/// Adds a channel in the next slot of both ends.
inline void add_channel(Workload& workload, ActorId from, ActorId to, int depth) {
  const ChannelId id{workload.channels.size()};
  workload.channels.push_back({from, to, depth});
  workload.actors[from.index()].channels.push_back(id);
  workload.actors[to.index()].channels.push_back(id);
}

}  // namespace gradway::test
