// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/job.hpp"

#include "sim/scenario/strategy_facts.hpp"

namespace gradway {

bool half_parameters(const Job& job) {
  return has_half_states(job) || facts_of(job.strategy).half_parameters;
}

bool has_fp32_masters(const Job& job) {
  return facts_of(job.strategy).half_parameters && !has_half_states(job);
}

std::optional<Fp8> fp8_of(const Job& job) {
  if (!has_scales(job.precision)) return std::nullopt;
  const bool megatron = has_megatron_modules(job);
  const auto of_fp8 = job.fp8_recipe.value_or(megatron ? Fp8Recipe::delayed : Fp8Recipe::tensorwise);
  const auto recipe = job.precision == Precision::nvfp4 ? Fp8Recipe::nvfp4 : of_fp8;
  const bool is_of_torchao =
      recipe == Fp8Recipe::tensorwise || recipe == Fp8Recipe::rowwise || recipe == Fp8Recipe::mxfp8;
  return Fp8{.recipe = recipe,
             .by_transformer_engine = megatron || !is_of_torchao,
             .has_weights = !facts_of(job.strategy).fp8_gather.empty(),
             .attention = job.fp8_attention};
}

bool exchanges_fp8_scales(const Job& job) {
  const auto fp8 = fp8_of(job);
  return fp8 && fp8->recipe == Fp8Recipe::delayed;
}

bool has_megatron_modules(const Job& job) {
  return job.framework == Framework::megatron ||
         (job.framework == Framework::deepspeed && job.layout.is_model_parallel());
}

bool waits_for_row_counts(const Job& job) {
  if (job.experts == ExpertProducts::loop) return true;
  return (has_megatron_modules(job) || job.layout.expert > 1) && !job.layout.expert_capacity_factor &&
         (job.layout.expert_dispatch == ExpertDispatch::all_to_all || job.cuda_graphs != CudaGraphs::step);
}

}  // namespace gradway
