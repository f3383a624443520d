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

/// The streams of a training rank.
inline constexpr StreamId compute_stream{0};
inline constexpr StreamId communicator_stream{1};
inline constexpr StreamId side_stream{2};  ///< kernels and copies that wait only for the tasks that they name
std::vector<Stream> streams_of_a_rank();

/// A copy between the host and a GPU.
Task copy_task(std::string name, Phase phase, Copy copy, StreamId stream, Seconds launch);

/// Appends tasks to a program in the order in which the CPU issues them, with the CPU time of issuing them.
class TaskList {
 public:
  /// @param pause of the GPU before each kernel, if a profile gives it: a kernel then lasts as long as the
  /// shortest kernel and its memory traffic together. If empty, the GPU's kernel latency covers both.
  /// @param launch CPU time of one kernel launch in eager PyTorch
  /// @param slower_host factor on CPU times of the GPU and of `cpu`
  TaskList(Program& program, const Gpu& gpu, std::optional<Seconds> pause, Seconds launch, double slower_host)
      : program_{program}, gpu_{gpu}, pause_{pause}, launch_{launch}, slower_host_{slower_host} {
    gpu_.launch_cost = gpu.launch_cost * slower_host;
  }

  /// Adds a stream to those of every rank, in the order of issue.
  StreamId add_stream(std::string name);

  /// Where a strategy's calls go: its first group and the stream of its communicator.
  struct Route {
    std::uint32_t first_slot = 0;
    StreamId communicator = communicator_stream;
  };
  /// Sets the route of later calls and kernels. @return the previous route
  Route take_route(Route route) { return std::exchange(route_, route); }

  /// Adds a task unchanged.
  TaskId add(Task task);
  /// Adds `kernels` launches as one task. Each takes the GPU's launch cost on the CPU.
  TaskId kernel(std::string name, Phase phase, Seconds work, int kernels);
  /// Adds kernels on a separate stream, after another task.
  TaskId kernel_after(TaskId before, std::string name, Phase phase, Seconds work, int kernels);
  /// Adds memory-bound kernels of a strategy. @param launch CPU time of all of them
  TaskId memory_kernels(std::string name, Bytes traffic, int kernels, Seconds launch);
  /// Adds kernels on a separate stream, in the order of issue there.
  TaskId kernel_on(StreamId stream, std::string name, Bytes traffic, int kernels, Seconds launch);
  /// CPU work, and a position in the compute stream that can wait or be waited for.
  TaskId wait(std::string name, Phase phase, Seconds launch);
  /// A collective on the stream of its communicator.
  TaskId call(const Call& call, StreamId stream, std::string name, Seconds launch, TaskId after);
  /// A collective on the communicator's stream and the first group of the actor.
  /// @param after task that must have ended on every rank
  TaskId collective(CollectiveKind kind, std::string name, Bytes size, TaskId after);

  /// GPU time of `kernels` memory-bound kernels that read and write `traffic` in total.
  Seconds memory(Bytes traffic, int kernels = 1, MemoryPattern pattern = MemoryPattern::stream) const;
  /// GPU time of kernels with negligible memory traffic. @param kernel_time time of a kernel if pauses are
  /// known; else the GPU's kernel latency is used
  Seconds tiny(int kernels, Seconds kernel_time) const;
  /// CPU time on this rank of work that took `cost` on the host of `measured_host_kernel`; zero on an ideal
  /// GPU.
  Seconds cpu(Seconds cost) const { return gpu_.ideal ? Seconds{} : cost * slower_host_; }

  /// CPU time of a Python hook for a group of parameters.
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
