// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/graph/workload.hpp"
#include "sim/platform/gpu.hpp"

namespace gradway {

/// The streams of a rank that trains.
inline constexpr StreamId compute_stream{0};
inline constexpr StreamId communicator_stream{1};
inline constexpr StreamId side_stream{2};  ///< kernels and copies that only wait for what they name
std::vector<Stream> streams_of_a_rank();

/// Appends tasks to a program in the order in which the CPU issues them; knows what issuing costs on this
/// GPU.
class TaskList {
 public:
  /// @param pause that the GPU makes before each kernel, where it is known (beside a profile): a kernel then
  /// lasts as
  ///              long as the shortest one and what it moves take together. Empty: the GPU's kernel latency
  ///              stands for the pause and the shortest kernel.
  /// @param launch what the CPU takes for one kernel of eager PyTorch
  /// @param slower_host CPU times of the GPU and of `cpu` are scaled by it
  TaskList(Program& program, const Gpu& gpu, std::optional<Seconds> pause, Seconds launch, double slower_host)
      : program_{program}, gpu_{gpu}, pause_{pause}, launch_{launch}, slower_host_{slower_host} {
    gpu_.launch_cost = gpu.launch_cost * slower_host;
  }

  /// A stream beside those that every rank has, in the order of issue.
  StreamId add_stream(std::string name);

  /// Where the calls of a strategy go: its first group, and the stream of its communicator.
  struct Route {
    std::uint32_t first_slot = 0;
    StreamId communicator = communicator_stream;
  };
  /// For calls and kernels from now on. @return the one before
  Route take_route(Route route) { return std::exchange(route_, route); }

  /// Adds a task as it stands.
  TaskId add(Task task);
  /// Adds `kernels` launches as one task; the CPU needs the GPU's launch cost for each.
  TaskId kernel(std::string name, Phase phase, Seconds work, int kernels);
  /// The same on a stream of its own, after another task.
  TaskId kernel_after(TaskId before, std::string name, Phase phase, Seconds work, int kernels);
  /// The same for memory-bound kernels of a strategy. @param launch of all of them together
  TaskId memory_kernels(std::string name, Bytes traffic, int kernels, Seconds launch);
  /// The same on a stream of its own, in the order of issue there.
  TaskId kernel_on(StreamId stream, std::string name, Bytes traffic, int kernels, Seconds launch);
  /// Something that the CPU does, and a place in the compute stream that others can wait for, or that waits.
  TaskId wait(std::string name, Phase phase, Seconds launch);
  /// A collective on the stream of its communicator.
  TaskId call(const Call& call, StreamId stream, std::string name, Seconds launch, TaskId after);
  /// A collective on the communicator's stream, on the first group of the actor.
  /// @param after what must have ended on every rank
  TaskId collective(CollectiveKind kind, std::string name, Bytes size, TaskId after);

  /// GPU time of `kernels` memory-bound kernels that read and write `traffic` together.
  Seconds memory(Bytes traffic, int kernels = 1, MemoryPattern pattern = MemoryPattern::stream) const;
  /// GPU time of kernels that move next to nothing. @param each where pauses are known; else the GPU's
  /// latency counts
  Seconds tiny(int kernels, Seconds each) const;
  /// What the CPU of a rank needs for something that took `cost` on the host of `measured_host_kernel`;
  /// nothing on an ideal GPU.
  Seconds cpu(Seconds cost) const { return gpu_.ideal ? Seconds{} : cost * slower_host_; }

  /// What a hook in Python needs for a group of so many parameters.
  Seconds hook(HookCost cost, int parameters) const {
    return gpu_.ideal ? Seconds{} : launch_ * (cost.once + cost.each * parameters);
  }

  Task& operator[](TaskId id) { return program_.tasks[id.index()]; }
  TaskId last() const { return TaskId{program_.tasks.size() - 1}; }
  std::size_t size() const { return program_.tasks.size(); }
  const Gpu& gpu() const { return gpu_; }

 private:
  StreamId routed(StreamId stream) const {
    return stream == communicator_stream ? route_.communicator : stream;
  }

  Program& program_;
  Gpu gpu_;
  std::optional<Seconds> pause_;
  Seconds launch_;
  double slower_host_;
  Route route_{};
};

}  // namespace gradway
