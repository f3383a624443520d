// SPDX-License-Identifier: Apache-2.0
// The keys of `strategy`, by its kind.
#include <utility>

#include <fmt/format.h>

#include "sim/cost/calibration_words.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/field_rows.hpp"
#include "sim/scenario/key_context.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/scenario/value_text.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

constexpr std::array<std::string_view, 2> timing_words{"back_to_back", "one_by_one"};

namespace strategy_values {
constexpr value::Words dtype{"a number format", dtype_words};
constexpr value::Whole ahead{0, 1000};

/// Whether a setting of ZeRO's stage 3 counts.
bool splits_parameters(const Zero& zero) {
  return zero.stage == 3;
}

Lack fsdp2(const KeyContext& context) {
  return lack_unless(!settings_or_defaults<Fsdp>(context.job.strategy).megatron_fsdp,
                     "Megatron-FSDP has no such setting", "leave it out");
}
Lack whole_or_none(const KeyContext& context) {
  const auto over = settings_or_defaults<Fsdp>(context.job.strategy).reshard.value_or(Fsdp::kept);
  return over > Fsdp::kept ? fsdp2(context) : Lack{};
}
Lack accumulates(const KeyContext& context) {
  if (const auto lack = fsdp2(context); !lack.why.empty()) return lack;
  return lack_unless(context.job.accumulate > 1, "job.accumulate is 1",
                     "set job.accumulate, or leave it out");
}
Lack instances(const KeyContext& context) {
  const auto& job = context.job;
  const auto& settings = std::get<DistributedOptimizer>(job.strategy);
  if (!settings.shards || settings.tensor_owners)
    return lack_unless(false, "the optimizer has no shards", "leave it out");
  const bool divides = job.replicas() % settings.instances == 0 &&
                       (context.model.experts.number == 0 || job.expert_replicas() % settings.instances == 0);
  return lack_unless(divides, "it does not divide the ranks that hold the same parameters",
                     "choose a divisor of their number");
}
Lack sharded_parameters(const KeyContext& context) {
  return lack_unless(settings_or_defaults<Zero>(context.job.strategy).stage == 3,
                     "parameters are not sharded", "write 'stage: 3', or leave it out");
}
Lack second_copy(const KeyContext& context) {
  if (const auto lack = sharded_parameters(context); !lack.why.empty()) return lack;
  const auto size = settings_or_defaults<Zero>(context.job.strategy).zero_hpz_partition_size;
  const auto ranks = context.job.data_parallel();
  return lack_unless(size > ranks || ranks % size == 0, "it does not divide the data-parallel ranks",
                     "choose a divisor of their number");
}
Lack quantized_gradients(const KeyContext& context) {
  if (const auto lack = sharded_parameters(context); !lack.why.empty()) return lack;
  return lack_unless(settings_or_defaults<Zero>(context.job.strategy).reduce_scatter,
                     "gradients are all-reduced", "write 'reduce_scatter: true', or leave it out");
}
Lack offloaded_shards(const KeyContext& context) {
  if (const auto lack = sharded_parameters(context); !lack.why.empty()) return lack;
  const auto zero = settings_or_defaults<Zero>(context.job.strategy);
  return lack_unless(zero.offload_optimizer, "DeepSpeed offloads parameters only with optimizer states",
                     "write 'offload_optimizer: true', too");
}
Lack powersgd(const KeyContext& context) {
  const auto& strategy = context.job.strategy;
  return lack_unless(!is_ddp(strategy) || std::get<Ddp>(strategy).comm_hook == CommHook::powersgd,
                     "the communication hook is not powersgd",
                     "write 'comm_hook: powersgd', or leave it out");
}
Lack redundancy(const KeyContext& context) {
  const auto& strategy = context.job.strategy;
  return lack_unless(!is_ddp(strategy) || std::get<Ddp>(strategy).zero_redundancy,
                     "strategy.zero_redundancy is false", "write 'zero_redundancy: true', or leave it out");
}

using Texts = std::vector<std::string>;

Texts bucket_caps(const KeyContext& context) {
  Texts texts{""};
  if (const auto cap = std::get<Ddp>(context.job.strategy).bucket_cap)
    texts.push_back(value::text(value::Amount{value::Unit::size, ""}, cap->value()));
  return texts;
}

/// A block, the job's own number of blocks, multiples of it, and the whole model.
template <class Sharded>
Texts wraps(const KeyContext& context) {
  const auto text = [](int blocks) { return value_text(value::Wrapping{}, std::int64_t{blocks}); };
  const auto written = std::get<Sharded>(context.job.strategy).wrap.blocks;
  const auto blocks = blocks_of(context.model).count;
  Texts texts;
  if (blocks > 0) texts.emplace_back("block");
  if (written > 1) texts.push_back(text(written));
  for (const int times : {2, 4, 8}) {
    const auto together = std::max(1, written) * times;
    if (together >= blocks) break;
    texts.push_back(text(together));
  }
  texts.emplace_back("whole");
  return texts;
}

/// Parameters are freed, kept, or kept sharded over the GPUs of a node, or of a part of a single node.
Texts reshardings(const KeyContext& context) {
  const auto gpus = context.job.gpus;
  const auto nodes = node_count(*context.platform, gpus);
  Texts texts{"", "true", "false"};
  for (int ranks = 2; ranks < gpus; ++ranks)
    if (nodes > 1 ? ranks * nodes == gpus : gpus % ranks == 0) texts.push_back(fmt::to_string(ranks));
  return texts;
}
}  // namespace strategy_values

/// The keys of FSDP2 or FSDP1: how parameters are wrapped, those of one kind, and formats.
template <class Sharded>
FieldTable sharded_fields(FieldTable own) {
  FieldTable fields{
      field("wrap", &Sharded::wrap, value::Wrapping{},
            "parameters that are gathered and reduced together: those of a block, of N blocks, or of the "
            "whole model; the rest of the model belongs to the root group",
            {.tries = {.by_scenario = strategy_values::wraps<Sharded>}})};
  std::ranges::move(own, std::back_inserter(fields));
  fields.insert(
      fields.end(),
      {field("param_dtype", &Sharded::param_dtype, strategy_values::dtype,
             "format of gathered parameters and of the computation; default: fp32 under autocast"),
       field("reduce_dtype", &Sharded::reduce_dtype, strategy_values::dtype,
             "format in which gradients are reduced; default: the format of the gradients"),
       field("no_sync", &Sharded::no_sync, value::Boolean{},
             "with gradient accumulation: only the last micro-batch reduces gradients",
             {.lack = strategy_values::accumulates}),
       field("state_dict", &Sharded::state_dict, value::Words{"a kind of state dict", state_dict_words},
             "how checkpoints are written. sharded: each rank its shards; full_on_cpu: whole "
             "parameters, gathered one after the other and moved to the host (StateDictOptions with "
             "full_state_dict and cpu_offload, Accelerate's FULL_STATE_DICT); full_on_gpu: without "
             "moving them, so that each GPU has all parameters; affects memory only",
             {.is_echoed = [](const Sharded& sharded) { return sharded.state_dict != StateDict::sharded; },
              .outside_identity = "memory only"}),
       field("init_on_gpu", &Sharded::init_on_gpu, value::Boolean{},
             "each rank makes the whole model on its GPU before it is sharded (model.cuda()); false: "
             "on the meta device or the host, so that only shards reach the GPU; affects memory only",
             {.is_echoed = [](const Sharded& sharded) { return sharded.init_on_gpu; },
              .outside_identity = "memory only"})});
  return fields;
}

}  // namespace

FieldTable make_fields(std::type_identity<NoExchange>) {
  return {};
}

FieldTable make_fields(std::type_identity<Ddp>) {
  return {
      field("bucket_cap", &Ddp::bucket_cap, value::Amount{value::Unit::size, "25 MiB"},
            "size of a gradient bucket (bucket_cap_mb); default: PyTorch's own, 1 MiB for the first bucket "
            "and 25 MiB for the others",
            {.tries = {.by_scenario = strategy_values::bucket_caps}}),
      field("static_graph", &Ddp::static_graph, value::Boolean{},
            "DDP's static_graph: the same parameters are used in each step. It saves the search of "
            "find_unused_parameters in all steps but the first; without that key it saves no time",
            {.outside_identity = "it saves only the search for unused parameters", .tries = {"false, true"}}),
      field("gradient_as_bucket_view", &Ddp::gradient_as_bucket_view, value::Boolean{},
            "gradients are views into the communication buckets, which saves copies",
            {.affects = {.exchange = false}, .tries = {"false, true"}}),
      field("comm_hook", &Ddp::comm_hook, value::Words{"a communication hook", hook_words},
            "communication hook, which compresses gradients before they are sent",
            {.tries = {"none, fp16, bf16, powersgd"}}),
      field("powersgd_rank", &Ddp::powersgd_rank, value::Whole{1, 4096},
            "rank of PowerSGD's low-rank approximation (matrix_approximation_rank)",
            {.is_echoed = [](const Ddp& ddp) { return ddp.comm_hook == CommHook::powersgd; },
             .lack = strategy_values::powersgd,
             // "Typically only a small value 1-4 is used" (powerSGD_hook.py, PyTorch 2.8); powers of two.
             .tries = {"1, 2, 4"}}),
      field("zero_redundancy", &Ddp::zero_redundancy, value::Boolean{},
            "ZeroRedundancyOptimizer: each rank updates whole parameters of its own and broadcasts them",
            {.is_echoed = [](const Ddp& ddp) { return ddp.zero_redundancy; }}),
      field("parameters_as_bucket_view", &Ddp::parameters_as_bucket_view, value::Boolean{},
            "with zero_redundancy: each rank sends its parameters in one message",
            {.is_echoed = [](const Ddp& ddp) { return ddp.zero_redundancy; },
             .lack = strategy_values::redundancy}),
      field("broadcast_buffers", &Ddp::broadcast_buffers, value::Boolean{},
            "rank 0's buffers, such as the running statistics of BatchNorm, are broadcast before each step",
            {.is_echoed = [](const Ddp& ddp) { return !ddp.broadcast_buffers; }}),
      field("find_unused_parameters", &Ddp::find_unused_parameters, value::Boolean{},
            "each forward pass ends with a search of the autograd graph for parameters without gradient, "
            "and each backward pass with an all-reduce of which parameters were used",
            {.is_echoed = [](const Ddp& ddp) { return ddp.find_unused_parameters; },
             .affects = {.launches = true}}),
      field("unused_parameters", &Ddp::unused_parameters, value::Whole{0, 1'000'000},
            "with find_unused_parameters: number of parameters that get no gradient in a step. With any, "
            "each rank reads back which parameters the others used; the model's kernels stay the same",
            {.is_echoed = [](const Ddp& ddp) { return ddp.unused_parameters > 0; },
             .affects = {.launches = true}})};
}

FieldTable make_fields(std::type_identity<OneCollective>) {
  return {
      field("operation", &OneCollective::kind, value::Words{"a collective", calibration_words::operations},
            "collective operation that is called"),
      field("size", &OneCollective::size, value::Amount{value::Unit::size, "1 GiB"},
            "size of the buffer on each rank; of all_gather and reduce_scatter the large one",
            {.is_required = true}),
      field("timed", &OneCollective::one_by_one, value::Words{"a timing mode", timing_words},
            "back_to_back: calls follow each other on the GPU; one_by_one: PyTorch issues each call and "
            "waits for it")};
}

FieldTable make_fields(std::type_identity<Fsdp>) {
  return sharded_fields<Fsdp>(
      {field(
           "reshard_after_forward", &Fsdp::reshard, value::Resharding{most_ranks},
           "true: free gathered parameters after the forward pass; false: keep them; N: keep them "
           "sharded over N ranks; default: PyTorch's own, true for all groups but the root",
           {.lack = strategy_values::whole_or_none, .tries = {.by_scenario = strategy_values::reshardings}}),
       field(
           "megatron_fsdp", &Fsdp::megatron_fsdp, value::Boolean{},
           "NVIDIA's Megatron-FSDP instead of PyTorch's fully_shard (Megatron's --use-megatron-fsdp): ranks "
           "keep shards in fp32 and in param_dtype, gather the latter in place, at least 500 million "
           "parameters ahead, and reduce the gradients of each micro-batch",
           {.is_echoed = [](const Fsdp& fsdp) { return fsdp.megatron_fsdp; }}),
       field("forward_prefetch", &Fsdp::forward_prefetch, strategy_values::ahead,
             "number of groups that are gathered in advance in the forward pass, in addition to those "
             "that the CPU issues ahead of the GPU",
             {.lack = strategy_values::fsdp2, .tries = {"0, 1, 2"}}),
       field("backward_prefetch", &Fsdp::backward_prefetch, strategy_values::ahead,
             "number of groups that are gathered in advance in the backward pass; 0: one, PyTorch's "
             "implicit prefetching",
             {.lack = strategy_values::fsdp2, .tries = {"0, 2"}}),
       field("cpu_offload", &Fsdp::cpu_offload, value::Boolean{},
             "CPUOffloadPolicy: parameters, gradients and optimizer states are in host memory, and the "
             "CPU runs the optimizer",
             {.lack = strategy_values::fsdp2}),
       field("fp8_all_gather", &Fsdp::fp8_all_gather, value::Boolean{},
             "with precision fp8: weights are cast before they are gathered, with scales computed after "
             "the optimizer step (torchao's enable_fsdp_float8_all_gather)",
             {.is_echoed = [](const Fsdp& fsdp) { return fsdp.fp8_all_gather; },
              .lack = strategy_values::fsdp2})});
}

FieldTable make_fields(std::type_identity<Fsdp1>) {
  return sharded_fields<Fsdp1>(
      {field("sharding_strategy", &Fsdp1::sharding, value::Words{"a sharding strategy", sharding_words},
             "full_shard: parameters are freed after the forward pass; shard_grad_op: they stay gathered "
             "until the backward pass has used them",
             {.tries = {"full_shard, shard_grad_op"}}),
       field("forward_prefetch", &Fsdp1::forward_prefetch, value::Boolean{},
             "the next group is gathered before the forward pass of the current one",
             {.tries = {"false, true"}}),
       field("backward_prefetch", &Fsdp1::backward_prefetch, value::Words{"a prefetch mode", prefetch_words},
             "when the backward pass gathers the next group (BackwardPrefetch). pre: before the current "
             "group's gradients are computed; post: after; none: no prefetching",
             {.tries = {"pre, post, none"}}),
       field("limit_all_gathers", &Fsdp1::limit_all_gathers, value::Boolean{},
             "the CPU waits so that at most two groups are gathered in advance")});
}

FieldTable make_fields(std::type_identity<Zero>) {
  using strategy_values::splits_parameters;
  return {
      field("stage", &Zero::stage, value::Whole{1, 3},
            "1: optimizer states are sharded; 2: gradients, too; 3: parameters, too", {.tries = {"1, 2, 3"}}),
      field("reduce_bucket_size", &Zero::reduce_bucket_size, value::Elements{"5e8"},
            "number of gradient elements that are reduced together", {.tries = {"5e8, 2e8, 5e7"}}),
      field("overlap_comm", &Zero::overlap_comm, value::Boolean{},
            "gradient reductions overlap with the backward pass; default: DeepSpeed's own, true for stage 3 "
            "only",
            {.effective = [](const Zero& zero) { return std::optional{zero.overlaps()}; },
             .tries = {", true, false"}}),
      field("reduce_scatter", &Zero::reduce_scatter, value::Boolean{},
            "with stage 3: gradients are reduce-scattered; false: all-reduced",
            {.is_echoed = [](const Zero& zero) { return !zero.reduce_scatter; }}),
      field("offload_optimizer", &Zero::offload_optimizer, value::Boolean{},
            "DeepSpeed's offload_optimizer with device cpu: fp32 master weights, gradients and optimizer "
            "states are in host memory, and the CPU runs the optimizer",
            {.is_echoed = [](const Zero& zero) { return zero.offload_optimizer; }}),
      field(
          "offload_param", &Zero::offload_param, value::Boolean{},
          "DeepSpeed's offload_param with device cpu: each rank copies its shard of the parameters from host "
          "memory before it is gathered",
          {.is_echoed = [](const Zero& zero) { return zero.offload_param; },
           .lack = strategy_values::offloaded_shards}),
      field("prefetch_bucket_size", &Zero::prefetch_bucket_size, value::Elements{"5e7"},
            "with stage 3: maximum number of parameters that are prefetched (stage3_prefetch_bucket_size)",
            {.is_echoed = splits_parameters, .tries = {"5e7, 2e8, 5e8"}}),
      field("max_live_parameters", &Zero::max_live_parameters, value::Elements{"1e9"},
            "with stage 3: maximum number of parameters gathered at a time (stage3_max_live_parameters)",
            {.is_echoed = splits_parameters}),
      field("max_reuse_distance", &Zero::max_reuse_distance, value::Elements{"1e9"},
            "with stage 3: parameters that are used again within this number of parameters stay gathered "
            "(stage3_max_reuse_distance)",
            {.is_echoed = splits_parameters}),
      field("param_persistence_threshold", &Zero::param_persistence_threshold, value::Elements{"1e5"},
            "with stage 3: parameters with fewer elements than this always stay gathered "
            "(stage3_param_persistence_threshold)",
            {.is_echoed = splits_parameters}),
      field("communication_dtype", &Zero::communication_dtype, strategy_values::dtype,
            "format in which gradients are reduced; default: the format of the model"),
      field("grad_accum_dtype", &Zero::grad_accum_dtype, strategy_values::dtype,
            "with stage 1 in bf16: format in which the gradients of micro-batches are accumulated; default: "
            "bf16"),
      field("zero_hpz_partition_size", &Zero::zero_hpz_partition_size, value::Whole{1, most_ranks},
            "with stage 3: ranks that hold a second copy of the parameters together, from which they are "
            "gathered after their first use in a step (ZeRO++); the GPUs of a node, as a rule",
            {.is_echoed = [](const Zero& zero) { return zero.zero_hpz_partition_size > 1; },
             .lack = strategy_values::second_copy}),
      field("zero_quantized_weights", &Zero::zero_quantized_weights, value::Boolean{},
            "with stage 3: parameters are gathered in int8 (ZeRO++)",
            {.is_echoed = [](const Zero& zero) { return zero.zero_quantized_weights; },
             .lack = strategy_values::sharded_parameters}),
      field(
          "zero_quantized_gradients", &Zero::zero_quantized_gradients, value::Boolean{},
          "with stage 3 on several nodes: gradients are reduced in int4, by an all-to-all in a node and one "
          "between nodes (ZeRO++)",
          {.is_echoed = [](const Zero& zero) { return zero.zero_quantized_gradients; },
           .lack = strategy_values::quantized_gradients})};
}

FieldTable make_fields(std::type_identity<DistributedOptimizer>) {
  using Megatron = DistributedOptimizer;
  return {
      field("shard_optimizer", &Megatron::shards, value::Boolean{},
            "--use-distributed-optimizer; false: gradients are all-reduced, and each rank updates all "
            "parameters"),
      field("instances", &Megatron::instances, value::Whole{1, most_ranks},
            "groups of data-parallel ranks, each of which shards the whole optimizer, so that parameters are "
            "gathered within a group (--num-distributed-optimizer-instances)",
            {.is_echoed = [](const Megatron& megatron) { return megatron.instances > 1; },
             .lack = strategy_values::instances}),
      field("overlap_grad_reduce", &Megatron::overlap_grad_reduce, value::Boolean{},
            "gradient reductions overlap with the backward pass (--overlap-grad-reduce)",
            {.tries = {"false, true"}}),
      field("overlap_param_gather", &Megatron::overlap_param_gather, value::Boolean{},
            "parameter gathers overlap with the forward pass (--overlap-param-gather)",
            {.tries = {"false, true"}}),
      field("bucket_size", &Megatron::bucket_size, value::Elements{"4e7"},
            "number of elements in a gradient bucket; default: Megatron's own, 4e7, or 1e6 per rank if that "
            "is more"),
      field("grad_reduce_dtype", &Megatron::grad_reduce_dtype, strategy_values::dtype,
            "format in which gradients are reduced"),
      field("fp8_param_gather", &Megatron::fp8_param_gather, value::Boolean{},
            "with precision fp8: weights are kept and gathered in fp8 (--fp8-param-gather)",
            {.is_echoed = [](const Megatron& megatron) { return megatron.fp8_param_gather; }}),
      field("tensor_owners", &Megatron::tensor_owners, value::Whole{1, most_ranks},
            "InternLM's optimizer (zero1) instead of Megatron's: gradients are all-reduced, and each of N "
            "ranks updates whole tensors and broadcasts them; default: even shards"),
      field("gradient_accumulation_fusion", &Megatron::gradient_accumulation_fusion, value::Boolean{},
            "the products of weight gradients accumulate into the gradient buffers; false: a separate kernel "
            "adds each gradient (--no-gradient-accumulation-fusion)",
            {.is_echoed = [](const Megatron& megatron) { return !megatron.gradient_accumulation_fusion; }})};
}

const std::vector<StrategyKind>& strategy_kinds() {
  static const auto kinds = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::vector<StrategyKind>{{strategy_words[i], std::variant_alternative_t<i, Strategy>{}}...};
  }
  (std::make_index_sequence<std::variant_size_v<Strategy>>{});
  return kinds;
}

Record record_of(const Strategy& strategy) {
  return std::visit([](const auto& settings) { return Record{settings}; }, strategy);
}

MutableRecord record_of(Strategy& strategy) {
  return std::visit([](auto& settings) { return MutableRecord{settings}; }, strategy);
}

}  // namespace gradway
