// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// How well a memory-bound kernel uses the memory.
enum class MemoryPattern {
  stream,  ///< copies, additions, optimizers
  widen,   ///< casts from 16 to 32 bits
};

/// Time of `kernels` memory-bound kernels that read and write `traffic` bytes together: each has a floor, and
/// the traffic moves at the GPU's memory bandwidth times the efficiency of the pattern. Zero on an ideal GPU.
Seconds memory_time(Bytes traffic, const Gpu& gpu, MemoryPattern pattern = MemoryPattern::stream,
                    int kernels = 1);

/// Bytes an optimizer reads and writes a parameter, all fp32. sgd: p, g read, p written. adamw (PyTorch's
/// foreach form): the passes over p, g, both moments and two temporaries. adamw_fused: p, g, m, v read, p, m,
/// v written.
/// @source torch/optim/{sgd,adamw}.py of PyTorch 2.8, pass by pass
Bytes optimizer_traffic_per_parameter(Optimizer optimizer);

/// CPU time to issue an optimizer's step for `tensors` parameters.
/// @source own measurement on an H200 node with 64 Xeon cores, PyTorch 2.11, 300 tensors: 0.30, 1.91 and 0.55
/// ms
Seconds optimizer_launch_time(Optimizer optimizer, std::size_t tensors);

}  // namespace gradway
