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

/// What PyTorch's DTensor costs the CPU, in eager operations: a module that `parallelize_module` was told of,
/// in each direction (its input becomes a DTensor and is redistributed, its operations are dispatched in
/// Python), and a redistribution by itself. @source 2 H200, 2026-11-22, PyTorch 2.11: gpt_1b3, batch 4 and
/// 16, tensor and sequence parallelism, autocast and bf16: 0.4 to 0.7 ms a module and direction, 0.17 to 0.19
/// ms a redistribution of 294 in the optimizer's phase; the steps spread by 10 to 40 %
struct DtensorCpu {
  double module = 12;
  double redistribution = 4;
};
inline constexpr DtensorCpu dtensor_cpu;

/// What experts that PyTorch's ranks share cost the CPU, in eager operations: an all-to-all that autograd
/// knows, in each direction, and finding each row's place and way back (argsort, remainder, index_copy and
/// their likes), a layer and direction. @source trace of our own mixture of experts on 2 H200, 2026-11-22,
/// PyTorch 2.11: under the profiler 371 and 281 us an exchange, 572 and 403 us for rows, where an operation
/// of the other layers takes 54 us forward and 70 us backward
struct ExpertCpu {
  double exchange_forward = 7;
  double exchange_backward = 4;
  double rows_forward = 11;
  double rows_backward = 6;
};
inline constexpr ExpertCpu expert_cpu;

/// Kernels that one of our operations launches, on average: the same jobs.
inline constexpr double kernels_of_operation = 1.25;

/// CPU time of one kernel of eager PyTorch on the host of 64 cores that DDP's hooks, plain launches and the
/// optimizers were measured on; the VMs above are twice as slow. What was measured there is scaled by what a
/// kernel takes on the scenario's host.
inline constexpr Seconds measured_host_kernel = 17.6_us;

/// What autograd took on that host to hand a parameter its gradient, under the profiler with shapes; with DDP
/// it took 3.0 to 3.2 times as long more, there (four traces) and on a host 2.8 times as slow (2 H100 and 32
/// cores, 2026-11-25), while what a launch takes differs by program, too (one H100's host: 20 to 34 us).
inline constexpr Seconds measured_host_gradient = 3.9_us;

/// What a step takes beyond its kernels, for each of our operations: the same jobs
/// where the GPU bound them, steps less kernels and input copy, 1.0 to 2.0 us.
inline constexpr Seconds pause_of_operation = 1.5_us;

/// A stream takes this many launches; the next one waits for the first to end. Two traces: 1,022.
inline constexpr int launch_queue_depth = 1022;

/// From the end of a kernel until the CPU that waits for it goes on.
/// @source `launch_latency` of three nodes of H200: 8.3 to 9.5 us from the launch of an empty kernel on,
/// whose launch takes 3.4 to 4.4 us of it
inline constexpr Seconds seen_by_host = 5.0_us;

/// CPU time to launch a CUDA graph, on the host of `measured_host_kernel`.
/// @source own measurement, one H100 and 32 cores that took twice as long as that host, 2026-11-25, PyTorch
/// 2.11: graphs of 1 to 1,000 small kernels, 10.7 us and 0.38 us a kernel; the step of a GPT of 12 and 24
/// blocks in one graph, 0.55 to 0.75 us a kernel; each block as a graphed callable, 230 us a call of some 20
/// kernels, forward or backward
struct GraphCpuCosts {
  Seconds launch;
  Seconds node;
  Seconds call;  ///< more for a graph that is a function of the model's: autograd and checks in Python
};
inline constexpr GraphCpuCosts graph_cpu{.launch = 5.3_us, .node = 0.33_us, .call = 105.0_us};

/// Between kernels of a CUDA graph: of 1,000 small ones 1.16 us from start to start, 0.9 us of it the kernel;
/// the same GPT's step 0.3 us a kernel more than its kernels.
inline constexpr Seconds pause_in_graph = 0.3_us;

/// CPU time of DDP, without the profiler (figures under it times `profiled_cpu_share`).
struct DdpCpuCosts {
  Seconds gradient;      ///< its hook and the copy into the bucket
  Seconds copy_back;     ///< of a gradient, after the backward pass
  Seconds view;          ///< to set a gradient to its place in the bucket, in place of the copy back
  Seconds view_of_hook;  ///< the same after a communication hook
  Seconds all_reduce;    ///< one call of c10d; 2 H100 on a host 1.5 times as slow, 2026-11-25: 37 to 43 us
  Seconds bucket;        ///< DDP's own reduction of a bucket; under the profiler 99 to 109 us (three traces)
  Seconds hook;          ///< a communication hook written in Python, a bucket
  Seconds powersgd;      ///< PowerSGD, a bucket: what follows its synchronisation, when nothing hides it
  Seconds buffer;        ///< a module's buffer, copied back after the broadcast
};
inline constexpr DdpCpuCosts ddp_cpu{.gradient = 8.0_us,
                                     .copy_back = 8.0_us,
                                     .view = 4.5_us,
                                     .view_of_hook = 7.4_us,
                                     .all_reduce = 30.0_us,
                                     .bucket = 66.0_us,
                                     .hook = 105.0_us,
                                     .powersgd = 350.0_us,
                                     .buffer = 11.5_us};

/// CPU time of a hook in Python, in what eager PyTorch takes on the same host to launch one kernel (forward
/// and backward: Python, autograd and launch). Hosts differ, and one host from minute to minute, by up to
/// two; these ratios stay within some 20 %.
struct HookCost {
  double once;  ///< a group of parameters
  double each;  ///< of its parameters
};

/// What calls on tensors take without autograd. @source own measurement, 2026-11-24, an H200, PyTorch 2.11:
/// `div_` of 147 gradients in 1.24 ms, where a launch of a model's own takes 35 us
inline constexpr HookCost call_in_place{.once = 0, .each = 0.24};

// Own measurement, 2026-11-22, PyTorch 2.11 on a node of 2 H100 with 32 cores, one launch 20.4 us: a decoder
// so small that the CPU is all there is, 6, 12 and 24 blocks, 1, 2, 4 or all blocks a group, 6 or 12
// parameters a block, with and without FSDP, timed phase by phase (least squares, residuals 6 % forward, 14 %
// backward) and method by method.

/// FSDP2's hooks, a group.
struct FsdpCpuCosts {
  HookCost enter_forward;
  HookCost gather;  ///< copy-in, all-gather and the events around them
  HookCost copy_out;
  HookCost leave_forward;
  HookCost enter_backward;
  HookCost reduce;  ///< copy-in of gradients, reduce-scatter and the new gradients of the shares
  HookCost keep;    ///< of gradients that are not reduced yet
  HookCost root_ends;
};
inline constexpr FsdpCpuCosts fsdp_cpu{.enter_forward = {11.4, 0},
                                       .gather = {10.0, 0.28},
                                       .copy_out = {6.5, 0.36},
                                       .leave_forward = {8.3, 0.11},
                                       .enter_backward = {9.4, 0},
                                       .reduce = {22.0, 0.68},
                                       .keep = {1.5, 0.66},
                                       .root_ends = {19.4, 0}};

/// What FSDP2's copies reach of the rate at which a GPU copies its own memory, and the table of addresses
/// that goes to the GPU before those on the compute stream. Our traces of two H100 (2,971 GB/s read and
/// written), gpt_1b3 and a Llama-like model: casts of shares 1.2 to 2.0 TB/s, copy-in 1.2 to 1.8,
/// copy-out 2.43 to 2.70, gradients from bf16 to fp32 1.76 to 1.86; tables 4 us for copy-out, and for
/// gradients 10 us for 302 MB, 34 to 43 us for 1,249 MB.
struct FsdpCopyCosts {
  double copy_in;
  double copy_out;
  double gradients;
  Seconds table;
  BytesPerSecond table_of_gradients;  ///< by what the copy itself moves
};
inline constexpr FsdpCopyCosts fsdp_copies{.copy_in = 0.55,
                                           .copy_out = 0.86,
                                           .gradients = 0.61,
                                           .table = 4.0_us,
                                           .table_of_gradients = BytesPerSecond{38e12}};

/// FSDP1's, a group; the same whatever its parameters are, which are one tensor. Without a gather in the
/// backward pass (SHARD_GRAD_OP) it is 12.6 less.
struct Fsdp1CpuCosts {
  HookCost enter_forward;
  HookCost gather;
  HookCost leave_forward;
  HookCost enter_backward;
  HookCost reduce;
};
inline constexpr Fsdp1CpuCosts fsdp1_cpu{.enter_forward = {20.0, 0},
                                         .gather = {12.6, 0},
                                         .leave_forward = {9.6, 0},
                                         .enter_backward = {10.0, 0},
                                         .reduce = {26.1, 0}};

/// One step of an optimizer on sharded tensors (DTensor), and on FSDP1's flat ones. Plain tensors: see
/// `optimizer_launch_time`.
struct ShardedOptimizerCpuCosts {
  HookCost sgd;
  HookCost adamw;
  HookCost adamw_fused;
  HookCost flat;
};
inline constexpr ShardedOptimizerCpuCosts sharded_optimizer_cpu{
    .sgd = {18.9, 0.48}, .adamw = {47.0, 1.41}, .adamw_fused = {21.5, 0.91}, .flat = {16.9, 0.38}};

/// ZeroRedundancyOptimizer after its local step: a broadcast for each parameter, or with views one a rank.
struct ZeroRedundancyCpuCosts {
  HookCost broadcasts;
  HookCost of_views;
};
inline constexpr ZeroRedundancyCpuCosts zero_redundancy_cpu{.broadcasts = {30.0, 1.0}, .of_views = {0, 0.1}};

/// DeepSpeed's hooks. Not measured by us: what comparable hooks of FSDP2 take.
struct ZeroCpuCosts {
  HookCost gradient;
  HookCost bucket;
  HookCost module;  ///< before and after a module of stage 3
  HookCost gather;
};
inline constexpr ZeroCpuCosts zero_cpu{
    .gradient = {0, 2.0}, .bucket = {20.0, 0}, .module = {10.0, 0}, .gather = {10.0, 0.28}};

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
