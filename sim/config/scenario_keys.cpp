// SPDX-License-Identifier: Apache-2.0
#include "sim/config/scenario_keys.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/campaign_keys.hpp"
#include "sim/config/likely_meant.hpp"
#include "sim/config/local_sgd_keys.hpp"
#include "sim/config/nccl_variables.hpp"
#include "sim/platform/speeds.hpp"

namespace gradway::config {
namespace {

constexpr bool required = true;
constexpr bool in_files_only = false;

std::vector<ScenarioKey> fixed_keys() {
  return {
      {"schema", "1", "the version of this format; the first key of every file", "", required, in_files_only},
      {"source", "a text", "where the scenario comes from, for people", "", false, in_files_only},
      {"based_on", "a name", "another scenario, which gives the keys and groups that this one lacks", "",
       false, in_files_only},
      {"model", "a name", "what is trained: gradway list models; none with strategy.kind collective", "",
       required},
      {"platform", "a name", "the hardware: gradway list platforms", "", required},
      {"job", "a map", "how it is trained", "", required},
      {"job.gpus", "1 to 1048576", "ranks, one on each GPU; nodes follow from the platform", "", required},
      {"job.batch_per_gpu", "1 to 1000000",
       "samples of a micro-step on each GPU; 1 with strategy.kind collective", "", required},
      {"job.precision", "fp32, tf32, bf16, fp16, fp8",
       "of kernels; bf16 and fp16 by autocast: weights and gradients stay fp32; fp8: bf16, but for the "
       "products "
       "of linear layers in the model's blocks; a profile brings its own",
       "fp32"},
      {"job.fp8_recipe", "tensorwise, rowwise, delayed",
       "precision fp8: how operands are scaled: by torchao's recipes, or by Transformer Engine's delayed "
       "scaling; left out, tensorwise, or delayed with framework megatron, whose tensorwise is Transformer "
       "Engine's current scaling"},
      {"job.state_dtype", "fp32, bf16, fp16",
       "format in which ranks keep parameters, gradients and optimizer states, under every strategy; bf16 "
       "and "
       "fp16: as after model.to(bfloat16), without autocast and without masters in fp32",
       "fp32"},
      {"job.accumulate", "1 to 10000", "micro-steps to one optimizer step, under DDP's no_sync", "1"},
      {"job.global_batch", "1 to 1000000000",
       "samples of a step, over all ranks, in place of job.accumulate, which then follows from it, "
       "job.batch_per_gpu and the data-parallel ranks"},
      {"job.sequence", "1 to 16777216", "tokens a sample, for models of text, instead of the model's own"},
      {"job.attention", "auto, cudnn, flash, flash1, efficient, math, composed",
       "implementation of scaled_dot_product_attention; auto: PyTorch's choice; flash1: FlashAttention 1, "
       "which PyTorch 2.0 and 2.1 have, or its Triton version; composed: products and a softmax in fp32 one "
       "after "
       "the other, as BERT's models and Hugging Face's attn_implementation \"eager\" have them",
       "auto"},
      {"job.memory_format", "contiguous, channels_last", "how images lie in memory: NCHW or NHWC",
       "contiguous"},
      {"job.compile", "true or false", "torch.compile: what lies between products is fused", "false"},
      {"job.compile_loss", "true or false",
       "job.compile takes in the loss as well, as with nanoGPT's models, Hugging Face's that are given "
       "labels, "
       "and torchtitan from 2025: nothing of 32 bits is as large as the logits"},
      {"job.composed_norms", "true or false",
       "RMSNorms are written out in operations, as Hugging Face's and IBM's models have them and PyTorch's "
       "own "
       "before 2.9; T5's always are; Megatron has a kernel",
       "false"},
      {"job.composed_rotary", "true or false",
       "rotary positions are written out in operations on halves of heads, as Hugging Face's models have "
       "them; "
       "without, one complex product in fp32, as in torchtitan",
       "false"},
      {"job.recompute", "none, selective, selective_op, full",
       "activation checkpointing: full: each block keeps its input alone, and runs again before its backward "
       "pass; selective_op, as torchtitan has it: but for attention and every second product, which it "
       "keeps; "
       "selective, as Megatron has it: attention keeps queries, keys and values alone",
       "none"},
      {"job.recompute_every", "1 to 10000",
       "recompute full: of so many blocks one is computed again, as torchtitan's selective_ac_option has it",
       "1"},
      {"job.zero_grad", "after_step, before_backward",
       "when the training loop frees the gradients (zero_grad): after the optimizer's step, as Hugging "
       "Face's "
       "Trainer and torchtitan do, or between the forward and the backward pass, as Lightning does; memory "
       "only",
       "after_step"},
      {"job.float_logits", "true or false",
       "under autocast the loss is taken of logits.float(), as in Hugging Face's models and torchtitan; "
       "false: "
       "of the logits as they are, as in nanoGPT; memory only",
       "true"},
      {"job.launch_blocking", "true or false",
       "CUDA_LAUNCH_BLOCKING=1: the CPU waits for each kernel and collective before it issues the next",
       "false"},
      {"job.cuda_graphs", "none, layers, step",
       "what the CPU launches as CUDA graphs: layers: each block of the model, forward and backward "
       "(torch.cuda.make_graphed_callables, Megatron's --cuda-graph-impl); step: the whole step as one "
       "graph, "
       "with Megatron all but the optimizer (full_iteration)",
       "none"},
      {"job.experts", "grouped, loop",
       "how the experts of a layer run: as grouped products (torchtitan, Megatron, Hugging Face's "
       "experts_implementation grouped_mm), or one after the other, each with rows that the CPU reads back "
       "from "
       "the GPU (Hugging Face's eager, the only one before transformers 5)",
       "grouped"},
      {"job.slow_gpu", "a slow-down from 1 to 1000",
       "kernels of one GPU, that of the last rank, take so many times as long: all others wait for it", "1"},
      {"job.framework", "pytorch, megatron, deepspeed",
       "whose exchanges between the stages of a pipeline: PyTorch's (and torchtitan's), Megatron-Core's or "
       "DeepSpeed's",
       "pytorch"},
      {"job.finetune", "full, lora, qlora",
       "what is trained: all; or low-rank adapters beside linear layers (PEFT's LoRA), all else frozen in 16 "
       "bits, qlora: linear layers of blocks in NF4",
       "full"},
      {"job.lora_rank", "1 to 65536", "finetune lora or qlora: PEFT's r", "8"},
      {"job.lora_targets", "attention, all_linear",
       "finetune lora or qlora: linear layers that have adapters: of attention (q, k, v, o), or all of the "
       "blocks",
       "all_linear"},
      {"job.clip_grad_norm", "true or false",
       "gradients are scaled by their norm before the optimizer's step: one more read, and one more read and "
       "write, of each rank's own",
       "false"},
      {"strategy", "a map", "what the ranks do together"},
      {"strategy.kind", "none, ddp, collective, fsdp, fsdp1, zero, distributed_optimizer, local_sgd",
       "PyTorch's DDP, FSDP2 and FSDP1, DeepSpeed's ZeRO, Megatron's distributed optimizer; none is one GPU "
       "alone; collective calls one collective and trains nothing; local_sgd: workers that seldom meet, each "
       "with the whole job",
       "ddp"},
      {"strategy.bucket_cap", "a size such as 25 MiB",
       "when a bucket of gradients closes; left out, PyTorch's own: 1 MiB for the first, 25 MiB for others"},
      {"strategy.static_graph", "true or false", "as DDP's; what it saves is not predicted", "false"},
      {"strategy.gradient_as_bucket_view", "true or false", "gradients live in the buckets: fewer copies",
       "false"},
      {"strategy.comm_hook", "none, fp16, bf16, powersgd", "how gradients are compressed for the way",
       "none"},
      {"strategy.powersgd_rank", "1 to 4096", "of PowerSGD's matrices", "1"},
      {"strategy.operation", "all_reduce, all_gather, reduce_scatter, broadcast, send_recv, all_to_all",
       "kind collective: what is called", "all_reduce"},
      {"strategy.size", "a size such as 1 GiB",
       "kind collective, required there: the buffer on each rank (all_gather, reduce_scatter: the large "
       "one)"},
      {"strategy.timed", "back_to_back, one_by_one",
       "kind collective: calls follow each other on the GPU, or PyTorch issues each and waits for it",
       "back_to_back"},
      {"strategy.zero_redundancy", "true or false",
       "kind ddp: ZeroRedundancyOptimizer, each rank steps whole parameters of its own and sends them",
       "false"},
      {"strategy.parameters_as_bucket_view", "true or false",
       "kind ddp: ZeroRedundancyOptimizer sends a rank's parameters in one message", "false"},
      {"strategy.wrap", "a wrapping such as 4 blocks",
       "kinds fsdp and fsdp1: what is gathered and reduced together: block, so many blocks, or whole; the "
       "rest "
       "is the root's",
       "block"},
      {"strategy.reshard_after_forward", "true, false or 2 to 1048576",
       "kind fsdp: free parameters after the forward pass, keep them, or keep them over so many ranks; left "
       "out, PyTorch's own: true for all but the root"},
      {"strategy.sharding_strategy", "full_shard, shard_grad_op", "kind fsdp1, as PyTorch's", "full_shard"},
      {"strategy.forward_prefetch", "0 to 1000",
       "kind fsdp: groups that are asked for ahead, beyond the CPU's own lead; kind fsdp1: true or false",
       "0"},
      {"strategy.backward_prefetch", "0 to 1000",
       "kind fsdp: groups that are asked for ahead, 0: one, as PyTorch does by itself; kind fsdp1: pre, post "
       "or "
       "none, as PyTorch's",
       "0"},
      {"strategy.limit_all_gathers", "true or false", "kind fsdp1, as PyTorch's", "true"},
      {"strategy.param_dtype", "fp32, bf16, fp16",
       "kinds fsdp and fsdp1: of gathered parameters and of compute; left out, fp32 under autocast"},
      {"strategy.reduce_dtype", "fp32, bf16, fp16",
       "kinds fsdp and fsdp1: of reduced gradients; left out, that of the gradients"},
      {"strategy.cpu_offload", "true or false",
       "kind fsdp: parameters, gradients and optimizer states are in host memory (CPUOffloadPolicy), and the "
       "CPU steps them",
       "false"},
      {"strategy.fp8_all_gather", "true or false",
       "kind fsdp, precision fp8: torchao's enable_fsdp_float8_all_gather: weights are cast before they are "
       "gathered, their scales found behind the optimizer's step",
       "false"},
      {"strategy.separate_reduce_scatter_group", "true or false",
       "kind fsdp: reductions on a communicator of their own (PyTorch 2.13, "
       "set_separate_reduce_scatter_group)",
       "false"},
      {"strategy.reduce_scatter_max_input_buffers", "1 to 1000",
       "kind fsdp: groups whose gradients may wait for their reduction at once (PyTorch 2.13, "
       "set_reduce_scatter_max_input_buffers)",
       "1"},
      {"strategy.no_sync", "true or false",
       "kinds fsdp and fsdp1: of several micro-steps only the last reduces", "false"},
      {"strategy.stage", "1 to 3", "kind zero: what is split: optimizer, gradients too, parameters too", "1"},
      {"strategy.reduce_bucket_size", "elements such as 5e8",
       "kind zero: gradients that are reduced together", "5e8"},
      {"strategy.overlap_comm", "true or false", "kind zero; left out, DeepSpeed's own: true for stage 3"},
      {"strategy.prefetch_bucket_size", "elements such as 5e7",
       "kind zero, stage 3: that are asked for ahead", "5e7"},
      {"strategy.max_live_parameters", "elements such as 1e9",
       "kind zero, stage 3: that are gathered at once", "1e9"},
      {"strategy.max_reuse_distance", "elements such as 1e9",
       "kind zero, stage 3: what is used again before so many others stays", "1e9"},
      {"strategy.param_persistence_threshold", "elements such as 1e5",
       "kind zero, stage 3: parameters that stay gathered", "1e5"},
      {"strategy.communication_dtype", "fp32, bf16, fp16",
       "kind zero: of reduced gradients; left out, that of the model"},
      {"strategy.grad_accum_dtype", "fp32, bf16",
       "kind zero, stage 1, in bf16: what gradients of micro-steps are added up in; left out, bf16"},
      {"strategy.reduce_scatter", "true or false",
       "kind zero, stage 3: gradients are reduce-scattered, else all-reduced", "true"},
      {"strategy.offload_optimizer", "true or false",
       "kind zero: DeepSpeed's offload_optimizer of device cpu: fp32 weights, gradients and optimizer states "
       "are in host memory, and the CPU steps them",
       "false"},
      {"strategy.synchronous_gathers", "true or false",
       "kind zero, stage 3: as DeepSpeed 0.3 of 2021 gathered: tensor by tensor, slice by slice, and the CPU "
       "waits "
       "for the GPU",
       "false"},
      {"strategy.overlap_grad_reduce", "true or false",
       "kind distributed_optimizer: reductions beside the backward pass", "false"},
      {"strategy.overlap_param_gather", "true or false",
       "kind distributed_optimizer: gathers beside the forward pass", "false"},
      {"strategy.shard_optimizer", "true or false",
       "kind distributed_optimizer: false is Megatron's data parallelism without it: gradients are "
       "all-reduced, "
       "and each rank steps all parameters",
       "true"},
      {"strategy.bucket_size", "elements such as 4e7",
       "kind distributed_optimizer; left out, Megatron's own: 4e7, or 1e6 a rank if that is more"},
      {"strategy.grad_reduce_dtype", "fp32, bf16, fp16", "kind distributed_optimizer: of reduced gradients",
       "fp32"},
      {"strategy.fp8_param_gather", "true or false",
       "kind distributed_optimizer, precision fp8: Megatron's --fp8-param-gather: weights are kept and "
       "gathered "
       "in fp8",
       "false"},
      {"strategy.tensor_owners", "1 to 1048576",
       "kind distributed_optimizer: InternLM's (zero1) in place of Megatron's: gradients are all-reduced, of "
       "so "
       "many ranks each steps whole tensors and broadcasts them; left out, even slices"},
      {"strategy.gradient_accumulation_fusion", "true or false",
       "kind distributed_optimizer: products of weights' gradients add them to their buffers; false "
       "(Megatron's --no-gradient-accumulation-fusion): a kernel of its own adds each gradient",
       "true"},
      {"parallel", "a map", "how ranks are laid out; what is left of job.gpus is data parallel"},
      {"parallel.tensor", "1 to 1048576", "ranks that share each layer", "1"},
      {"parallel.sequence", "true or false",
       "between products each tensor rank has its part of the tokens: sequence parallelism", "false"},
      {"parallel.overlap", "none, async, userbuffers, async_tp",
       "Megatron: what tensor ranks send beside products. async: gradients of inputs beside the product of "
       "the weight's; none: nothing, as before September 2021 (--no-async-tensor-model-parallel-allreduce); "
       "userbuffers, with sequence parallelism: all of it piece by piece beside parts of the products "
       "(--tp-comm-overlap). PyTorch: async_tp, with sequence parallelism and compiled: gathers before a "
       "product and sums behind one, piece by piece beside its parts (enable_async_tensor_parallel)",
       "async"},
      {"parallel.context", "1 to 1048576",
       "ranks that each have a part of every sequence, and exchange what attention needs", "1"},
      {"parallel.context_method", "ring, all_gather, all_to_all",
       "keys and values go round beside attention, are gathered, or each rank has whole sequences of some "
       "heads (Ulysses)",
       "ring"},
      {"parallel.expert", "1 to 1048576", "ranks that share the experts of a layer, and send them tokens",
       "1"},
      {"parallel.expert_tensor", "1 to 1048576", "ranks that share each expert", "1"},
      {"parallel.expert_imbalance", "a number from 1 to 1000",
       "rows that the experts of the busiest rank get, over those of the average", "1"},
      {"parallel.expert_capacity_factor", "a number from 0.01 to 1000",
       "room of an expert, over its even share of the rows: others are dropped, what is free is padded; left "
       "out, none is dropped, and the CPU waits for the counts"},
      {"parallel.pipeline", "1 to 1048576", "stages, one behind the other, each of some of the blocks", "1"},
      {"parallel.virtual", "1 to 1000", "chunks of the model on each rank of a pipeline", "1"},
      {"parallel.schedule", "gpipe, 1f1b, interleaved, looped_bfs, zb_h1, zb_v, dual_pipe_v",
       "the order in which a rank of a pipeline takes micro-batches: gradway show plan draws it", "1f1b"},
      {"parallel.order", "an order such as tp-cp-ep-dp-pp", "of ranks, the fastest first", "tp-cp-ep-dp-pp"},
      {"parallel.replicate", "1 to 1048576",
       "kinds fsdp and fsdp1: how often the sharded group is repeated (HSDP, HYBRID_SHARD)", "1"},
      {"optimizer", "sgd, adamw, adamw_fused, sgd_momentum, adamw_8bit, lion, lamb, muon",
       "muon: for the matrices of blocks, adamw for all else; a profile brings its own", "sgd"},
      {"input", "a map", "how the batch reaches the GPU"},
      {"input.pin_memory", "true or false", "copies from pinned host memory, beside kernels", "true"},
      {"input.loader_workers", "0 to 4096",
       "with a dataset: processes of each rank that make its batches; 0: the training process does", "8"},
      {"input.prefetch_factor", "1 to 1024", "batches that each of them is ahead, as PyTorch's", "2"},
      {"input.persistent_workers", "true or false",
       "they stay from one epoch to the next, as PyTorch's; else each epoch starts them anew", "false"},
      {"input.worker_start", "a time such as 6 ms, or 0 ms",
       "that the training process takes to start one of them", "6.2 ms"},
      {"input.dataset", "a name",
       "that is read, step by step; or its keys: samples, sample_size, format ...; left out, samples are in "
       "host "
       "memory, ready"},
      {"input.columns", "a list of names", "of a Parquet file that are read; left out, all"},
      {"input.storage", "a name",
       "of 'gradway list storage', that serves it; or a map with the keys of such a file; left out, host "
       "memory"},
      {"input.storage_network", "own, shared",
       "own: storage has network cards of its own; shared: samples come over those that NCCL uses, of each "
       "rank over the "
       "one nearest to its GPU",
       "own"},
      {"input.storage_weight", "a number from 0.001 to 1000",
       "with a shared network: the share of each worker that reads, against a collective's of 1, where they "
       "meet",
       "1"},
      {"input.codec", "lz4, snappy, zstd, zlib", "that samples are packed with"},
      {"input.decode", "cpu, gpu", "who decodes them", "cpu"},
      {"input.cache", "page_cache, local_nvme", "where each node keeps what it has read"},
      {"input.cache_size", "a size such as 500 GB", "of each node"},
      {"input.cache_policy", "keeps, lru, random",
       "what a full cache gives up: nothing, what was not read for "
       "longest, anything",
       "keeps"},
      {"input.epoch", "first, later", "the first one finds caches empty, and no worker that stands", "later"},
      {"input.sample_sizes", "mean, drawn",
       "drawn: each batch of each rank has samples of other sizes, as the dataset's spread says", "mean"},
      {"input.batch_overhead", "a time such as 1 ms, or 0 ms",
       "with a dataset: CPU time of the training process for each batch that it takes", "0 ms"},
      {"input.batch_overhead_spread", "a number from 0 to 100",
       "its standard deviation over the mean, drawn for each rank and step", "0"},
      {"input.epoch_steps", "2 to 100000",
       "with a dataset: an epoch of so many steps is simulated whole, from empty queues to its last batch; "
       "left "
       "out, a step in its midst"},
      {"input.prefetch", "none, ahead, step, forward",
       "when the copy of the next batch starts, on a stream of its own: when the CPU issues it, when the GPU "
       "begins the step, behind the forward pass; none: each batch is copied in its own step",
       "none"},
      {"input.background_copy", "a size such as 100 MB, or 0 MB",
       "what each GPU also copies from pinned host memory beside every step, for the next one", "0 MB"},
      {"input.background_start", "ahead, step, forward",
       "with a background_copy: when it starts, see input.prefetch", "ahead"},
      {"anchor", "a map",
       "a measured step on one GPU without DDP that compute is scaled to, instead of the model's own"},
      {"anchor.gpu", "a name", "the GPU: a file of platforms/gpus", "", required},
      {"anchor.precision", "fp32, tf32, bf16, fp16", "that it was measured in", "", required},
      {"anchor.batch", "1 to 1000000", "samples of the step", "", required},
      {"anchor.optimizer", "sgd, adamw, adamw_fused, sgd_momentum, adamw_8bit, lion, lamb, muon",
       "that it was measured with", "", required},
      {"anchor.step_time", "a time such as 97 ms", "this, or rate"},
      {"anchor.rate", "a rate such as 8.91 steps/s", "this, or step_time"},
      {"anchor.source", "a text", "where the measurement comes from", "", required},
      {"steps", "1 to 100000", "how many steps to simulate; the steady one is reported", "1"},
      {"traffic", "a list of maps", "what neighbours send beside the job, as long as it runs"},
      {"traffic.from", "a name", "a part that gradway show platform names", "", required, in_files_only},
      {"traffic.to", "a name", "another part", "", required, in_files_only},
      {"traffic.rate", "a bandwidth such as 10 GB/s", "what the neighbour would like; this, or load", "",
       false, in_files_only},
      {"traffic.load", "a number from 1e-6 to 1", "its share of the slowest link on the way; this, or rate",
       "", false, in_files_only},
      {"traffic.weight", "a number from 0.001 to 1000", "its share against the job's where they meet", "1",
       false, in_files_only},
  };
}

std::string meaning_of(Part part) {
  switch (part) {
    case Part::gpu:
      return "kernels, not the pauses between them";
    case Part::cpu:
      return "launches, and what else the framework does on the CPU";
    case Part::host_memory:
      return "memory of the sockets, copies from pageable memory, NCCL's copies through it (SHM)";
    case Part::pcie:
      return "links of PCIe, and NCCL's P2P over them";
    case Part::nvlink:
      return "links of NVLink, NCCL's P2P over them, and NVLS";
    case Part::inter_socket:
      return "links between sockets";
    case Part::network:
      return "links and switches, NICs with the links to their slots, connections, NCCL's NET";
  }
  return "";
}

}  // namespace

const std::vector<ScenarioKey>& described_keys() {
  static const auto all = [] {
    auto keys = fixed_keys();
    const auto of_workers = local_sgd_keys();
    keys.insert(std::ranges::find(keys, "parallel", &ScenarioKey::name), of_workers.begin(),
                of_workers.end());
    for (auto& key : campaign_keys()) keys.push_back(std::move(key));
    keys.push_back({"faster", "a map", "what if a part were so many times as fast; latencies stay"});
    for (const auto part : all_parts) {
      keys.push_back(
          {fmt::format("faster.{}", key_of(part)), "a number from 1e-6 to 1e12", meaning_of(part), "1"});
    }
    keys.push_back({"nccl", "a map", "NCCL's variables, by their own names"});
    for (auto& variable : nccl_keys()) keys.push_back(std::move(variable));
    return keys;
  }();
  return all;
}

std::vector<std::string> scenario_keys() {
  std::vector<std::string> names;
  for (const auto& key : described_keys()) {
    if (key.is_set_alone) names.push_back(key.name);
  }
  return names;
}

void check_scenario_key(const std::string& key, const Where& where) {
  const auto& known = described_keys();
  const auto found = std::ranges::find(known, key, &ScenarioKey::name);
  if (found != known.end() && found->is_set_alone) return;
  const auto names = scenario_keys();
  const auto dot = key.rfind('.');
  const auto group_name = key.substr(0, dot == std::string::npos ? 0 : dot);
  const auto last = key.substr(dot == std::string::npos ? 0 : dot + 1);
  if (is_unmodelled_variable(last))
    fail(where, fmt::format("gradway does not model '{}'", last), "leave it out");
  auto hint = hint_for_foreign_key(group_name, last);
  if (hint.empty() && !nearest(key, names).empty()) hint = suggestion(key, names);
  if (hint.empty()) {
    // The keys of its group, or those that stand by themselves, and the groups.
    const auto group = key.substr(0, key.find('.') + 1);
    std::vector<std::string> of_group;
    for (const auto& name : names) {
      const auto inner = name.substr(0, name.find('.') + 1);
      if (inner == group) of_group.push_back(name);
    }
    hint = fmt::format("known: {}; 'gradway list keys' says what they mean", fmt::join(of_group, ", "));
    if (of_group.empty()) hint = "'gradway list keys' names all";
  }
  fail(where, fmt::format("no scenario has the key '{}'", key), hint);
}

}  // namespace gradway::config
