// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/scenario/input.hpp"
#include "sim/scenario/layout.hpp"
#include "sim/scenario/local_sgd.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/fp8.hpp"
#include "sim/workload/lora.hpp"
#include "sim/workload/operation.hpp"
#include "sim/workload/optimizer.hpp"
#include "sim/workload/recompute.hpp"

namespace gradway {

enum class CommHook { none, fp16, bf16, powersgd };

/// Ranks do not exchange anything.
struct Alone {
  auto operator<=>(const Alone&) const = default;
};

/// Data parallelism as PyTorch's DistributedDataParallel understands it.
struct Ddp {
  std::optional<Bytes>
      bucket_cap{};  ///< absent: PyTorch's own, 1 MiB for the first bucket, 25 MiB for the others
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  CommHook comm_hook = CommHook::none;
  int powersgd_rank = 1;
  bool zero_redundancy = false;  ///< ZeroRedundancyOptimizer: each rank steps whole parameters of its own
  bool parameters_as_bucket_view = false;  ///< ... and sends them in one message
  auto operator<=>(const Ddp&) const = default;
};

/// Wrapping as `fully_shard` and FSDP take it: which parameters are gathered and reduced together.
struct Wrap {
  int blocks = 1;  ///< of the model's repeated blocks to a group; the rest is the root's. 0: all is one group
  auto operator<=>(const Wrap&) const = default;
};

/// Parameters, gradients and optimizer states are split over the ranks, as FSDP2 does it:
/// `torch.distributed.fsdp.fully_shard` on each block, then on the model.
struct Fsdp {
  static constexpr int over_all = 0;  ///< freed after the forward pass, gathered again from all ranks
  static constexpr int kept = 1;      ///< stays gathered
  Wrap wrap{};
  std::optional<int> reshard{};          ///< over so many ranks, or one of the above; empty: PyTorch's own
                                         ///< choice, all but the root
  int forward_prefetch = 0;              ///< groups that are asked for ahead; 0: what the CPU's lead gives
  int backward_prefetch = 0;             ///< 0: the group before, as PyTorch does by itself
  std::optional<Number> param_dtype{};   ///< of gathered parameters and of compute; empty: fp32
  std::optional<Number> reduce_dtype{};  ///< of reduced gradients; empty: the gradients' own
  bool no_sync = false;                  ///< only the last micro-step reduces
  int replicate = 1;                     ///< HSDP: how often the sharded group is repeated
  bool cpu_offload = false;              ///< CPUOffloadPolicy: shares, gradients and states are on the host
  bool fp8_all_gather = false;           ///< torchao's enable_fsdp_float8_all_gather, with scales ahead
  auto operator<=>(const Fsdp&) const = default;
};

/// The same as FSDP1 does it: `FullyShardedDataParallel`, each group one flat parameter.
struct Fsdp1 {
  enum class Sharding : std::uint8_t { full_shard, shard_grad_op };
  enum class Prefetch : std::uint8_t { pre, post, none };
  Wrap wrap{};
  Sharding sharding = Sharding::full_shard;
  bool forward_prefetch = false;
  Prefetch backward_prefetch = Prefetch::pre;
  bool limit_all_gathers = true;
  std::optional<Number> param_dtype{};
  std::optional<Number> reduce_dtype{};
  bool no_sync = false;
  int replicate = 1;  ///< HYBRID_SHARD
  auto operator<=>(const Fsdp1&) const = default;
};

/// DeepSpeed's ZeRO on a model of 16 bits (fp32: on one of fp32).
struct Zero {
  int stage = 1;
  double reduce_bucket_size = 5e8;           ///< elements
  std::optional<bool> overlap_comm{};        ///< empty: DeepSpeed's own, false for stages 1 and 2, true for 3
  double prefetch_bucket_size = 5e7;         ///< elements, stage 3
  double max_live_parameters = 1e9;          ///< elements, stage 3
  double max_reuse_distance = 1e9;           ///< elements, stage 3
  double param_persistence_threshold = 1e5;  ///< elements, stage 3
  std::optional<Number> communication_dtype{};  ///< of reduced gradients; empty: the model's
  /// Stage 1, of a model in bf16: BF16_Optimizer keeps whole gradients in fp32 and adds those of each
  /// micro-step to them. Empty: gradients stay as they are made.
  std::optional<Number> grad_accum_dtype{};
  bool reduce_scatter = true;  ///< stage 3; else buckets are all-reduced
  /// offload_optimizer of device cpu: fp32 masters, gradients and states are in host memory, and the CPU
  /// steps them.
  bool offload_optimizer = false;

  auto operator<=>(const Zero&) const = default;

  bool overlaps() const { return overlap_comm.value_or(stage == 3); }
  bool adds_in_fp32() const { return grad_accum_dtype == Number::fp32; }
};

/// Megatron-Core's data parallelism.
struct DistributedOptimizer {
  bool shards = true;  ///< --use-distributed-optimizer; else every rank steps all parameters
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  std::optional<double> bucket_size{};  ///< elements; empty: Megatron's own, 40e6 or 1e6 a rank
  Number grad_reduce_dtype = Number::fp32;
  bool fp8_param_gather = false;  ///< --fp8-param-gather: weights are kept and gathered in fp8
  /// InternLM's optimizer in place of Megatron's: gradients are all-reduced, and of so many ranks each steps
  /// whole tensors of its own and broadcasts them.
  std::optional<int> tensor_owners{};
  /// Products of weights' gradients add them to the buffers themselves (apex's
  /// fused_weight_gradient_mlp_cuda); false: another kernel does, --no-gradient-accumulation-fusion and all
  /// that is older than Megatron-LM 3.0.
  bool gradient_accumulation_fusion = true;
  auto operator<=>(const DistributedOptimizer&) const = default;
};

/// A collective without a model, as benchmarks call it over and over.
struct OneCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size{};  ///< the buffer on each rank (all-gather, reduce-scatter: the large one)
  bool one_by_one =
      false;  ///< PyTorch issues each call and waits for it; else they follow each other on the GPU
  auto operator<=>(const OneCollective&) const = default;
};

/// How ranks work together, each kind with its own settings. What each does is a `Sync` in `plan/`.
using Strategy = std::variant<Ddp, Alone, OneCollective, Fsdp, Fsdp1, Zero, DistributedOptimizer>;

bool trains(const Strategy& strategy);

/// Whether what lies between products is of 16 bits.
constexpr bool is_half(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16 || precision == Precision::fp8;
}

/// Whose exchanges between ranks of a model it is: PyTorch's (and torchtitan's), Megatron-Core's,
/// DeepSpeed's.
enum class Framework : std::uint8_t { pytorch, megatron, deepspeed };
inline constexpr std::array<std::string_view, 3> framework_words{"pytorch", "megatron", "deepspeed"};
constexpr std::string_view name_of(Framework framework) {
  return framework_words[static_cast<std::size_t>(framework)];
}

/// What the CPU launches as CUDA graphs: nothing; each block of the model, forward and backward
/// (`torch.cuda.make_graphed_callables`, Megatron-Core's `--cuda-graph-impl`); the whole step.
enum class CudaGraphs : std::uint8_t { none, layers, step };
inline constexpr std::array<std::string_view, 3> cuda_graphs_words{"none", "layers", "step"};
constexpr std::string_view name_of(CudaGraphs graphs) {
  return cuda_graphs_words[static_cast<std::size_t>(graphs)];
}

/// How the experts of a layer run: as products of groups of rows, or one expert after the other, each with
/// rows that the CPU reads back from the GPU (Hugging Face's experts_implementation "eager").
enum class ExpertProducts : std::uint8_t { grouped, loop };
inline constexpr std::array<std::string_view, 2> expert_products_words{"grouped", "loop"};
constexpr std::string_view name_of(ExpertProducts products) {
  return expert_products_words[static_cast<std::size_t>(products)];
}

/// How the batch reaches the GPU: PyTorch's DataLoader, of each rank one.
struct InputSettings {
  std::vector<std::string> columns{};    ///< that are read of a Parquet file; empty: all
  std::optional<Dataset> dataset{};      ///< empty: samples are in memory, ready
  std::optional<StorageTier> storage{};  ///< empty: they are in host memory
  bool shares_network = false;           ///< it comes over the network cards that NCCL uses
  double storage_weight = 1;     ///< there: the share of a worker that reads, against a collective's of 1
  std::optional<Cache> cache{};  ///< in front of it
  bool first_epoch = false;      ///< the cache is empty, and no worker stands
  std::optional<Codec> codec{};  ///< that samples are packed with
  bool decode_on_gpu = false;
  bool pin_memory = true;
  int loader_workers = 8;           ///< 0: the training process does their work
  int prefetch_factor = 2;          ///< batches ahead, a worker
  bool persistent_workers = false;  ///< they stay from one epoch to the next
  /// Of a worker, one after the other: own measurement, 2026-11-22, first batches of 1 to 32 workers that are
  /// forked from a process with a list of 3,000 files (docs/data-path.md).
  Seconds worker_start{6.2e-3};
  bool draws_sizes =
      false;  ///< each batch has samples of other sizes, as the dataset's spread says; else the mean
  Seconds batch_overhead{};          ///< CPU time of the training process for each batch that it takes
  double batch_overhead_spread = 0;  ///< its standard deviation over the mean; drawn by rank and step
  std::optional<int>
      epoch_steps{};  ///< an epoch of so many steps is simulated as a whole; empty: one in its midst
  std::optional<CopyStart>
      prefetch{};           ///< of the batch that comes next; empty: each is copied in its own step
  Bytes background_copy{};  ///< each GPU also copies this much from pinned memory beside every step
  CopyStart background_start = CopyStart::ahead;
};

/// A neighbour's traffic between two parts of the platform, as long as the job runs.
struct BackgroundFlow {
  std::string from;  ///< names of devices
  std::string to;
  std::optional<BytesPerSecond> rate;  ///< that it would like
  double load = 1;                     ///< without a rate: the share that it would like of the slowest link
  double weight = 1;                   ///< its share against a flow of weight 1 where they meet
};

/// When the training loop calls `zero_grad(set_to_none=True)`, which frees the gradients: after the
/// optimizer's step (or before the next forward pass), or between the forward and the backward pass.
enum class ZeroGrad : std::uint8_t { after_step, before_backward };
inline constexpr std::array<std::string_view, 2> zero_grad_words{"after_step", "before_backward"};
constexpr std::string_view name_of(ZeroGrad when) {
  return zero_grad_words[static_cast<std::size_t>(when)];
}

/// A training job: everything but the model and the hardware.
struct Job {
  int gpus = 1;
  int batch_per_gpu = 1;
  Precision precision = Precision::fp32;
  std::optional<Fp8Recipe> fp8_recipe{};  ///< empty: the framework's own, see `fp8_of`
  /// Format in which ranks keep parameters, gradients and optimizer states, as after `model.to(bfloat16)`.
  Number state_dtype = Number::fp32;
  int accumulate = 1;
  int sequence = 0;  ///< tokens a sample, for models of text; 0: the model's own
  AttentionKernel attention = AttentionKernel::automatic;
  bool channels_last = false;    ///< images and convolutions in NHWC
  bool compiled = false;         ///< torch.compile
  bool fused_loss = false;       ///< the loss is one kernel: the compiler's, or one that the program calls
  bool composed_norms = false;   ///< RMSNorms are written out in operations of PyTorch, not one kernel
  bool composed_rotary = false;  ///< rotary positions are, in the model's own precision
  Recompute recompute = Recompute::none;
  int recompute_every = 1;  ///< recompute full: of so many blocks one
  ZeroGrad zero_grad = ZeroGrad::after_step;
  bool float_logits = true;      ///< under autocast the loss is taken of `logits.float()`
  bool launch_blocking = false;  ///< CUDA_LAUNCH_BLOCKING=1: the CPU waits for the end of each kernel
  double slow_gpu = 1;           ///< kernels of the last rank take so many times as long: a straggler
  CudaGraphs cuda_graphs = CudaGraphs::none;
  ExpertProducts experts = ExpertProducts::grouped;
  Framework framework = Framework::pytorch;
  Layout layout;
  std::optional<Lora> lora{};           ///< empty: all parameters are trained
  bool clip_grad_norm = false;          ///< gradients are scaled by their norm before the optimizer's step
  Strategy strategy;                    ///< of all ranks; those of one worker if there are several
  std::optional<LocalSgd> local_sgd{};  ///< the job is that of one worker of several, which seldom meet
  Optimizer optimizer = Optimizer::sgd;
  InputSettings input;
  std::vector<BackgroundFlow> traffic;
  std::map<std::string, std::string> nccl;  ///< checked variables of NCCL, by name
  int steps = 1;

  /// Ranks that train the same part of the model on other samples.
  int data_parallel() const { return gpus / layout.ranks_of_model(); }
  /// Ranks that hold the same part of the model, and add up its gradients; those of experts are others.
  int replicas() const { return gpus / (layout.tensor * layout.pipeline); }
  int expert_replicas() const { return gpus / (layout.expert_tensor * layout.expert * layout.pipeline); }
  /// Of a step, of all ranks.
  double samples() const { return static_cast<double>(data_parallel()) * batch_per_gpu * accumulate; }
};

/// Whether parameters are of 16 bits where the GPU computes, so that autocast has nothing to cast.
bool half_parameters(const Job& job);
/// Whether parameters, gradients and optimizer states are kept in 16 bits, without masters in fp32.
inline bool has_half_states(const Job& job) {
  return job.state_dtype != Number::fp32;
}
/// Whether the GPU computes with parameters of 16 bits while the optimizer steps masters in fp32.
bool has_fp32_masters(const Job& job);

/// How a job's linear layers run in 8 bits; empty: its precision is another. Without a recipe: torchao's
/// `tensorwise`, or `delayed` of Transformer Engine in Megatron's modules, which are always that engine's.
std::optional<Fp8> fp8_of(const Job& job);
/// Whether ranks find out together how operands are scaled: with delayed scaling.
bool shares_scales(const Job& job);

/// Whether layers are Megatron-Core's modules, with packed projections: also under DeepSpeed, if it cuts the
/// model.
bool has_megatron_modules(const Job& job);

/// Whether the CPU must know how many rows the experts of a layer get before it launches their kernels.
/// PyTorch's grouped products read the counts on the GPU; Megatron-Core's dispatcher copies them to the host.
/// @source Megatron-Core, transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher.preprocess
bool reads_counts(const Job& job);

/// How often the sharded group is repeated; 1 where there is none.
int replicas_of(const Strategy& strategy);

}  // namespace gradway
