// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// The class of memory efficiency of a memory-bound kernel.
enum class MemoryPattern {
  stream,  ///< copies, additions, optimizers
  widen,   ///< casts from 16 to 32 bits
};

/// Time of `kernels` memory-bound kernels that read and write `traffic` bytes in total: at least the kernel
/// latency for each, else the traffic over memory bandwidth times efficiency. Zero on an ideal GPU.
Seconds memory_time(Bytes traffic, const Gpu& gpu, MemoryPattern pattern = MemoryPattern::stream,
                    int kernels = 1);

/// The cost of an optimizer's step on fp32 parameters.
struct OptimizerCost {
  Bytes traffic{};       ///< bytes read and written per parameter
  Bytes state{};         ///< state per parameter
  Bytes transient{};     ///< temporary memory during the step, per parameter
  HookCost cpu{};        ///< CPU time to issue a step, not on sharded tensors
  double in_half = 1;    ///< duration of a step on 16-bit parameters over half of that on fp32 parameters
  bool is_timed = true;  ///< measured by us on a GPU
  int kernels = 0;       ///< per tensor, if tensors are not updated in lists
};

/// @source traffic by counting passes: torch/optim/{sgd,adamw}.py of PyTorch 2.8; Lion (google/automl,
///         lion_pytorch.py); bitsandbytes' blocks of 256 with a scale each; Apex' multi_tensor_lamb.cu. On an
///         H100 (own measurement, 2026-11-22, PyTorch 2.11, 1.4e9 parameters) 12, 32, 80, 28 and 76 bytes
///         were moved at 2.57 to 2.66 TB/s. CPU times of adamw and adamw_fused over the CPU time of the
///         same process's forward and backward pass per kernel: three hosts, an H100 (2026-11-22) and two
///         H200 in either state (2026-12-01), decoders of 76 to 293 tensors, residuals 10 to 14 %. sgd on an
///         H200 node with 64 Xeon cores, 300 tensors: 0.30 ms; that H100 took 2.75 times as long, where
///         sgd_momentum took 1.31, lion 29.6 and muon 192 ms, adamw 5.25. adamw_loop takes 9.47 times as
///         long as adamw (another H200 node, 2026-12-01). Assumed: adamw_8bit takes a few eager operations
///         per tensor, lamb twice the time of adamw_fused, adafactor (transformers/optimization.py: 19
///         passes; its states are a row and a column of each matrix) that of lion. States of
///         paged_adamw_8bit are in CUDA's managed memory, which moves to the host where memory ends, and
///         which PyTorch does not count (bitsandbytes/functional.py, get_paged). `in_half`: measured on that
///         H100 for sgd, sgd_momentum, adamw and adamw_fused; lion is assumed equal to sgd_momentum (the
///         measurement was launch-bound), adamw_8bit and lamb to adamw_fused; for muon, the passes in bf16
///         do not change: 50 bytes of 76
OptimizerCost cost_of(Optimizer optimizer);

}  // namespace gradway
