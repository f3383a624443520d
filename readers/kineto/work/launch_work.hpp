// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/kineto/read/steps.hpp"
#include "readers/kineto/read/trace.hpp"
#include "readers/kineto/work/kernel_name.hpp"
#include "sim/workload/optimizer.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// Sets class, precision, operations, bytes and name of launches from the names of their kernels and the
/// shapes of the operations that launched them.
///
/// An operation may launch several kernels. Its matrix products are assigned to its matrix kernels: one each
/// if the numbers agree, else in proportion to their time. If no kernel's name says that it multiplies, the
/// longest kernel of a matrix operation is taken as the product. The bytes of other operations are divided in
/// proportion to time.
/// @param launches as many as `traced`, with their GPU times.
void find_work(const Trace& trace, std::span<const TracedLaunch> traced, std::vector<Launch>& launches);

/// Precision of most floating-point operations; by time if no operations are known.
Precision main_precision(const std::vector<Launch>& launches);

/// Samples of a step: the leading dimension of the largest copy from the host, else of the first operation's
/// input; empty if neither exists.
std::optional<int> find_batch(const Trace& trace, const TracedStep& step);

/// Finds operations that only touch parameters, so that neither their work nor their results grow with the
/// batch.
class ParameterShapes {
 public:
  /// @param profile with its gradients and its batch
  ParameterShapes(const Trace& trace, const TracedStep& step, const Profile& profile);

  /// Whether all tensors of the operation have the shape of a parameter; false if it has no tensor.
  bool has_only(const Signature& signature) const;
  bool contains(const Operand::Shape& shape) const { return shapes_.contains(shape); }

 private:
  std::set<Operand::Shape> shapes_;
  std::set<std::int64_t> sample_sizes_;
};

/// Marks the launches whose work does not grow with the batch because they only touch parameters: those of
/// the optimizer, and element-wise operations all of whose tensors have the shape of a parameter (casts and
/// fills of weights and gradients, sums of gradients). Other operations with only such tensors count too
/// unless a dimension may belong to samples: the batch, or the batch times other dimensions of the input (32
/// x 50 tokens). Matrix products, attention and copies to and from the host always grow.
void find_growth(const Trace& trace, const TracedStep& step, const Profile& profile,
                 std::vector<Launch>& launches);

/// Median time in which autograd passes a gradient to a parameter without a launch; empty if too few calls do
/// so.
std::optional<Seconds> time_to_accumulate(const Trace& trace);

/// Sets the CPU's time for each launch and marks where the CPU then waited for the GPU.
///
/// A launch takes the time from the end of the previous call to the end of its own, without the profiler's
/// own overhead, synchronisations (a launch before one gets `host_waits`) and waiting inside of the call. The
/// trace does not show that waiting, but it follows: a call waits when the queue of launches is full (1,024
/// on current GPUs) or when it is a copy that returns only with its data. Such a call, and one that lasts ten
/// times longer than its kind usually does, counts with the median of its kind.
/// @param launches sorted by the start of their calls.
void measure_cpu_time(const Trace& trace, std::vector<TracedLaunch>& launches);

/// The optimizer, from the name of its annotation ("Optimizer.step#AdamW.step") and whether its operations
/// are fused. An unknown optimizer counts as AdamW, with a warning; its launches stay as they are.
Optimizer find_optimizer(const Trace& trace, const TracedStep& step, std::vector<std::string>& warnings);

/// Number of thread blocks of a kernel that fit on a multiprocessor at a time, limited by its threads,
/// registers and shared memory. 0 if the trace does not state the limits of the GPU.
/// @source CUDA C++ Programming Guide 12, "Compute Capabilities", and the occupancy calculator of the CUDA
/// toolkit: registers are allocated to warps in units of 256, on each of the four parts of a multiprocessor;
/// a block's shared memory in units of 128 bytes with 1 KiB of CUDA's own (8.0 and later).
int blocks_per_multiprocessor(const TracedActivity& kernel, const DeviceLimits& limits);

/// Number of tiles of the result that the thread blocks of a persistent kernel take one after the other from
/// a scheduler. Such are cuBLAS's kernels for Hopper and later (nvjet, with the tile size in their names) and
/// the fused attention of cuDNN and FlashAttention 3. 0 if the kernel has one block per tile, or the number
/// is unknown.
/// @source concurrently with NCCL on two H100, 2026-11-25 (tests/cost/side_by_side_test.cpp): these kernels
/// spread over the multiprocessors that are free; cuDNN's convolutions, which fill all of them once too, take
/// twice as long
std::int64_t tiles_of(std::string_view kernel, const Signature& operation);

}  // namespace gradway
