// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/task_list.hpp"

namespace gradway {

std::vector<Stream> streams_of_a_rank() {
  return {{"compute", Lane::compute}, {"communicator", Lane::ordered}, {"side", Lane::unordered}};
}

Task copy_task(std::string name, Phase phase, Copy copy, StreamId stream, Seconds launch) {
  Task task;
  task.name = std::move(name);
  task.work = copy;
  task.phase = phase;
  task.stream = stream;
  task.launch = launch;
  return task;
}

StreamId TaskList::add_stream(std::string name) {
  program_.streams.push_back({std::move(name), Lane::ordered});
  return StreamId{program_.streams.size() - 1};
}

TaskId TaskList::add(Task task) {
  program_.tasks.push_back(std::move(task));
  return last();
}

TaskId TaskList::kernel(std::string name, Phase phase, Seconds work, int kernels) {
  Task task;
  task.name = std::move(name);
  task.phase = phase;
  Kernel kernel{.work = work, .pause = pause_.value_or(Seconds{}) * kernels};
  if (phase == Phase::communication) kernel.footprint = Footprint{KernelClass::memory, Precision::fp32, 0, 0};
  task.work = kernel;
  task.stream = compute_stream;
  task.launch = gpu_.launch_cost * kernels;
  task.launches = kernels;
  return add(std::move(task));
}

TaskId TaskList::kernel_after(TaskId before, std::string name, Phase phase, Seconds work, int kernels) {
  const auto id = kernel(std::move(name), phase, work, kernels);
  (*this)[id].stream = side_stream;
  (*this)[id].after.push_back(before);
  return id;
}

TaskId TaskList::memory_kernels(std::string name, Bytes traffic, int kernels, Seconds launch) {
  const auto id = kernel(std::move(name), Phase::communication, memory(traffic, kernels), kernels);
  (*this)[id].launch = launch;
  return id;
}

TaskId TaskList::kernel_on(StreamId stream, std::string name, Bytes traffic, int kernels, Seconds launch) {
  const auto id = memory_kernels(std::move(name), traffic, kernels, launch);
  (*this)[id].stream = routed(stream);
  return id;
}

TaskId TaskList::wait(std::string name, Phase phase, Seconds launch) {
  Task task;
  task.name = std::move(name);
  task.work = Wait{};
  task.phase = phase;
  task.stream = compute_stream;
  task.launch = launch;
  task.launches = 0;
  return add(std::move(task));
}

TaskId TaskList::collective(CollectiveKind kind, std::string name, Bytes size, TaskId after) {
  return call({kind, size, Slot{0}}, communicator_stream, std::move(name), cpu(ddp_cpu.all_reduce), after);
}

TaskId TaskList::call(const Call& call, StreamId stream, std::string name, Seconds launch, TaskId after) {
  Task task;
  task.name = std::move(name);
  task.work = Call{call.kind, call.bytes, Slot{call.group.index + route_.first_slot}};
  task.phase = Phase::communication;
  task.stream = routed(stream);
  task.launch = launch;
  task.after = {after};
  return add(std::move(task));
}

Seconds TaskList::memory(Bytes traffic, int kernels, MemoryPattern pattern) const {
  if (!pause_) return memory_time(traffic, gpu_, pattern, kernels);
  auto gpu = gpu_;
  gpu.kernel_latency = {};
  return smallest_kernel * kernels + memory_time(traffic, gpu, pattern, kernels);
}

Seconds TaskList::tiny(int kernels, Seconds kernel_time) const {
  return pause_ ? kernel_time * kernels : memory_time(0_B, gpu_, MemoryPattern::stream, kernels);
}

}  // namespace gradway
