// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>

#include "sim/report/trace/slices.hpp"

namespace gradway::report {

/// Writes what a rank did as the PyTorch profiler (Kineto) would have recorded it, for programs that read
/// such traces, Holistic Trace Analysis among them: categories kernel, gpu_memcpy, cuda_runtime, cpu_op and
/// user_annotation ("ProfilerStep#0"), with stream, device, and a correlation that leads from a launch to
/// what it launched. Collectives are kernels named as NCCL's, with their `Collective name`, `In msg nelems`
/// (of bytes: a call does not know the type of its elements), `Group size` and `Process Group Name`. A launch
/// without a duration has no event.
/// @param slices of the run, which must hold the rank's
void write_kineto_trace(std::ostream& out, const Run& run, const Slices& slices, std::size_t rank);

}  // namespace gradway::report
