// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/snippet_parts.hpp"
#include "sim/report/search/trainer_text.hpp"

namespace gradway::report {

std::string deepspeed_config(const Zero& zero, const Job& job) {
  TrainerText text{dialects::deepspeed(), job};
  text.put("train_micro_batch_size_per_gpu", job.batch_per_gpu);
  text.put("gradient_accumulation_steps", job.accumulate);
  if (is_half(job.precision))
    text.put(precision_outside_fp8(job.precision) == Precision::fp16 ? "fp16.enabled" : "bf16.enabled",
             "true");
  const auto optimizer = job.optimizer == Optimizer::adamw          ? Optimizer::adamw_fused
                         : job.optimizer == Optimizer::sgd_momentum ? Optimizer::sgd
                                                                    : job.optimizer;
  const auto* name = word_for(*dialects::deepspeed().find("optimizer.type"), name_of(optimizer));
  if (name != nullptr && optimizer != Optimizer::adamw_8bit)  // it is not DeepSpeed's
    text.put("optimizer.type", in_quotes(name->theirs));
  if (job.optimizer == Optimizer::adamw) text.put("optimizer.params.torch_adam", "true");
  if (job.optimizer == Optimizer::sgd_momentum) text.put("optimizer.params.momentum", "0.9");
  if (zero.communication_dtype)
    text.put("communication_data_type", in_quotes(name_of(*zero.communication_dtype)));
  if (zero.grad_accum_dtype)
    text.put("data_types.grad_accum_dtype", in_quotes(name_of(*zero.grad_accum_dtype)));
  text.put("zero_optimization.stage", zero.stage);
  if (zero.offload_optimizer) text.put("zero_optimization.offload_optimizer.device", in_quotes("cpu"));
  if (zero.offload_param) text.put("zero_optimization.offload_param.device", in_quotes("cpu"));
  text.put_rows();
  return text.json();
}

}  // namespace gradway::report
