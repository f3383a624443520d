// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/job.hpp"

namespace gradway {
namespace {

bool is_half(const std::optional<Number>& number) {
  return number && *number != Number::fp32;
}

struct HalfParameters {
  bool operator()(const Alone&) const { return false; }
  bool operator()(const OneCollective&) const { return false; }
  bool operator()(const Ddp&) const { return false; }
  bool operator()(const Fsdp& fsdp) const { return is_half(fsdp.param_dtype); }
  bool operator()(const Fsdp1& fsdp) const { return is_half(fsdp.param_dtype); }
  bool operator()(const Zero&) const { return true; }
  bool operator()(const DistributedOptimizer&) const { return true; }
};

/// DDP's hooks are in C++, but for those of communication.
struct HasHooks {
  bool operator()(const Alone&) const { return false; }
  bool operator()(const OneCollective&) const { return false; }
  bool operator()(const Ddp&) const { return false; }
  bool operator()(const Fsdp&) const { return true; }
  bool operator()(const Fsdp1&) const { return true; }
  bool operator()(const Zero&) const { return true; }
  bool operator()(const DistributedOptimizer&) const { return true; }
};

}  // namespace

bool half_parameters(const Strategy& strategy) {
  return std::visit(HalfParameters{}, strategy);
}

bool half_parameters(const Job& job) {
  return has_half_states(job) || half_parameters(job.strategy);
}

std::optional<Fp8> fp8_of(const Job& job) {
  if (job.precision != Precision::fp8) return std::nullopt;
  const bool megatron = has_megatron_modules(job);
  const auto recipe = job.fp8_recipe.value_or(megatron ? Fp8Recipe::delayed : Fp8Recipe::tensorwise);
  const auto* fsdp = std::get_if<Fsdp>(&job.strategy);
  const auto* optimizer = std::get_if<DistributedOptimizer>(&job.strategy);
  return Fp8{.recipe = recipe,
             .by_transformer_engine = megatron || recipe == Fp8Recipe::delayed,
             .has_weights = (fsdp && fsdp->fp8_all_gather) || (optimizer && optimizer->fp8_param_gather)};
}

bool shares_scales(const Job& job) {
  const auto fp8 = fp8_of(job);
  return fp8 && fp8->recipe == Fp8Recipe::delayed;
}

bool has_megatron_modules(const Job& job) {
  return job.framework == Framework::megatron ||
         (job.framework == Framework::deepspeed && job.layout.is_cut());
}

bool reads_counts(const Job& job) {
  if (job.experts == ExpertProducts::loop) return true;
  return (has_megatron_modules(job) || job.layout.expert > 1) && !job.layout.expert_capacity_factor;
}

bool has_hooks(const Strategy& strategy) {
  return std::visit(HasHooks{}, strategy);
}

int replicas_of(const Strategy& strategy) {
  if (const auto* fsdp = std::get_if<Fsdp>(&strategy)) return fsdp->replicate;
  if (const auto* fsdp = std::get_if<Fsdp1>(&strategy)) return fsdp->replicate;
  return 1;
}

}  // namespace gradway
