// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "sim/cost/calibration_words.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/strategy_words.hpp"

// The keys of `strategy`, by its kind.
namespace gradway {

inline constexpr std::array<std::string_view, 2> timing_words{"back_to_back", "one_by_one"};

namespace strategy_values {
inline constexpr value::Words dtype{"a format of numbers", dtype_words};
inline constexpr value::Whole ahead{0, 1000};
inline constexpr int most_ranks = 1 << 20;

/// Whether a setting of ZeRO's stage 3 counts.
constexpr bool splits_parameters(const Zero& zero) {
  return zero.stage == 3;
}
}  // namespace strategy_values

constexpr auto fields_of(std::type_identity<Alone>) {
  return std::tuple{};
}

constexpr auto fields_of(std::type_identity<Ddp>) {
  return std::tuple{
      field("bucket_cap", &Ddp::bucket_cap, value::Amount{value::Unit::size, "25 MiB"},
            "size at which a bucket of gradients closes; left out, PyTorch's own: 1 MiB for the first, 25 "
            "MiB for "
            "the others"),
      field("static_graph", &Ddp::static_graph, value::Boolean{}, "as DDP's; what it saves is not predicted",
            {.outside_identity = "what it saves is not predicted"}),
      field("gradient_as_bucket_view", &Ddp::gradient_as_bucket_view, value::Boolean{},
            "gradients live in the buckets: fewer copies", {.decides = {.exchange = false}}),
      field("comm_hook", &Ddp::comm_hook, value::Words{"a communication hook", hook_words},
            "how gradients are compressed before they are sent"),
      field("powersgd_rank", &Ddp::powersgd_rank, value::Whole{1, 4096}, "rank of PowerSGD's matrices",
            {.is_echoed = [](const Ddp& ddp) { return ddp.comm_hook == CommHook::powersgd; }}),
      field("zero_redundancy", &Ddp::zero_redundancy, value::Boolean{},
            "ZeroRedundancyOptimizer: each rank steps whole parameters of its own and sends them",
            {.is_echoed = [](const Ddp& ddp) { return ddp.zero_redundancy; }}),
      field("parameters_as_bucket_view", &Ddp::parameters_as_bucket_view, value::Boolean{},
            "ZeroRedundancyOptimizer sends a rank's parameters in one message",
            {.is_echoed = [](const Ddp& ddp) { return ddp.zero_redundancy; }})};
}

constexpr auto fields_of(std::type_identity<OneCollective>) {
  return std::tuple{
      field("operation", &OneCollective::kind, value::Words{"a collective", calibration_words::operations},
            "what is called"),
      field("size", &OneCollective::size, value::Amount{value::Unit::size, "1 GiB"},
            "the buffer on each rank (all_gather, reduce_scatter: the large one)", {.is_required = true}),
      field("timed", &OneCollective::one_by_one, value::Words{"a way to time", timing_words},
            "calls follow each other on the GPU, or PyTorch issues each and waits for it")};
}

/// Keys that FSDP2 and FSDP1 share.
template <class Sharded>
constexpr auto sharded_formats() {
  return std::tuple{
      field("param_dtype", &Sharded::param_dtype, strategy_values::dtype,
            "format of gathered parameters and of compute; left out, fp32 under autocast"),
      field("reduce_dtype", &Sharded::reduce_dtype, strategy_values::dtype,
            "format of reduced gradients; left out, that of the gradients"),
      field("no_sync", &Sharded::no_sync, value::Boolean{}, "of several micro-steps only the last reduces")};
}

template <class Sharded>
constexpr auto wrap_field() {
  return field(
      "wrap", &Sharded::wrap, value::Wrapping{},
      "what is gathered and reduced together: block, so many blocks, or whole; the rest of the model "
      "belongs to the root");
}

constexpr auto fields_of(std::type_identity<Fsdp>) {
  return std::tuple_cat(
      std::tuple{
          wrap_field<Fsdp>(),
          field(
              "reshard_after_forward", &Fsdp::reshard, value::Resharding{strategy_values::most_ranks},
              "free parameters after the forward pass, keep them, or keep them over so many ranks; left out, "
              "PyTorch's own: true for all but the root"),
          field("forward_prefetch", &Fsdp::forward_prefetch, strategy_values::ahead,
                "groups gathered ahead, beyond the CPU's own lead"),
          field("backward_prefetch", &Fsdp::backward_prefetch, strategy_values::ahead,
                "groups gathered ahead; 0: one, as PyTorch does by itself"),
          field(
              "cpu_offload", &Fsdp::cpu_offload, value::Boolean{},
              "parameters, gradients and optimizer states are in host memory (CPUOffloadPolicy), and the CPU "
              "steps them"),
          field("fp8_all_gather", &Fsdp::fp8_all_gather, value::Boolean{},
                "precision fp8: torchao's enable_fsdp_float8_all_gather: weights are cast before they are "
                "gathered, their scales found after the optimizer's step",
                {.is_echoed = [](const Fsdp& fsdp) { return fsdp.fp8_all_gather; }})},
      sharded_formats<Fsdp>());
}

constexpr auto fields_of(std::type_identity<Fsdp1>) {
  return std::tuple_cat(
      std::tuple{wrap_field<Fsdp1>(),
                 field("sharding_strategy", &Fsdp1::sharding,
                       value::Words{"a sharding strategy", sharding_words}, "as PyTorch's"),
                 field("forward_prefetch", &Fsdp1::forward_prefetch, value::Boolean{}, "as PyTorch's"),
                 field("backward_prefetch", &Fsdp1::backward_prefetch,
                       value::Words{"a prefetch", prefetch_words}, "as PyTorch's"),
                 field("limit_all_gathers", &Fsdp1::limit_all_gathers, value::Boolean{}, "as PyTorch's")},
      sharded_formats<Fsdp1>());
}

constexpr auto fields_of(std::type_identity<Zero>) {
  using strategy_values::splits_parameters;
  return std::tuple{
      field("stage", &Zero::stage, value::Whole{1, 3},
            "what is split: optimizer, gradients too, parameters too"),
      field("reduce_bucket_size", &Zero::reduce_bucket_size, value::Elements{"5e8"},
            "gradients that are reduced together"),
      field("overlap_comm", &Zero::overlap_comm, value::Boolean{},
            "left out, DeepSpeed's own: true for stage 3",
            {.effective = [](const Zero& zero) { return std::optional{zero.overlaps()}; }}),
      field("reduce_scatter", &Zero::reduce_scatter, value::Boolean{},
            "ZeRO-3: gradients are reduce-scattered, else all-reduced",
            {.is_echoed = [](const Zero& zero) { return !zero.reduce_scatter; }}),
      field(
          "offload_optimizer", &Zero::offload_optimizer, value::Boolean{},
          "DeepSpeed's offload_optimizer of device cpu: fp32 weights, gradients and optimizer states are in "
          "host memory, and the CPU steps them",
          {.is_echoed = [](const Zero& zero) { return zero.offload_optimizer; }}),
      field("prefetch_bucket_size", &Zero::prefetch_bucket_size, value::Elements{"5e7"},
            "ZeRO-3: parameters gathered ahead", {.is_echoed = splits_parameters}),
      field("max_live_parameters", &Zero::max_live_parameters, value::Elements{"1e9"},
            "ZeRO-3: most parameters that are gathered at once", {.is_echoed = splits_parameters}),
      field("max_reuse_distance", &Zero::max_reuse_distance, value::Elements{"1e9"},
            "ZeRO-3: parameters that are used again before so many others stay gathered",
            {.is_echoed = splits_parameters}),
      field("param_persistence_threshold", &Zero::param_persistence_threshold, value::Elements{"1e5"},
            "ZeRO-3: parameters smaller than this stay gathered", {.is_echoed = splits_parameters}),
      field("communication_dtype", &Zero::communication_dtype, strategy_values::dtype,
            "format of reduced gradients; left out, that of the model"),
      field("grad_accum_dtype", &Zero::grad_accum_dtype, strategy_values::dtype,
            "ZeRO-1 in bf16: format in which gradients of micro-steps are added up; left out, bf16")};
}

constexpr auto fields_of(std::type_identity<DistributedOptimizer>) {
  using Megatron = DistributedOptimizer;
  return std::tuple{
      field("shard_optimizer", &Megatron::shards, value::Boolean{},
            "false is Megatron's data parallelism without the distributed optimizer: gradients are "
            "all-reduced, "
            "and each rank steps all parameters"),
      field("overlap_grad_reduce", &Megatron::overlap_grad_reduce, value::Boolean{},
            "reductions beside the backward pass"),
      field("overlap_param_gather", &Megatron::overlap_param_gather, value::Boolean{},
            "gathers beside the forward pass"),
      field("bucket_size", &Megatron::bucket_size, value::Elements{"4e7"},
            "left out, Megatron's own: 4e7, or 1e6 a rank if that is more"),
      field("grad_reduce_dtype", &Megatron::grad_reduce_dtype, strategy_values::dtype,
            "format of reduced gradients"),
      field("fp8_param_gather", &Megatron::fp8_param_gather, value::Boolean{},
            "precision fp8: Megatron's --fp8-param-gather: weights are kept and gathered in fp8",
            {.is_echoed = [](const Megatron& it) { return it.fp8_param_gather; }}),
      field(
          "tensor_owners", &Megatron::tensor_owners, value::Whole{1, strategy_values::most_ranks},
          "InternLM's (zero1) in place of Megatron's: gradients are all-reduced, of so many ranks each steps "
          "whole tensors and broadcasts them; left out, even slices"),
      field("gradient_accumulation_fusion", &Megatron::gradient_accumulation_fusion, value::Boolean{},
            "products of weights' gradients add them to their buffers; false (Megatron's "
            "--no-gradient-accumulation-fusion): a kernel of its own adds each gradient",
            {.is_echoed = [](const Megatron& it) { return !it.gradient_accumulation_fusion; }})};
}

/// Calls `visit` with the type of each strategy and its name.
template <class Visit>
constexpr void for_each_strategy(const Visit& visit) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (visit(std::type_identity<std::variant_alternative_t<i, Strategy>>{}, strategy_words[i]), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Strategy>>{});
}

}  // namespace gradway
