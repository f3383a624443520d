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

/// What a step of an optimizer costs, of parameters in fp32.
struct OptimizerCost {
  Bytes traffic{};       ///< read and written for a parameter
  Bytes state{};         ///< kept for a parameter
  Bytes transient{};     ///< there during the step, for a parameter
  Seconds launch{};      ///< of the CPU for a tensor
  double in_half = 1;    ///< a step of 16-bit parameters over half the time of one in fp32
  bool is_timed = true;  ///< by us, on a GPU
};

/// Traffic pass by pass: torch/optim/{sgd,adamw}.py of PyTorch 2.8; Lion (google/automl, lion_pytorch.py);
/// bitsandbytes' blocks of 256 with a scale each; Apex' multi_tensor_lamb.cu. On an H100 (own measurement,
/// 2026-11-22, PyTorch 2.11, 1.4e9 parameters) 12, 32, 80, 28 and 76 bytes moved at 2.57 to 2.66 TB/s.
/// @source launches: own measurement on an H200 node with 64 Xeon cores, PyTorch 2.11, 300 tensors, of sgd,
/// adamw and adamw_fused: 0.30, 1.91 and 0.55 ms; of the others on an H100's host that took 2.75 times as
/// long for these three: sgd_momentum 1.31, lion 29.6, muon 192 ms. Not timed: adamw_8bit and lamb, whose CPU
/// time is that of a few eager operations a tensor and of twice adamw_fused's. `in_half`: measured on that
/// H100 of sgd, sgd_momentum, adamw and adamw_fused; lion's is taken as sgd_momentum's (there the CPU was
/// slower), adamw_8bit's and lamb's as adamw_fused's; of muon the passes in bf16 stay: 50 bytes of 76
OptimizerCost cost_of(Optimizer optimizer);

/// CPU time to issue an optimizer's step for `tensors` parameters.
Seconds optimizer_launch_time(Optimizer optimizer, std::size_t tensors);

}  // namespace gradway
