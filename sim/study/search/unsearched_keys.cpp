// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/layouts.hpp"

namespace gradway {
namespace {

Number half_of(const Job& job) {
  return precision_outside_fp8(job.precision) == Precision::fp16 ? Number::fp16 : Number::bf16;
}

}  // namespace

std::vector<Settings> unsearched_keys(const Model& model, const Gpu& gpu, const Job& best) {
  std::vector<Settings> keys;
  const auto add = [&](bool can_help, Settings set) {
    if (can_help) keys.push_back(std::move(set));
  };
  const bool is_pytorch = best.framework == Framework::pytorch;
  const auto* fsdp = std::get_if<Fsdp>(&best.strategy);
  const auto& layout = best.layout;
  const bool cuts_sequence = layout.tensor > 1 && layout.sequence;
  add(!is_half(best.precision) && gpu.peak[static_cast<std::size_t>(Precision::bf16)] && is_pytorch,
      {{"job.precision", "bf16"}});
  add(fsdp != nullptr && !fsdp->param_dtype && is_half(best.precision),
      {{"strategy.param_dtype", std::string{name_of(half_of(best))}}, {"strategy.reduce_dtype", "fp32"}});
  add(fsdp != nullptr && fsdp->wrap.blocks > 0 && fsdp->reshard != Fsdp::kept,
      {{"strategy.reshard_after_forward", "false"}});
  add(is_pytorch && model.run && !best.compiled && !best.lora && model.experts.number == 0,
      {{"job.compile", "true"}});
  add(best.optimizer == Optimizer::adamw, {{"optimizer", "adamw_fused"}});
  add(cuts_sequence && is_pytorch && best.compiled && layout.overlap != TensorOverlap::async_tp,
      {{"parallel.overlap", "async_tp"}});
  add(cuts_sequence && best.framework == Framework::megatron && layout.overlap != TensorOverlap::userbuffers,
      {{"parallel.overlap", "userbuffers"}});
  return keys;
}

}  // namespace gradway
