// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "readers/kineto/read/trace.hpp"
#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/optimizer.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Classes of GPU work by which a diagnosis sums time.
enum class WorkClass : std::uint8_t {
  matrix,         ///< matrix products and convolutions
  attention,      ///< fused attention
  normalization,  ///< layer, batch and RMS norms
  elementwise,    ///< all other memory-bound kernels
  optimizer,      ///< what the optimizer's phase launches
  collective,
  copy_in,   ///< host to device
  copy_out,  ///< device to host
  count
};
inline constexpr auto work_classes = static_cast<std::size_t>(WorkClass::count);

constexpr bool is_copy(WorkClass work) {
  return work == WorkClass::copy_in || work == WorkClass::copy_out;
}

/// A kernel, copy or memset of a traced step.
struct RunActivity {
  std::int64_t start = 0;  ///< nanoseconds on the clock of the trace, later on the first rank's
  std::int64_t duration = 0;
  std::int64_t bytes = 0;       ///< of a copy or memset
  double flops = 0;             ///< by the shapes; 0: unknown
  double interruption = 0;      ///< nanoseconds that it began later than usual although nothing was missing
  double traffic = 0;           ///< bytes read and written, by the shapes; 0: unknown
  std::uint32_t kernel = 0;     ///< name, blocks and threads: `KernelNames`
  std::uint32_t operation = 0;  ///< of the framework: `KernelNames`; 0: none
  std::int32_t stream = 0;      ///< index
  std::int32_t step = 0;
  std::int32_t collective = -1;  ///< index into `RankRun::collectives`
  std::int32_t blocks = 0;
  WorkClass work = WorkClass::elementwise;
  ProfiledPhase phase = ProfiledPhase::forward;
  Precision precision = Precision::fp32;
  bool reads_fp32 = false;     ///< memory-bound, on fp32 operands
  bool is_pageable = false;    ///< a copy from or to pageable memory
  bool computes_read = false;  ///< a reduction whose result only the CPU reads, directly after it

  std::int64_t end() const { return start + duration; }
};

/// A collective in which the rank took part.
struct RunCollective {
  std::int32_t activity = 0;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string group;  ///< its name and its members, equal on all of them
  double bytes = 0;   ///< as NCCL counts: what an all-gather gives, what a reduce-scatter takes; 0: unknown
  std::int32_t ranks = 0;     ///< of the group
  std::int32_t channels = 0;  ///< thread blocks of its kernel
};

/// What the CPU does, in order. Times are in nanoseconds under the profiler.
struct CpuItem {
  enum class Kind : std::uint8_t {
    work,       ///< Python, PyTorch and CUDA between two launches
    pause,      ///< a long time without any operation of PyTorch or CUDA
    launch,     ///< puts an activity on a stream
    wait,       ///< waits for all work of a stream
    operation,  ///< a single operation of PyTorch works for long before it launches anything
    allocate,   ///< cudaMalloc, cudaFree and similar calls
    compile,    ///< torch.compile, or code that is loaded to the GPU
  };
  Kind kind = Kind::work;
  bool is_before_batch = false;       ///< of pauses: the step's first copy to the GPU follows in this step
  bool takes_batch = false;           ///< of pauses: inside of the data loader's iterator
  bool awaits_workers = false;        ///< of these: of one whose worker processes make the batches
  bool awaits_gpu = false;            ///< of allocations: the call begins when the GPU has no work left
  bool reads_value = false;           ///< of waits: for a copy of some bytes to the host
  bool is_of_model = false;           ///< of waits: an operation needs the value, such as for its sizes
  bool is_of_launch = false;          ///< of waits: the launch itself returns only when its kernel has ended
  std::int32_t activity = -1;         ///< of launches; of waits that read a value: the copy
  std::int32_t stream = -1;           ///< of waits; -1: all streams
  std::int32_t first_dependence = 0;  ///< of launches, into `RankRun::dependences`
  std::int32_t dependences = 0;
  std::int64_t start = 0;
  double time = 0;
};

/// A step of a rank.
struct RunStep {
  std::int64_t begin = 0;  ///< of the CPU
  std::int64_t end = 0;
  std::vector<CpuItem> items;
};

/// Texts that all ranks share.
struct KernelNames {
  TextPool kernels;     ///< "name|blocks|threads"
  TextPool operations;  ///< "aten::mm"; id 0 is empty
  KernelNames() { operations.id(""); }
};

/// What a diagnosis needs of a trace: about 150 bytes per launch.
struct RankRun {
  std::string file;
  int rank = 0;
  int ranks = 1;              ///< of the job
  bool is_rank_known = true;  ///< False if the file does not say it: ranks as traces are given.
  Profiler profiler = Profiler::pytorch;
  bool has_operations = true;             ///< PyTorch's operations are known, not only calls of CUDA.
  std::string gpu;                        ///< the driver's name
  int capability = 0;                     ///< compute capability: 90 for 9.0
  Precision precision = Precision::fp32;  ///< of most arithmetic
  std::optional<Optimizer> optimizer;
  int batch = 0;               ///< samples of a step, by the shapes; 0: unknown
  int parameters = 0;          ///< tensors with a gradient
  double gap = 0;              ///< usual nanoseconds between two kernels of a stream while the CPU is ahead
  double launches_queued = 0;  ///< share of launches that wait on the GPU for earlier ones
  int main_stream = 0;
  int streams = 0;
  std::vector<RunActivity> activities;  ///< in the order of their launches
  std::vector<RunCollective> collectives;
  std::vector<std::int32_t> dependences;  ///< activities of other streams that a launch waits for
  std::vector<RunStep> steps;             ///< complete ones, consecutive
  std::vector<std::string> unknown;       ///< what the file does not say, and what that leaves open
};

/// Reduces a trace to what a diagnosis needs.
/// @param shown the file's name in messages
/// @throws ConfigError if the trace has no complete training step
RankRun rank_run(Trace trace, const std::string& shown, KernelNames& names);

}  // namespace gradway
