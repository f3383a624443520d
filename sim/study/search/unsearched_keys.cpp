// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/layouts.hpp"

namespace gradway {
namespace {

Number half_of(const Job& job) {
  return precision_outside_fp8(job.precision) == Precision::fp16 ? Number::fp16 : Number::bf16;
}

void set_formats(Job& job) {
  auto& fsdp = std::get<Fsdp>(job.strategy);
  fsdp.param_dtype = half_of(job);
  fsdp.reduce_dtype = Number::fp32;
}

}  // namespace

std::vector<UnsearchedKey> unsearched_keys(const Model& model, const Gpu& gpu, const Job& best) {
  std::vector<UnsearchedKey> keys;
  const bool is_pytorch = best.framework == Framework::pytorch;
  const bool has_bf16 = gpu.peak[static_cast<std::size_t>(Precision::bf16)].has_value();
  if (!is_half(best.precision) && has_bf16 && is_pytorch)
    keys.push_back({{{"job.precision", "bf16"}}, [](Job& job) { job.precision = Precision::bf16; }});
  const auto* fsdp = std::get_if<Fsdp>(&best.strategy);
  if (fsdp != nullptr && !fsdp->param_dtype && is_half(best.precision))
    keys.push_back(
        {{{"strategy.param_dtype", std::string{name_of(half_of(best))}}, {"strategy.reduce_dtype", "fp32"}},
         set_formats});
  if (fsdp != nullptr && fsdp->wrap.blocks > 0 && fsdp->reshard != Fsdp::kept)
    keys.push_back({{{"strategy.reshard_after_forward", "false"}},
                    [](Job& job) { std::get<Fsdp>(job.strategy).reshard = Fsdp::kept; }});
  if (is_pytorch && model.run && !best.compiled && !best.lora && model.experts.number == 0)
    keys.push_back({{{"job.compile", "true"}}, [](Job& job) { job.compiled = true; }});
  if (best.optimizer == Optimizer::adamw)
    keys.push_back(
        {{{"optimizer", "adamw_fused"}}, [](Job& job) { job.optimizer = Optimizer::adamw_fused; }});
  const auto& layout = best.layout;
  if (layout.tensor > 1 && layout.sequence && is_pytorch && best.compiled &&
      layout.overlap != TensorOverlap::async_tp)
    keys.push_back(
        {{{"parallel.overlap", "async_tp"}}, [](Job& job) { job.layout.overlap = TensorOverlap::async_tp; }});
  if (layout.tensor > 1 && layout.sequence && best.framework == Framework::megatron &&
      layout.overlap != TensorOverlap::userbuffers)
    keys.push_back({{{"parallel.overlap", "userbuffers"}},
                    [](Job& job) { job.layout.overlap = TensorOverlap::userbuffers; }});
  return keys;
}

}  // namespace gradway
