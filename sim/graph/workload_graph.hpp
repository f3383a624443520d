// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/graph/origin.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Where a task queues on its rank. Work on `compute` and on `communicator` runs in the order of issue; a
/// task on `own` only waits for what it names.
enum class Stream : std::uint8_t { compute, communicator, own };

enum class TaskKind : std::uint8_t {
  kernel,      ///< `work` seconds of the GPU
  copy_in,     ///< `bytes` from host memory to the GPU, on the GPU's copy engine
  collective,  ///< `collective` of `bytes` a rank, over all ranks
  host,        ///< nothing on the GPU: only the CPU's `launch` time and waiting
};

/// What a kernel takes of the GPU's multiprocessors.
struct Footprint {
  KernelClass kind = KernelClass::matrix;
  Precision precision = Precision::fp32;
  std::int64_t blocks = 0;  ///< thread blocks; 0: not known
  int blocks_per_sm = 0;    ///< that fit on a multiprocessor at once

  auto operator<=>(const Footprint&) const = default;
};

/// One thing that the framework issues, on every rank alike.
struct Task {
  static constexpr std::int32_t none = -1;

  std::string name;
  TaskKind kind = TaskKind::kernel;
  Activity activity = Activity::kernel;
  Phase phase = Phase::forward;
  Stream stream = Stream::compute;
  Seconds work{};   ///< kernel
  Seconds pause{};  ///< kernel: the GPU does nothing before it, however early it was issued
  std::optional<Footprint>
      footprint;  ///< kernel, if known; else that of any large kernel of the job's precision
  Bytes bytes{};  ///< copy_in, collective
  CollectiveKind collective = CollectiveKind::all_reduce;
  bool pinned = true;         ///< copy_in
  Seconds launch{};           ///< CPU time to issue it; the CPU issues in the order of the tasks
  int launches = 1;           ///< places it takes in the launch queue of its stream
  bool host_waits = false;    ///< the CPU issues nothing more until it has ended
  std::vector<TaskId> after;  ///< what it waits for besides its stream
  std::int32_t layer = none;
  std::int32_t bucket = none;  ///< that it fills, reduces or empties
};

/// Gradients that are reduced together.
struct Bucket {
  struct Gradient {
    std::int32_t layer;
    std::int32_t parameter;
    Bytes size;
  };
  std::vector<Gradient> gradients;  ///< in the order in which they get ready
  Bytes size{};
  std::int32_t filled_by = Task::none;  ///< index of the task that puts its last gradient in place
};

/// What one step issues. All ranks run the same program, so it is written once: a collective task joins all
/// ranks, every other task stands for one on each rank.
struct WorkloadGraph {
  int ranks = 1;
  int steps = 1;                ///< at least; see `starts_steady`
  int after_reported = 0;       ///< steps behind the one that is reported: their prefetches fall into it
  bool starts_steady = false;   ///< the first step takes as long as all others: the CPU costs nothing
  std::vector<Task> tasks;      ///< of one step, in the order in which the CPU issues them
  std::vector<Bucket> buckets;  ///< in the order of their reduction; empty without DDP
};

}  // namespace gradway
