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

/// What bounds a kernel. Determines how its time is extrapolated to another GPU, and its contention with
/// collectives.
enum class KernelClass {
  matrix,     ///< arithmetic-bound: matrix products and convolutions
  attention,  ///< arithmetic-bound with its own efficiency: fused attention
  memory,   ///< memory-bound: elementwise kernels, reductions, norms, copies within the GPU's memory, memsets
  copy_in,  ///< host to device, on the copy engine
  copy_out,  ///< device to host
};

/// How a kernel occupies the GPU's multiprocessors.
struct Footprint {
  KernelClass kind = KernelClass::matrix;
  Precision precision = Precision::fp32;
  std::int64_t blocks = 0;  ///< thread blocks; 0: unknown
  int blocks_per_sm = 0;    ///< thread blocks that fit on a multiprocessor at the same time
  std::int64_t tiles = 0;   ///< persistent kernels: tiles that a scheduler gives to blocks; 0: one per block

  auto operator<=>(const Footprint&) const = default;
};

/// The part of a step that issued a launch.
enum class ProfiledPhase { forward, backward, optimizer };

/// One measured launch of a kernel or copy.
struct Launch {
  ProfiledPhase phase = ProfiledPhase::forward;
  KernelClass kind = KernelClass::memory;
  /// CPU time from the end of the previous launch to the end of this one, under the profiler, without
  /// waiting.
  Seconds cpu{};
  Seconds gpu{};            ///< duration on the GPU
  bool host_waits = false;  ///< the CPU then waits for the GPU (a synchronisation, .item())
  std::int64_t blocks = 0;  ///< thread blocks; 0: unknown (copies, memsets)
  int blocks_per_sm = 0;    ///< thread blocks per multiprocessor, by registers, shared memory and threads
  std::int64_t tiles = 0;   ///< as in `Footprint`
  Precision precision = Precision::fp32;  ///< of its operands
  Flops flops{};                          ///< matrix and attention kernels, from the shapes; 0: unknown
  Bytes bytes{};      ///< operands read and results written, from the shapes; copies: size; 0: unknown
  bool grows = true;  ///< its work grows with the batch; false for kernels on parameters
  int stream = 0;     ///< 0: the compute stream; others in the order of their first launch
  std::string name;   ///< shortened name of the framework's operation
};

/// A gradient, and when it becomes ready.
struct ProfiledGradient {
  std::vector<std::int64_t> shape;
  int element_bytes = 4;
  std::size_t after = 0;  ///< number of launches of the step that were issued before it was ready
};

/// A tensor of the model's state that is not trained, such as a running mean or a count of batches.
struct ProfiledBuffer {
  std::vector<std::int64_t> shape;
  int element_bytes = 4;  ///< 8 for counts, which PyTorch keeps as int64
};

/// The source of the memory of a profiled step.
enum class MemorySource {
  none,      ///< unknown: activations are missing
  shapes,    ///< tensors that autograd keeps, by the shapes of operations
  compiled,  ///< as `shapes`, but torch.compile's kernels do not show which operands they write
  recorded,  ///< allocations that the profiler recorded (profile_memory)
};

/// Memory of a profiled step at one moment, at the profile's batch, without parameters, optimizer, input and
/// the gradients of the step before.
struct ProfiledMoment {
  ProfiledPhase phase = ProfiledPhase::forward;  ///< forward or backward
  Bytes grows{};      ///< grows with the batch: activations, their gradients, temporaries
  Bytes fixed{};      ///< independent of the batch: 16-bit copies of weights
  Bytes gradients{};  ///< gradients of parameters that are ready
  Bytes output{};     ///< further memory, which grows with the batch, if the loop keeps the model's output
};

/// A profiled step, corrected for the overhead of the profiler.
struct Unprofiled {
  double cpu_scale = 1;       ///< CPU times without the profiler over those with it
  Seconds pause{};            ///< gap between kernels
  Seconds step{};             ///< on the profile's GPU, with its batch and optimizer, without DDP
  bool launch_bound = false;  ///< CPU launches lengthen the step by more than 2 %
};

/// The launches of a model's step, measured on one GPU without DDP.
struct Profile {
  std::string gpu;  ///< name of the GPU's file, for example "h200"
  Precision precision = Precision::fp32;
  int batch = 0;
  Optimizer optimizer = Optimizer::sgd;
  int steps = 0;                     ///< steps of the trace, which are averaged
  Seconds traced_step{};             ///< under the profiler
  std::optional<Seconds> step_time;  ///< the same step without the profiler
  /// CPU time of autograd's AccumulateGrad per parameter, under the profiler. It is the same work in every
  /// program and thus measures the speed of the host. Absent if the trace does not have it.
  std::optional<Seconds> accumulate_grad{};
  Seconds gap{};  ///< median gap between two kernels while the CPU runs ahead, under the profiler
  std::vector<Launch> launches;             ///< of one step, in order of issue
  std::vector<ProfiledGradient> gradients;  ///< in the order in which they become ready
  std::vector<ProfiledBuffer> buffers;      ///< tensors that DDP broadcasts before a forward pass
  MemorySource memory_from = MemorySource::none;
  std::vector<ProfiledMoment> memory;      ///< moments of possible peak memory, forward pass first
  std::vector<std::string> memory_lacks;   ///< operations whose saved tensors are unknown
  std::optional<bool> keeps_gradients{};   ///< until the end of the next forward pass; absent: unknown
  std::optional<Unprofiled> unprofiled{};  ///< cached result if many simulations need it
};

}  // namespace gradway
