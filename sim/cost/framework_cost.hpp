// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"

namespace gradway {

// What PyTorch itself costs. All figures: own measurements on 4 H200 and 64 Xeon cores, PyTorch 2.11,
// NCCL 2.28.9, 2026-11-21, from traces with and without DDP of the same model (vit_l_32, gpt_small,
// resnet50).

/// CPU time under the profiler (with shapes) over CPU time without it, on launch-bound steps:
/// convnext_base 50.5 and 31.7 ms, gpt_small with batch 2 24.5 and 15.7 ms.
inline constexpr double profiled_cpu_share = 0.635;

/// Pauses between kernels without the profiler over those under it: nine models, 0.62 to 0.82, median 0.75.
inline constexpr double profiled_pause_share = 0.75;

/// CPU time of one operation of eager PyTorch, forward or backward (Python, autocast, autograd and launch),
/// where nothing was measured. Own jobs that the CPU bound, on two VMs with 16 cores, 2026-11-22,
/// PyTorch 2.11: median 43 us on one (8 jobs, 33 to 56), 61 on the other (10 jobs, 40 to 67). The same job
/// took up to 1.5 times as long a minute later; on 64 cores it was 19 to 25 us (2026-11-21). This stands
/// between them.
inline constexpr Seconds eager_operation = 44.0_us;

/// By how much those VMs are slower than the host of 64 cores that `optimizer_launch_time` was measured on.
inline constexpr double usual_host = 2.0;

/// What a step takes beyond its kernels, for each of our operations (1.25 kernels on average): the same jobs
/// where the GPU bound them, steps less kernels and input copy, 1.0 to 2.0 us.
inline constexpr Seconds pause_of_operation = 1.5_us;

/// A stream takes this many launches; the next one waits for the first to end. Two traces: 1,022.
inline constexpr int launch_queue_depth = 1022;

/// CPU time of DDP, without the profiler (figures under it times `profiled_cpu_share`).
struct DdpCpuCosts {
  Seconds gradient;      ///< its hook and the copy into the bucket
  Seconds copy_back;     ///< of a gradient, after the backward pass
  Seconds view;          ///< to set a gradient to its place in the bucket, in place of the copy back
  Seconds view_of_hook;  ///< the same after a communication hook
  Seconds all_reduce;    ///< one call
  Seconds hook;          ///< a communication hook written in Python, a bucket
  Seconds powersgd;      ///< PowerSGD, a bucket: what follows its synchronisation, when nothing hides it
  Seconds buffer;        ///< a module's buffer, copied back after the broadcast
};
inline constexpr DdpCpuCosts ddp_cpu{.gradient = 8.0_us,
                                     .copy_back = 8.0_us,
                                     .view = 4.5_us,
                                     .view_of_hook = 7.4_us,
                                     .all_reduce = 50.0_us,
                                     .hook = 105.0_us,
                                     .powersgd = 350.0_us,
                                     .buffer = 11.5_us};

/// CPU time of one call of `torch.distributed.all_reduce` and of the events around it, when each call is
/// waited for. Two H200, 1 KiB to 16 MiB, such calls against gradway-probe's back to back: 32 to 50 us
/// longer, median 45.
inline constexpr Seconds pytorch_collective_alone = 45.0_us;

/// The shortest kernels last this long on an H200 (copies of a few KB in the traces: 0.8 to 1.3 us); what
/// they move comes on top.
inline constexpr Seconds smallest_kernel = 0.9_us;

/// PyTorch's 16-bit hooks cast back on a stream of their own for each bucket. With that many streams in use
/// every pause between kernels gets longer, also in the next forward pass. One H200 in DDP on one GPU,
/// forward and optimizer with the bf16 hook and without: vit_l_32 30.52 and 31.03 ms in 490 kernels,
/// gpt_small 7.83 and 8.26 ms in 289, resnet50 11.93 and 12.64 ms in 645.
inline constexpr Seconds pause_of_many_streams = 1.1_us;

/// The most that PowerSGD's products read or write of their matrix: they are as thin as the rank, so few
/// threads share the work. Our trace of vit_l_32 at rank 1, 98 matrices of 302 million elements: P = M Q in
/// 583 us, Q = M^T P in 877 us, M = P Q^T in 925 us.
struct PowerSgdRates {
  BytesPerSecond p;
  BytesPerSecond q;
  BytesPerSecond outer;
};
inline constexpr PowerSgdRates powersgd_rates{2070_GBps, 1380_GBps, 1306_GBps};

/// A norm or a division of one column in PowerSGD's orthogonalisation (same trace: 1.4 to 2.9 us).
inline constexpr Seconds column_kernel = 2.0_us;

}  // namespace gradway
