// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"

namespace gradway {

// Overheads of PyTorch. Unless stated otherwise: own measurements on 4 H200 and 64 Xeon cores, PyTorch 2.11,
// NCCL 2.28.9, 2026-11-21, from traces with and without DDP of the same model (vit_l_32, gpt_small,
// resnet50).

/// CPU time without the profiler over CPU time under it (with shapes), on launch-bound steps: convnext_base
/// 31.7 and 50.5 ms, gpt_small with batch 2 15.7 and 24.5 ms.
inline constexpr double profiled_cpu_share = 0.635;

/// Gaps between kernels without the profiler over those under it: nine models, 0.62 to 0.82, median 0.75.
inline constexpr double profiled_pause_share = 0.75;

/// Default CPU time of one operation of eager PyTorch, forward or backward (Python, autocast, autograd and
/// launch): the mean over the classes of operations, whose times are multiples of it. Own launch-bound jobs
/// on two VMs with 16 cores, 2026-11-22, PyTorch 2.11: median 43 us on one (8 jobs, 33 to 56), 61 us on the
/// other (10 jobs, 40 to 67). The same job took up to 1.5 times as long a minute later. On 64 cores it was 19
/// to 25 us (2026-11-21). The default is between these figures.
inline constexpr Seconds eager_operation = 44.0_us;

/// Speed of cores of virtual hosts: a core takes its shortest time or this multiple of it, about equally
/// often, for seconds at a time and independently of the cores of other ranks.
/// @source own measurement, 2026-11-28, three hosts with Xeons of 2023: a turn of a Python loop takes 36 or
/// 63 ns, little between; of 272 samples on 16 cores 33 % are below 42 ns and 51 % above 55. ResNet-50 of 8
/// images takes 22 ms on one GPU and 45 ms in DDP on two, whose kernels take 5.5 ms
inline constexpr double slow_core = 1.75;

/// CPU time of PyTorch's DTensor in eager operations: of a module that `parallelize_module` converts, in each
/// direction (its input becomes a DTensor and is redistributed, its operations are dispatched in Python), and
/// of a single redistribution, both without the call of NCCL.
/// @source own measurement, 2026-12-01, one H200, PyTorch 2.11, ranks that are not there (a fake process
/// group): decoders of 6 and 18 blocks with and without tensor or sequence parallelism by turns in one
/// process, in bf16 and with autocast, queries, keys and values in one product or three: 12 to 18 operations
/// of the same process per module and direction (0.4 to 0.7 ms), 2.4 per redistribution of a norm's gradient
/// (63 us)
struct DtensorCpu {
  double module = 16;
  double redistribution = 2.4;
};
inline constexpr DtensorCpu dtensor_cpu;

/// CPU time of expert parallelism in PyTorch in eager operations: of an all-to-all under autograd, and of
/// finding the positions of rows (argsort, remainder, index_copy and similar), per layer and direction.
/// @source exchanges: the mean of two own measurements with PyTorch 2.11. A trace of a mixture of experts on
/// two H200 (2026-11-22), less 3.9 us an event of the profiler: 14.4 and 4.8 operations, of which 7 are
/// Python's dispatch of the three operations that first see the result of a functional collective. The same
/// blocks with and without exchanges by turns in one process on one H200 (2026-12-01): 18.2 and 11.8 (0.7 and
/// 0.4 ms). Rows: that trace, 572 and 403 us under the profiler, where an operation of other layers takes 54
/// us forward and 70 us backward
struct ExpertCpu {
  double exchange_forward = 16;
  double exchange_backward = 8;
  double rows_forward = 11;
  double rows_backward = 6;
};
inline constexpr ExpertCpu expert_cpu;

/// Mean number of kernels that one of our operations launches, in the jobs of `eager_operation`.
inline constexpr double kernels_of_operation = 1.25;

/// CPU time per kernel of eager PyTorch on the 64-core host on which DDP's hooks, plain launches and
/// optimizers were measured. The VMs above are half as fast. CPU times that were measured there are scaled to
/// the scenario's host by its own time per kernel.
inline constexpr Seconds measured_host_kernel = 17.6_us;

/// CPU time of autograd's AccumulateGrad per parameter on that host, under the profiler with shapes. DDP adds
/// 3.0 to 3.2 times this time, both there (four traces) and on a host that is 2.8 times as slow (2 H100 and
/// 32 cores, 2026-11-25). The time of a launch, in contrast, depends on the program, too (20 to 34 us on the
/// host of an H100).
inline constexpr Seconds measured_host_gradient = 3.9_us;

/// Gap after each of our operations: step time minus kernels and input copy, in those of the jobs above that
/// are GPU-bound, 1.0 to 2.0 us.
inline constexpr Seconds pause_of_operation = 1.5_us;

/// Depth of a stream's launch queue: a further launch waits until the oldest one ends. Two traces: 1,022.
inline constexpr int launch_queue_depth = 1022;

/// Time from the end of a kernel until the CPU that waits for it continues.
/// @source `launch_latency` of three nodes of H200: 8.3 to 9.5 us from the launch of an empty kernel on,
/// of which the launch itself takes 3.4 to 4.4 us
inline constexpr Seconds seen_by_host = 5.0_us;

/// CPU time to launch a CUDA graph, on the host of `measured_host_kernel`.
/// @source own measurement, one H100 and 32 cores that are half as fast as that host, 2026-11-25,
/// PyTorch 2.11: graphs of 1 to 1,000 small kernels, 10.7 us and 0.38 us per kernel; the step of a GPT of 12
/// and 24 blocks in one graph, 0.55 to 0.75 us per kernel; each block as a graphed callable, 230 us per call
/// with some 20 kernels, forward or backward
struct GraphCpuCosts {
  Seconds launch;
  Seconds node;
  Seconds call;  ///< additional time of a graphed callable: autograd and checks in Python
};
inline constexpr GraphCpuCosts graph_cpu{.launch = 5.3_us, .node = 0.33_us, .call = 105.0_us};

/// Gap between kernels of a CUDA graph: 1,000 small kernels take 1.16 us each, of which 0.9 us is the kernel;
/// the step of the same GPT takes 0.3 us per kernel more than its kernels.
inline constexpr Seconds pause_in_graph = 0.3_us;

/// CPU time of DDP, without the profiler (figures under it times `profiled_cpu_share`). `search`, `mark` and
/// `used`: an H200 and 16 cores, where DDP adds 1.15 times `gradient` and `view` to the backward pass,
/// 2026-11-26, PyTorch 2.11: 192 parameters with and without the options in turns, 1.3 us per parameter
/// forward, 5.0 us backward, of which static_graph has 1.6.
struct DdpCpuCosts {
  Seconds gradient;      ///< per gradient: its hook and the copy into the bucket
  Seconds copy_back;     ///< per gradient: copy out of the bucket after the backward pass
  Seconds view;          ///< per gradient: makes it a view into the bucket, instead of the copy
  Seconds view_of_hook;  ///< as `view`, with a communication hook
  Seconds all_reduce;    ///< a call of c10d; 2 H100 on a host 1.5 times as slow, 2026-11-25: 37 to 43 us
  Seconds bucket;        ///< DDP's own reduction of a bucket; under the profiler 99 to 109 us (three traces)
  Seconds hook;          ///< per bucket: a communication hook in Python
  Seconds powersgd;      ///< per bucket: PowerSGD's work after its synchronisation, which nothing overlaps
  Seconds buffer;        ///< per buffer of a module: copy back after the broadcast
  Seconds search;        ///< find_unused_parameters, per parameter: search of the autograd graph
  Seconds mark;          ///< find_unused_parameters, per gradient: marks its parameter as used
  Seconds used;          ///< find_unused_parameters, per gradient: reads that mark, also in a static graph
};
inline constexpr DdpCpuCosts ddp_cpu{.gradient = 8.0_us,
                                     .copy_back = 8.0_us,
                                     .view = 4.5_us,
                                     .view_of_hook = 7.4_us,
                                     .all_reduce = 30.0_us,
                                     .bucket = 66.0_us,
                                     .hook = 105.0_us,
                                     .powersgd = 350.0_us,
                                     .buffer = 11.5_us,
                                     .search = 1.2_us,
                                     .mark = 3.0_us,
                                     .used = 1.4_us};

/// CPU time of a hook in Python in units of the CPU time per kernel of eager PyTorch on the same host
/// (forward and backward: Python, autograd and launch). CPU times vary by a factor of up to two between
/// hosts, and on one host over time; these ratios vary by some 20 %.
struct HookCost {
  double once;  ///< per group of parameters
  double each;  ///< per parameter of the group
};

/// CPU time of reading a value back. @source own measurement, 2026-11-26, an H200 and 16 cores where a launch
/// of a model takes 25 us, PyTorch 2.11: `sum()` of a tensor without gradient takes 10.8 us, `item()` of an
/// idle GPU 9.6 us, of which the CPU waits some 6 us, and both together 27.3 us
struct HostReadCpuCosts {
  HookCost value;  ///< the kernel that computes a value
  HookCost copy;
};
inline constexpr HostReadCpuCosts host_read_cpu{.value = {0.43, 0}, .copy = {0.15, 0}};

/// CPU time of SyncBatchNorm in addition to BatchNorm, without its exchanges and waits. @source the same
/// machine: forward 543 to 573 us instead of 59 to 70, with an all-gather and three waits; backward 210 to
/// 256 us instead of 95 to 100, with an all-reduce
struct SyncBatchNormCpuCosts {
  HookCost forward;
  HookCost backward;
};
inline constexpr SyncBatchNormCpuCosts sync_batch_norm_cpu{.forward = {16.5, 0}, .backward = {4.0, 0}};

/// Calls on tensors without autograd. @source own measurement, 2026-11-24, an H200, PyTorch 2.11: `div_` of
/// 147 gradients in 1.24 ms, where a launch of a model takes 35 us
inline constexpr HookCost call_in_place{.once = 0, .each = 0.24};

/// Autograd adds to a gradient that exists. @source own measurement, 2026-12-01, an H200 and 16 cores,
/// PyTorch 2.11: decoders of 76, 148 and 292 parameters in fp32 and bf16, backward passes of later
/// micro-batches less that of the first, two processes: 7.0 us (weighted mean of medians; 0.9 to 8.9, of
/// minima 1.5 to 7.3), 0.13 to 0.25 of the CPU time per kernel from 148 parameters on
inline constexpr HookCost gradient_addition{.once = 0, .each = 0.19};

// Own measurement, 2026-11-22, PyTorch 2.11 on a node of 2 H100 with 32 cores, 20.4 us per launch: a small,
// purely launch-bound decoder with 6, 12 and 24 blocks, 1, 2, 4 or all blocks per group, 6 or 12 parameters
// per block, with and without FSDP, timed by phase (least squares, residuals 6 % forward, 14 % backward) and
// by method.

/// A pass over a list of plain tensors: clipping takes two and a few small kernels. @source the measurements
/// of `fsdp_alone_cpu` and below: clipping 13 units and 0.23 per tensor on three hosts, residuals 14 %
inline constexpr HookCost pass_over_list{.once = 5.6, .each = 0.115};

/// FSDP2's hooks, per group.
struct FsdpCpuCosts {
  HookCost enter_forward;
  HookCost gather;  ///< copy-in, all-gather and their events
  HookCost copy_out;
  HookCost leave_forward;
  HookCost enter_backward;
  HookCost reduce;  ///< copy-in of gradients, reduce-scatter, and new gradients of the shards
  HookCost keep;    ///< accumulates gradients that are not reduced yet
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

/// FSDP2 over one rank, which exchanges nothing and copies parameters one by one.
/// @source own measurement, 2026-12-01, an H200 and 16 cores in both states, PyTorch 2.11: a decoder with 12
/// and 24 blocks of 6 and 12 parameters, 1, 4 or all blocks per group, three processes, CPU times over those
/// of the same decoder alone; residuals 4 to 13 %. In such a process that takes itself for one rank of four
/// (collectives of NCCL over one rank), the costs above are 5 % too low on average
struct FsdpAloneCpuCosts {
  HookCost gather;
  HookCost copy_out;
  HookCost cast;  ///< in addition, if parameters are gathered in another format
  HookCost leave_forward;
  HookCost reduce;
};
inline constexpr FsdpAloneCpuCosts fsdp_alone_cpu{.gather = {1.3, 0},
                                                  .copy_out = {2.4, 0.74},
                                                  .cast = {1.4, 0.5},
                                                  .leave_forward = {3.4, 0.18},
                                                  .reduce = {15.4, 0.70}};

/// Rates of FSDP2's copies as fractions of the rate of plain copies in a GPU's memory, and the time to send
/// the table of addresses to the GPU before copies on the compute stream. Our traces of two H100 (2,971 GB/s
/// read and written), gpt_1b3 and a Llama-like model: casts of shards 1.2 to 2.0 TB/s, copy-in 1.2 to 1.8,
/// copy-out 2.43 to 2.70, gradients from bf16 to fp32 1.76 to 1.86; tables 4 us for copy-out, and for
/// gradients 10 us for 302 MB, 34 to 43 us for 1,249 MB.
struct FsdpCopyCosts {
  double copy_in;
  double copy_out;
  double gradients;
  Seconds table;
  BytesPerSecond table_of_gradients;  ///< bytes of the copy over the time of its table
};
inline constexpr FsdpCopyCosts fsdp_copies{.copy_in = 0.55,
                                           .copy_out = 0.86,
                                           .gradients = 0.61,
                                           .table = 4.0_us,
                                           .table_of_gradients = BytesPerSecond{38e12}};

/// FSDP1's hooks, per group. They do not depend on the number of parameters, which form one flat tensor.
/// Without a gather in the backward pass (SHARD_GRAD_OP), they take 12.6 less.
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

/// A step of an optimizer on sharded tensors (DTensor) and on FSDP1's flat tensors. For plain tensors see
/// `cost_of`.
struct ShardedOptimizerCpuCosts {
  HookCost sgd;
  HookCost adamw;
  HookCost adamw_fused;
  HookCost flat;
};
inline constexpr ShardedOptimizerCpuCosts sharded_optimizer_cpu{
    .sgd = {18.9, 0.48}, .adamw = {47.0, 1.41}, .adamw_fused = {21.5, 0.91}, .flat = {16.9, 0.38}};

/// ZeroRedundancyOptimizer after its local step: one broadcast per parameter, or one per rank with views.
struct ZeroRedundancyCpuCosts {
  HookCost broadcasts;
  HookCost of_views;
};
inline constexpr ZeroRedundancyCpuCosts zero_redundancy_cpu{.broadcasts = {30.0, 1.0}, .of_views = {0, 0.1}};

/// DeepSpeed's hooks. Not measured; assumed equal to comparable hooks of FSDP2.
struct ZeroCpuCosts {
  HookCost gradient;
  HookCost bucket;
  HookCost module;  ///< stage 3: before and after a module
  HookCost gather;
};
inline constexpr ZeroCpuCosts zero_cpu{
    .gradient = {0, 2.0}, .bucket = {20.0, 0}, .module = {10.0, 0}, .gather = {10.0, 0.28}};

/// CPU time of a call of `torch.distributed.all_reduce` and its events if each call is waited for. Two H200,
/// 1 KiB to 16 MiB: such calls take 32 to 50 us longer, median 45, than back-to-back calls of gradway-probe.
inline constexpr Seconds pytorch_collective_alone = 45.0_us;

/// Duration of the shortest kernels on an H200 (copies of a few KB in the traces: 0.8 to 1.3 us), without the
/// time to move data.
inline constexpr Seconds smallest_kernel = 0.9_us;

/// PyTorch's 16-bit hooks cast back on a separate stream for each bucket. With so many streams, every gap
/// between kernels is longer, also in the next forward pass. One H200 in DDP on one GPU, forward and
/// optimizer without the bf16 hook and with it: vit_l_32 30.52 and 31.03 ms in 490 kernels, gpt_small 7.83
/// and 8.26 ms in 289, resnet50 11.93 and 12.64 ms in 645.
inline constexpr Seconds pause_of_many_streams = 1.1_us;

/// Largest rates at which PowerSGD's products read or write their matrix. One dimension is only as large as
/// the rank, so that few threads share the work. Our trace of vit_l_32 at rank 1, 98 matrices of 302 million
/// elements: P = M Q in 583 us, Q = M^T P in 877 us, M = P Q^T in 925 us.
struct PowerSgdRates {
  BytesPerSecond p;
  BytesPerSecond q;
  BytesPerSecond outer;
};
inline constexpr PowerSgdRates powersgd_rates{2070_GBps, 1380_GBps, 1306_GBps};

/// Duration of a norm or division of one column in PowerSGD's orthogonalisation (same trace: 1.4 to 2.9 us).
inline constexpr Seconds column_kernel = 2.0_us;

}  // namespace gradway
