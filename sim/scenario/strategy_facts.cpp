// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

bool is_half(const std::optional<Number>& number) {
  return number && *number != Number::fp32;
}

/// DDP's hooks are in C++, so that `has_hooks` is false.
struct Facts {
  StrategyFacts operator()(const NoExchange&) const { return {.exchanges = false}; }
  StrategyFacts operator()(const OneCollective&) const { return {.trains = false}; }
  StrategyFacts operator()(const Ddp& ddp) const {
    return {.shards_optimizer = ddp.zero_redundancy, .gradients_are_views = ddp.gradient_as_bucket_view};
  }
  StrategyFacts operator()(const Fsdp& fsdp) const {
    auto facts = sharded(is_half(fsdp.param_dtype));
    facts.offloads = fsdp.cpu_offload;
    if (fsdp.megatron_fsdp) facts.framework = Framework::megatron;
    if (fsdp.fp8_all_gather) facts.fp8_gather = "fp8_all_gather";
    return facts;
  }
  StrategyFacts operator()(const Fsdp1& fsdp) const {
    auto facts = sharded(is_half(fsdp.param_dtype));
    facts.has_flat_parameters = true;
    return facts;
  }
  StrategyFacts operator()(const Zero& zero) const {
    auto facts = sharded(true);
    facts.framework = Framework::deepspeed;
    facts.offloads = zero.offload_optimizer;
    facts.makes_states_early = true;
    return facts;
  }
  StrategyFacts operator()(const DistributedOptimizer& optimizer) const {
    auto facts = sharded(true);
    facts.framework = Framework::megatron;
    facts.shards_optimizer = optimizer.shards;
    facts.adds_in_fp32 =
        optimizer.gradient_accumulation_fusion && optimizer.grad_reduce_dtype == Number::fp32;
    if (optimizer.fp8_param_gather) facts.fp8_gather = "fp8_param_gather";
    return facts;
  }

 private:
  static StrategyFacts sharded(bool half_parameters) {
    return {.half_parameters = half_parameters,
            .sets_formats = true,
            .has_hooks = true,
            .shards_optimizer = true};
  }
};

template <class Pointer, class AnyStrategy>
Pointer replicate_in(AnyStrategy& strategy) {
  const auto find = [](auto& settings) -> Pointer {
    if constexpr (requires { settings.replicate; }) {
      return &settings.replicate;
    } else {
      return nullptr;
    }
  };
  return std::visit(find, strategy);
}

}  // namespace

StrategyFacts facts_of(const Strategy& strategy) {
  return std::visit(Facts{}, strategy);
}

bool trains(const Strategy& strategy) {
  return facts_of(strategy).trains;
}

int* replicate_of(Strategy& strategy) {
  return replicate_in<int*>(strategy);
}

const int* replicate_of(const Strategy& strategy) {
  return replicate_in<const int*>(strategy);
}

int replicas_of(const Strategy& strategy) {
  const auto* replicate = replicate_of(strategy);
  return replicate != nullptr ? *replicate : 1;
}

}  // namespace gradway
