// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// What bounds a kernel, and so how it moves to another GPU and what a collective beside it costs.
enum class KernelClass {
  matrix,     ///< matrix products and convolutions: the arithmetic of the job's precision
  attention,  ///< fused attention: the same arithmetic, at its own efficiency
  memory,     ///< all others: element-wise, reductions, normalisations, copies in the GPU's memory, memsets
  copy_in,    ///< host to device, on the copy engine
  copy_out,   ///< device to host
};

/// What a kernel takes of the GPU's multiprocessors.
struct Footprint {
  KernelClass kind = KernelClass::matrix;
  Precision precision = Precision::fp32;
  std::int64_t blocks = 0;  ///< thread blocks; 0: not known
  int blocks_per_sm = 0;    ///< that fit on a multiprocessor at once
  std::int64_t tiles = 0;   ///< that the blocks take from a scheduler; 0: each block has one

  auto operator<=>(const Footprint&) const = default;
};

/// Which part of a step issued it.
enum class ProfiledPhase { forward, backward, optimizer };

/// One thing that the CPU put on a stream during a step, measured.
struct Launch {
  ProfiledPhase phase = ProfiledPhase::forward;
  KernelClass kind = KernelClass::memory;
  Seconds cpu{};  ///< CPU time from the end of the launch before it to the end of its own, under the
                  ///< profiler, without waiting
  Seconds gpu{};  ///< on the GPU
  bool host_waits = false;  ///< the CPU then waits for the GPU (a synchronisation, .item())
  std::int64_t blocks = 0;  ///< thread blocks; 0: not known (copies, memsets)
  int blocks_per_sm = 0;    ///< that fit on a multiprocessor at once, by registers, shared memory and threads
  std::int64_t tiles = 0;   ///< of a persistent kernel: what its blocks take from a scheduler; 0: it has none
  Precision precision = Precision::fp32;  ///< of its operands
  Flops flops{};                          ///< matrix and attention, from the shapes; 0: not known
  Bytes bytes{};      ///< operands read and results written, from the shapes; copies: moved; 0: not known
  bool grows = true;  ///< its work grows with the batch: false for what only touches parameters
  int stream = 0;     ///< 0: where the compute kernels run; others in the order in which they first appear
  std::string name;   ///< for people: the framework's operation, shortened
};

/// A gradient and when it gets ready.
struct ProfiledGradient {
  std::vector<std::int64_t> shape;
  int element_bytes = 4;
  std::size_t after = 0;  ///< number of launches of the step that were issued before it was ready
};

/// A tensor of the model's state that is not trained: a running mean, a count of batches.
struct ProfiledBuffer {
  std::vector<std::int64_t> shape;
  int element_bytes = 4;  ///< 8 for counts, which PyTorch keeps as int64
};

/// What tells the memory of a profiled step.
enum class MemorySource {
  none,      ///< nothing: activations are missing
  shapes,    ///< what autograd keeps, by the shapes of the operations
  compiled,  ///< the same, but torch.compile's kernels do not say which operands they write
  recorded,  ///< the allocations that the profiler saw (profile_memory)
};

/// What a profiled step holds at a moment beside parameters, optimizer, input and the gradients of the step
/// before, in the profile's batch.
struct ProfiledMoment {
  ProfiledPhase phase = ProfiledPhase::forward;  ///< or backward
  Bytes grows{};      ///< with the batch: activations, their gradients, temporaries
  Bytes fixed{};      ///< whatever the batch: 16-bit copies of weights
  Bytes gradients{};  ///< of parameters, that are ready
  Bytes output{};  ///< more, with the batch, where the loop keeps the model's output until the step is over
};

/// A profiled step on one GPU without DDP, as it is without the profiler.
struct Unprofiled {
  double cpu_scale = 1;       ///< CPU times under the profiler to those without it
  Seconds pause{};            ///< between kernels
  Seconds step{};             ///< as profiled: the profile's GPU, batch and optimizer
  bool launch_bound = false;  ///< ... the CPU's launches lengthen it by more than 2 %
};

/// A model measured on one GPU without DDP: what its step issues, launch by launch.
struct Profile {
  std::string gpu;  ///< name of the GPU's file, for example "h200"
  Precision precision = Precision::fp32;
  int batch = 0;
  Optimizer optimizer = Optimizer::sgd;
  int steps = 0;                     ///< of the trace, averaged
  Seconds traced_step{};             ///< under the profiler
  std::optional<Seconds> step_time;  ///< the same step without the profiler
  /// CPU time of autograd to hand a parameter its gradient, under the profiler: the same work in every
  /// program, so that it tells how fast the host is. Absent: not in the trace.
  std::optional<Seconds> accumulate_grad{};
  Seconds gap{};  ///< median pause between two kernels while the CPU is ahead, under the profiler
  std::vector<Launch> launches;             ///< of one step, in the order of issue
  std::vector<ProfiledGradient> gradients;  ///< in the order in which they get ready
  std::vector<ProfiledBuffer> buffers;      ///< what DDP broadcasts before a forward pass
  MemorySource memory_from = MemorySource::none;
  std::vector<ProfiledMoment> memory;      ///< the moments that can be the peak, forward pass first
  std::vector<std::string> memory_lacks;   ///< operations of which nobody knows what autograd keeps
  std::optional<bool> keeps_gradients{};   ///< through the next forward pass; absent: not known
  std::optional<Unprofiled> unprofiled{};  ///< where many runs need it: found once for all
};

}  // namespace gradway
