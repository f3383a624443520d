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
#include "sim/platform/network_conditions.hpp"
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

/// Ranks exchange neither gradients nor parameters.
struct NoExchange {
  auto operator<=>(const NoExchange&) const = default;
};

/// PyTorch's DistributedDataParallel.
struct Ddp {
  std::optional<Bytes>
      bucket_cap{};  ///< empty: PyTorch's own, 1 MiB for the first bucket and 25 MiB for the others
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  CommHook comm_hook = CommHook::none;
  int powersgd_rank = 1;
  bool zero_redundancy = false;            ///< ZeroRedundancyOptimizer: each rank updates whole parameters
  bool parameters_as_bucket_view = false;  ///< ZeroRedundancyOptimizer sends them in one message
  bool broadcast_buffers = true;           ///< rank 0's buffers are broadcast before each forward pass
  bool find_unused_parameters = false;
  int unused_parameters = 0;  ///< parameters that get no gradient in a step
  auto operator<=>(const Ddp&) const = default;

  /// Whether each step searches the autograd graph for unused parameters (c10d's dynamic_graph_find_unused).
  bool searches_each_step() const { return find_unused_parameters && !static_graph; }
};

/// Which parameters `fully_shard` and FSDP gather and reduce together.
struct Wrap {
  int blocks =
      1;  ///< repeated blocks per group, the rest is the root group; 0: one group for the whole model
  auto operator<=>(const Wrap&) const = default;
};

/// How a sharded model's checkpoint is written: each rank its shards; or whole parameters, which each rank
/// gathers on its GPU one after the other and moves to the host, or keeps on the GPU.
enum class StateDict : std::uint8_t { sharded, full_on_cpu, full_on_gpu };
inline constexpr std::array<std::string_view, 3> state_dict_words{"sharded", "full_on_cpu", "full_on_gpu"};
constexpr std::string_view name_of(StateDict state_dict) {
  return state_dict_words[static_cast<std::size_t>(state_dict)];
}

/// FSDP2 shards parameters, gradients and optimizer states:
/// `torch.distributed.fsdp.fully_shard` on each block, then on the model.
struct Fsdp {
  static constexpr int over_all =
      0;  ///< parameters are freed after the forward pass and gathered again from all ranks
  static constexpr int kept = 1;  ///< parameters stay gathered
  Wrap wrap{};
  std::optional<int> reshard{};  ///< number of ranks, or a constant above; empty: PyTorch's choice,
                                 ///< `over_all` but for the root
  int forward_prefetch = 0;   ///< groups that are prefetched explicitly; 0: those that the CPU issues ahead
  int backward_prefetch = 0;  ///< 0: one group, PyTorch's implicit prefetching
  std::optional<Number> param_dtype{};  ///< format of gathered parameters and of the computation; empty: fp32
  std::optional<Number> reduce_dtype{};  ///< format of reduced gradients; empty: that of the gradients
  bool no_sync = false;                  ///< only the last micro-batch reduces gradients
  StateDict state_dict = StateDict::sharded;
  bool init_on_gpu = false;     ///< each GPU has the whole model until it is sharded
  int replicate = 1;            ///< HSDP: number of replicas of the sharded group
  bool cpu_offload = false;     ///< CPUOffloadPolicy: shards, gradients and states are in host memory
  bool megatron_fsdp = false;   ///< NVIDIA's megatron_fsdp instead of PyTorch's fully_shard
  bool fp8_all_gather = false;  ///< torchao's enable_fsdp_float8_all_gather, with precomputed scales
  auto operator<=>(const Fsdp&) const = default;
};

/// FSDP1: `FullyShardedDataParallel`, where each group is one flat parameter.
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
  StateDict state_dict = StateDict::sharded;
  bool init_on_gpu = false;
  int replicate = 1;  ///< HYBRID_SHARD: number of replicas of the sharded group
  auto operator<=>(const Fsdp1&) const = default;
};

/// DeepSpeed's ZeRO. The model has 16-bit parameters, or fp32 parameters with precision fp32.
struct Zero {
  int stage = 1;
  double reduce_bucket_size = 5e8;           ///< elements
  std::optional<bool> overlap_comm{};        ///< empty: DeepSpeed's own, false for stages 1 and 2, true for 3
  double prefetch_bucket_size = 5e7;         ///< elements, stage 3
  double max_live_parameters = 1e9;          ///< elements, stage 3
  double max_reuse_distance = 1e9;           ///< elements, stage 3
  double param_persistence_threshold = 1e5;  ///< elements, stage 3
  std::optional<Number> communication_dtype{};  ///< format of reduced gradients; empty: that of the model
  /// Stage 1 in bf16: BF16_Optimizer accumulates the gradients of micro-batches in unsharded fp32 buffers.
  /// Empty: gradients keep their format.
  std::optional<Number> grad_accum_dtype{};
  bool reduce_scatter = true;  ///< stage 3; false: buckets are all-reduced
  /// offload_optimizer with device cpu: fp32 master weights, gradients and states are in host memory, and the
  /// CPU runs the optimizer.
  bool offload_optimizer = false;
  bool offload_param = false;  ///< stage 3: shards of the 16-bit parameters are in host memory, too
  // ZeRO++, stage 3.
  int zero_hpz_partition_size = 1;        ///< ranks that hold a second copy of the parameters together
  bool zero_quantized_weights = false;    ///< parameters are gathered in int8
  bool zero_quantized_gradients = false;  ///< gradients are reduced in int4, if the job has several nodes

  auto operator<=>(const Zero&) const = default;

  bool overlaps() const { return overlap_comm.value_or(stage == 3); }
  bool adds_in_fp32() const { return grad_accum_dtype == Number::fp32; }
};

/// Megatron-Core's data parallelism.
struct DistributedOptimizer {
  bool shards = true;  ///< --use-distributed-optimizer; false: every rank updates all parameters
  int instances = 1;   ///< groups of ranks, each of which shards the whole optimizer
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  std::optional<double> bucket_size{};  ///< elements; empty: Megatron's own, 40e6 or 1e6 per rank
  Number grad_reduce_dtype = Number::fp32;
  bool fp8_param_gather = false;  ///< --fp8-param-gather: weights are kept and gathered in fp8
  /// InternLM's optimizer instead of Megatron's: gradients are all-reduced, and each of this many ranks
  /// updates whole tensors and broadcasts them.
  std::optional<int> tensor_owners{};
  /// The products of weight gradients accumulate into the gradient buffers (apex's
  /// fused_weight_gradient_mlp_cuda). False: a separate kernel does (--no-gradient-accumulation-fusion, and
  /// Megatron-LM before 3.0).
  bool gradient_accumulation_fusion = true;
  auto operator<=>(const DistributedOptimizer&) const = default;
};

/// Repeated calls of one collective without a model, as in benchmarks.
struct OneCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size{};  ///< buffer on each rank; of all-gather and reduce-scatter the large one
  bool one_by_one =
      false;  ///< PyTorch issues each call and waits for it; false: calls follow each other on the GPU
  auto operator<=>(const OneCollective&) const = default;
};

/// How ranks share the training, with the settings of each kind. `plan/` implements each as a `Sync`.
using Strategy = std::variant<Ddp, NoExchange, OneCollective, Fsdp, Fsdp1, Zero, DistributedOptimizer>;

bool trains(const Strategy& strategy);

/// Whether activations between matrix products have 16 bits.
constexpr bool is_half(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16 || has_scales(precision);
}

/// Framework whose communication within the model is simulated. `pytorch` stands for torchtitan as well.
enum class Framework : std::uint8_t { pytorch, megatron, deepspeed };
inline constexpr std::array<std::string_view, 3> framework_words{"pytorch", "megatron", "deepspeed"};
constexpr std::string_view name_of(Framework framework) {
  return framework_words[static_cast<std::size_t>(framework)];
}

/// What is captured in CUDA graphs: nothing; each block of the model, forward and backward
/// (`torch.cuda.make_graphed_callables`, Megatron-Core's `--cuda-graph-impl`); the whole step.
enum class CudaGraphs : std::uint8_t { none, layers, step, reduce_overhead };
inline constexpr std::array<std::string_view, 4> cuda_graphs_words{"none", "layers", "step",
                                                                   "reduce_overhead"};
/// Whether graphs are those of a pass or of its blocks, so that gradients are ready when a graph ends.
constexpr bool captures_passes(CudaGraphs graphs) {
  return graphs == CudaGraphs::layers || graphs == CudaGraphs::reduce_overhead;
}
constexpr std::string_view name_of(CudaGraphs graphs) {
  return cuda_graphs_words[static_cast<std::size_t>(graphs)];
}

/// How the experts of a layer are computed: in grouped matrix products, or one expert after the other, each
/// with row indices that the CPU reads back from the GPU (Hugging Face's experts_implementation "eager").
enum class ExpertProducts : std::uint8_t { grouped, loop };
inline constexpr std::array<std::string_view, 2> expert_products_words{"grouped", "loop"};
constexpr std::string_view name_of(ExpertProducts products) {
  return expert_products_words[static_cast<std::size_t>(products)];
}

/// How batches reach the GPU: PyTorch's DataLoader, one per rank.
struct InputSettings {
  std::vector<std::string> columns{};    ///< of a Parquet file that are read; empty: all
  std::optional<Dataset> dataset{};      ///< empty: samples are ready in memory
  std::optional<StorageTier> storage{};  ///< empty: the dataset is in host memory
  bool shares_network = false;           ///< samples come over the NICs that NCCL uses
  double storage_weight = 1;     ///< with shares_network: weight of a reading worker; a collective has 1
  std::optional<Cache> cache{};  ///< of the storage, in each node
  bool first_epoch = false;      ///< caches are empty, and workers have yet to be started
  std::optional<Codec> codec{};  ///< lossless compression
  CodecPlace codec_in = CodecPlace::everywhere;
  DedupPlace dedup = DedupPlace::none;
  bool cache_prefetch = false;               ///< reads coming samples into the cache; their order is known
  std::optional<StorageTier> staged_from{};  ///< where the dataset is at first; empty: on `storage`
  StageIn stage_in = StageIn::before;
  /// Requests that each node has in flight while it stages the dataset or prefetches into its cache. Default:
  /// max_concurrent_requests of the AWS CLI (docs.aws.amazon.com/cli, S3 configuration).
  int copy_streams = 10;
  /// Share of the samples that are not staged yet; empty: see `cold_share`. Not a key.
  std::optional<double> unstaged{};
  LoaderKind loader = LoaderKind::pytorch;
  bool decode_on_gpu = false;
  /// DALI: share of the images that the GPU's JPEG decoder decodes. Empty: DALI's default, or 0 if the GPU
  /// has none; see `hw_decoder_load_of`.
  std::optional<double> hw_decoder_load{};
  std::optional<Predicate> predicate{};      ///< on the rows of a Parquet dataset
  CsvParser csv_parser = CsvParser::pandas;  ///< of a CSV dataset
  AccessOrder access = AccessOrder::random;  ///< of a memory-mapped dataset
  Bytes read_ahead{131072};                  ///< of a memory-mapped dataset; Linux's default (mm/bdi)
  bool pin_memory = true;
  int loader_workers = 8;           ///< or threads; 0: the training process loads the data
  bool tunes_threads = false;       ///< tf.data's AUTOTUNE chose `loader_workers`
  int prefetch_factor = 2;          ///< batches loaded in advance, by each worker or by all threads
  bool persistent_workers = false;  ///< workers are kept from one epoch to the next
  /// Time to start one worker; workers start one after the other. Own measurement, 2026-11-22: first batches
  /// of 1 to 32 workers, forked from a process with a list of 3,000 files (docs/data-path.md).
  Seconds worker_start{6.2e-3};
  bool draws_sizes = false;  ///< sample sizes are drawn with the dataset's spread; false: all have the mean
  Seconds batch_overhead{};  ///< CPU time of the training process for each batch that it receives
  double batch_overhead_spread = 0;  ///< its standard deviation over the mean, drawn for each rank and step
  std::optional<int>
      epoch_steps{};  ///< simulates a whole epoch of this many steps; empty: a step in the middle of one
  std::optional<CopyStart>
      prefetch{};  ///< start of the copy of the next batch; empty: each batch is copied in its own step
  Bytes background_copy{};  ///< each GPU also copies this much from pinned memory during every step
  CopyStart background_start = CopyStart::ahead;
};

/// Traffic of another job between two devices of the platform.
struct BackgroundFlow {
  std::string from;  ///< name of the sending device
  std::string to;
  std::optional<BytesPerSecond> rate;  ///< demand
  double load = 1;                     ///< without a rate: demand as a share of the slowest link
  double weight = 1;             ///< weight on a link that it shares with the job's flows, whose weight is 1
  Seconds start{};               ///< first start, after that of the simulated steps
  std::optional<Seconds> end{};  ///< first end; empty: never
  std::optional<Seconds> period{};  ///< from one start to the next; empty: it does not start again
};

/// When the training loop calls `zero_grad(set_to_none=True)`, which frees the gradients: after the
/// optimizer's step (or before the next forward pass), or between the forward and the backward pass.
enum class ZeroGrad : std::uint8_t { after_step, before_backward };
inline constexpr std::array<std::string_view, 2> zero_grad_words{"after_step", "before_backward"};
constexpr std::string_view name_of(ZeroGrad when) {
  return zero_grad_words[static_cast<std::size_t>(when)];
}

/// After which phase of the step the program reads values back.
enum class HostReadsAfter : std::uint8_t { forward, backward, optimizer };
inline constexpr std::array<std::string_view, 3> host_reads_after_words{"forward", "backward", "optimizer"};
constexpr std::string_view name_of(HostReadsAfter when) {
  return host_reads_after_words[static_cast<std::size_t>(when)];
}

/// A training job: everything except the model and the hardware.
struct Job {
  int gpus = 1;
  int batch_per_gpu = 1;
  Precision precision = Precision::fp32;
  std::optional<Fp8Recipe> fp8_recipe{};  ///< empty: the framework's default, see `fp8_of`
  bool fp8_attention = false;             ///< Transformer Engine's fp8_dpa
  /// Format in which ranks keep parameters, gradients and optimizer states, as after `model.to(bfloat16)`.
  Number state_dtype = Number::fp32;
  int accumulate = 1;
  int sequence = 0;         ///< tokens per sample of text models; 0: the model's own
  int segment = 0;          ///< nodes of the job in an NVLink domain; 0: all that the domain has
  int document_length = 0;  ///< tokens of the documents that are packed into a sample; 0: one document
  AttentionKernel attention = AttentionKernel::automatic;
  bool channels_last = false;  ///< images and convolutions in NHWC
  bool compiled = false;       ///< torch.compile
  bool fused_loss = false;     ///< the loss is one kernel, generated by the compiler or called by the program
  bool composed_norms = false;  ///< RMSNorm is composed of separate operations
  Implementation implementation = Implementation::automatic;
  Fusions fusions = Fusions::all;  ///< of Megatron's modules
  Recompute recompute = Recompute::none;
  std::string recompute_modules{"core_attn"};  ///< words of `RecomputedModule`, by recompute selective
  int recompute_every = 1;                     ///< with recompute full: one of this many blocks is recomputed
  bool recompute_offload = false;              ///< inputs of recomputed blocks wait in host memory
  std::string offload_activations;             ///< words of `OffloadedModule`; empty: none
  int loss_chunk = 0;                          ///< rows whose logits exist at a time; 0: all
  int mlp_tiles = 1;                           ///< parts of a sample for which MLPs run one after another
  int eval_batch = 0;                          ///< samples that a GPU evaluates at a time; 0: no evaluation
  int eval_sequence = 0;                       ///< their tokens; 0: those of training
  bool expandable_segments = false;            ///< PyTorch's allocator grows its segments page by page
  bool deterministic = false;                  ///< torch.use_deterministic_algorithms
  ZeroGrad zero_grad = ZeroGrad::after_step;
  bool float_logits = true;      ///< under autocast the loss is computed from `logits.float()`
  bool launch_blocking = false;  ///< CUDA_LAUNCH_BLOCKING=1: the CPU waits for each kernel
  double slow_gpu = 1;           ///< slow-down of the kernels of the last rank, a straggler
  CudaGraphs cuda_graphs = CudaGraphs::none;
  ExpertProducts experts = ExpertProducts::grouped;
  Framework framework = Framework::pytorch;
  Layout layout;
  std::optional<Lora> lora{};          ///< empty: all parameters are trained
  bool clip_grad_norm = false;         ///< gradients are clipped by their norm before the optimizer step
  bool optimizer_in_backward = false;  ///< each parameter is updated as soon as its gradient is made
  int host_reads = 0;  ///< values that the program reads back from the GPU in a step (`.item()`)
  HostReadsAfter host_reads_after = HostReadsAfter::optimizer;
  Bytes host_read_size{4};
  int reduced_metrics = 0;       ///< of the values that are read: those that are all-reduced first
  bool sync_batch_norm = false;  ///< SyncBatchNorm: statistics over the batches of all ranks
  Strategy strategy;             ///< of all ranks; with local SGD of the ranks of one worker
  std::optional<LocalSgd>
      local_sgd{};  ///< the job is that of one worker, and workers exchange updates rarely
  Optimizer optimizer = Optimizer::sgd;
  InputSettings input;
  std::vector<BackgroundFlow> traffic;
  NetworkConditions network{};              ///< that differ from those of the platform
  std::map<std::string, std::string> nccl;  ///< checked environment variables of NCCL, by name
  int steps = 1;

  /// Number of ranks that train the same model shard on different samples.
  int data_parallel() const { return gpus / layout.model_parallel_ranks(); }
  /// Number of ranks that hold the same model shard and reduce its gradients; experts have other groups.
  int replicas() const { return gpus / (layout.tensor * layout.pipeline); }
  int expert_replicas() const { return gpus / (layout.expert_tensor * layout.expert * layout.pipeline); }
  /// Samples of a step over all ranks: the global batch.
  double samples() const { return static_cast<double>(data_parallel()) * batch_per_gpu * accumulate; }
};

/// Whether the GPU computes with 16-bit parameters, so that autocast has nothing to cast.
bool half_parameters(const Job& job);
/// Whether parameters, gradients and optimizer states have 16 bits, without fp32 master weights.
inline bool has_half_states(const Job& job) {
  return job.state_dtype != Number::fp32;
}
/// Whether the GPU computes with 16-bit parameters while the optimizer updates fp32 master weights.
bool has_fp32_masters(const Job& job);

/// How a job's linear layers run in fp8; empty with another precision. The default recipe is torchao's
/// `tensorwise`, or Transformer Engine's `delayed` in Megatron's modules, which always use that engine.
std::optional<Fp8> fp8_of(const Job& job);
/// Whether ranks exchange the scales of fp8 operands, as with delayed scaling.
bool exchanges_fp8_scales(const Job& job);

/// Whether layers are Megatron-Core's modules, with packed projections. DeepSpeed uses them with model
/// parallelism.
bool has_megatron_modules(const Job& job);

/// Whether the CPU waits for the row counts of a layer's experts before it launches their kernels.
/// PyTorch's grouped products read the counts on the GPU; Megatron-Core's dispatcher copies them to the host.
/// @source Megatron-Core, transformer/moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher.preprocess
bool waits_for_row_counts(const Job& job);

/// Number of replicas of the sharded group; 1 without one.
int replicas_of(const Strategy& strategy);

}  // namespace gradway
