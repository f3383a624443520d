// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "writers/experiment/experiment.hpp"

namespace gradway::report {
namespace {

class Refusals {
 public:
  void add(bool is_set, std::string message, std::string hint) {
    if (is_set) problems_.push_back({{}, std::move(message), {}, std::move(hint)});
  }
  /// @param setting "job.cuda_graphs step"
  void setting(bool is_set, std::string_view setting, std::string hint) {
    add(is_set, fmt::format("the experiment's program does not have {}", setting), std::move(hint));
  }
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  std::vector<Problem> problems_;
};

constexpr const char* own_program =
    "time your own program, and write its step into a file of cases for 'gradway validate'";

void check_model(const Scenario& scenario, const ModelShape& shape, Refusals& refusals) {
  const auto& name = scenario.model.name;
  if (trains(scenario.job.strategy) && std::holds_alternative<std::monostate>(shape)) {
    refusals.add(true,
                 fmt::format("no PyTorch code can be written for the model '{}'{}", name,
                             scenario.model.profile ? ", which is a profile without its layers" : ""),
                 fmt::format("supported: models of kind decoder, vision_transformer, residual and convnext, "
                             "such as '--set model={}'; else {}",
                             scenario.model.tokens_per_sample > 0 ? "gpt_small" : "resnet50", own_program));
  }
  const auto* decoder = std::get_if<DecoderShape>(&shape);
  if (decoder == nullptr) return;
  refusals.add(decoder->experts.has_value(),
               fmt::format("the experiment's program has no experts, and the model '{}' does", name),
               own_program);
  refusals.add(decoder->latent.has_value(),
               fmt::format("the experiment's program has no latent attention, and the model '{}' does", name),
               own_program);
  const bool has_layer_kinds = decoder->window > 0 || decoder->linear || decoder->no_rotary_every > 0;
  refusals.add(
      has_layer_kinds,
      fmt::format("the experiment's program has equal layers, and those of the model '{}' differ", name),
      own_program);
  const bool has_other_blocks = decoder->norm_placement != DecoderShape::NormPlacement::before ||
                                decoder->qk_norm == DecoderShape::QkNorm::all_heads || decoder->sinks ||
                                decoder->attention_gate || decoder->soft_cap || decoder->masked_lm;
  refusals.add(
      has_other_blocks,
      fmt::format("the experiment's program does not have the norms, sinks, gates or soft caps of the "
                  "model '{}'",
                  name),
      own_program);
  refusals.add(decoder->positions == DecoderShape::Positions::alibi,
               fmt::format("the experiment's program has no ALiBi positions, and the model '{}' does", name),
               own_program);
}

void check_layout(const Job& job, Refusals& refusals) {
  const auto& layout = job.layout;
  constexpr const char* trainers =
      "leave it out; 'gradway optimize' writes settings of torchtitan and Megatron for layouts";
  refusals.setting(layout.tensor > 1, "parallel.tensor", trainers);
  refusals.setting(layout.pipeline > 1, "parallel.pipeline", trainers);
  refusals.setting(layout.context > 1, "parallel.context", trainers);
  refusals.setting(layout.expert > 1, "parallel.expert", trainers);
  refusals.setting(layout.expert_tensor > 1, "parallel.expert_tensor", trainers);
}

void check_strategy(const Job& job, Refusals& refusals) {
  const auto& strategy = job.strategy;
  refusals.setting(std::holds_alternative<Zero>(strategy), "strategy.kind zero",
                   "use strategy.kind fsdp; 'gradway optimize' writes DeepSpeed's configuration");
  refusals.setting(std::holds_alternative<DistributedOptimizer>(strategy),
                   "strategy.kind distributed_optimizer",
                   "use strategy.kind ddp or fsdp, or run Megatron-LM");
  refusals.setting(std::holds_alternative<OneCollective>(strategy), "strategy.kind collective",
                   "run nccl-tests, and read its output with 'gradway import nccl-tests'");
  const auto* ddp = std::get_if<Ddp>(&strategy);
  refusals.setting(ddp != nullptr && ddp->unused_parameters > 0, "strategy.unused_parameters",
                   "leave it out");
  const auto* fsdp1 = std::get_if<Fsdp1>(&strategy);
  refusals.setting(fsdp1 != nullptr && fsdp1->wrap.blocks > 1, "strategy.wrap of several blocks with fsdp1",
                   "use wrap: block, or strategy.kind fsdp");
  refusals.setting(job.local_sgd.has_value(), "strategy.kind local_sgd",
                   "check the step of one worker, with strategy.kind ddp");
}

void check_step(const Job& job, Refusals& refusals) {
  const std::string leave_out = "leave it out";
  refusals.setting(job.framework != Framework::pytorch,
                   fmt::format("job.framework {}", name_of(job.framework)), "use job.framework pytorch");
  refusals.setting(has_scales(job.precision), fmt::format("job.precision {}", name_of(job.precision)),
                   "use job.precision bf16");
  refusals.setting(job.lora.has_value(), "job.finetune", "use job.finetune full");
  refusals.setting(job.cuda_graphs != CudaGraphs::none,
                   fmt::format("job.cuda_graphs {}", name_of(job.cuda_graphs)), "use job.cuda_graphs none");
  const bool partly = job.recompute == Recompute::selective || job.recompute == Recompute::selective_op;
  refusals.setting(partly, fmt::format("job.recompute {}", name_of(job.recompute)),
                   "use job.recompute full or none");
  refusals.setting(job.fused_loss && !job.compiled, "job.fused_loss without job.compile",
                   "set job.compile: true as well, so that the compiler fuses the loss");
  refusals.setting(job.attention == AttentionKernel::flash1 || job.attention == AttentionKernel::composed,
                   fmt::format("job.attention {}", name_of(job.attention)),
                   "use job.attention auto, cudnn, flash, efficient or math");
  refusals.setting(job.optimizer == Optimizer::lion || job.optimizer == Optimizer::lamb ||
                       job.optimizer == Optimizer::muon || job.optimizer == Optimizer::paged_adamw_8bit ||
                       job.optimizer == Optimizer::adafactor,
                   fmt::format("optimizer {}", name_of(job.optimizer)),
                   "use sgd, sgd_momentum, adamw, adamw_fused or adamw_8bit");
  refusals.setting(job.optimizer_in_backward, "job.optimizer_in_backward", leave_out);
  refusals.setting(job.eval_batch > 0, "job.eval_batch", leave_out);
  refusals.setting(job.experts != ExpertProducts::grouped, "job.experts loop", leave_out);
  refusals.setting(job.slow_gpu > 1, "job.slow_gpu", leave_out);
  refusals.setting(job.host_reads > 0, "job.host_reads", leave_out);
  refusals.setting(job.sync_batch_norm, "job.sync_batch_norm", leave_out);
  refusals.setting(!job.traffic.empty(), "traffic of other jobs", leave_out);
  refusals.setting(job.network != NetworkConditions{}, "conditions of the network", leave_out);
}

void check_input(const InputSettings& input, Refusals& refusals) {
  refusals.setting(input.dataset.has_value(), "input.dataset",
                   "leave out 'input' with '--set input={}': the experiment's batches are in pinned memory");
  refusals.setting(input.prefetch.has_value(), "input.prefetch", "leave it out");
  refusals.setting(input.background_copy > Bytes{}, "input.background_copy", "leave it out");
  refusals.setting(input.batch_overhead > Seconds{}, "input.batch_overhead", "leave it out");
}

}  // namespace

std::vector<Problem> unsupported_settings(const Scenario& scenario, const ModelShape& shape) {
  Refusals refusals;
  check_model(scenario, shape, refusals);
  check_layout(scenario.job, refusals);
  check_strategy(scenario.job, refusals);
  check_step(scenario.job, refusals);
  check_input(scenario.job.input, refusals);
  return refusals.take();
}

}  // namespace gradway::report
