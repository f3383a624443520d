// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>

#include "sim/report/trace/slices.hpp"

namespace gradway::report {

/// Writes the run of a rank as the PyTorch profiler (Kineto) would record it, for tools such as Holistic
/// Trace Analysis: categories kernel, gpu_memcpy, cuda_runtime, cpu_op and user_annotation
/// ("ProfilerStep#0"), with stream, device, and correlation ids between launches and launched work.
/// Collectives are kernels with NCCL's names and their `Collective name`, `In msg nelems` (in bytes, because
/// a call does not know its element type), `Group size` and `Process Group Name`. Work whose launch costs
/// nothing has a launch without duration, because Holistic Trace Analysis leaves out work without one. The
/// trace has neither CUDA's events nor waits between streams.
/// @param slices of the run; must include the rank
void write_kineto_trace(std::ostream& out, const Run& run, const Slices& slices, std::size_t rank);

}  // namespace gradway::report
