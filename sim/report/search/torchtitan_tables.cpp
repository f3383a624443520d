// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/report/format/words.hpp"
#include "sim/report/search/snippet_parts.hpp"
#include "sim/report/search/trainer_text.hpp"
#include "sim/scenario/pipeline/schedule.hpp"

namespace gradway::report {
namespace {

std::string_view torch_dtype_word(Number number) {
  return word_for(*dialects::torchtitan().find("training.mixed_precision_param"), name_of(number))->theirs;
}

/// The type in which a rank computes.
Number compute_dtype(const Job& job) {
  const auto precision = precision_outside_fp8(job.precision);
  return precision == Precision::bf16   ? Number::bf16
         : precision == Precision::fp16 ? Number::fp16
                                        : Number::fp32;
}

class Tables {
 public:
  Tables(const Job& job, const SnippetModel& model)
      : job_{job}, model_{model}, text_{dialects::torchtitan(), job} {}

  std::string text() {
    put_layout();
    put_training();
    put_checkpoints();
    if (job_.compiled)
      text_.put("compile.components", job_.fused_loss ? "[\"model\", \"loss\"]" : "[\"model\"]");
    put_optimizer();
    put_float8();
    notes_ += text_.put_rows();
    note_rest();
    return text_.toml() + notes_ + unsupported_notes(job_);
  }

 private:
  void note(std::string_view key, const std::string& value) { notes_ += unsupported_note(key, value); }

  const Fsdp* fsdp() const { return std::get_if<Fsdp>(&job_.strategy); }

  void put_layout() {
    const auto& layout = job_.layout;
    const auto data = job_.data_parallel();
    const auto replicas = fsdp() != nullptr ? replicas_of(job_.strategy) : data;
    text_.put("parallelism.data_parallel_replicate_degree", replicas);
    text_.put("parallelism.data_parallel_shard_degree", data / replicas);
    // Notes say what torchtitan lacks.
    if (fsdp() != nullptr && fsdp()->reshard.value_or(Fsdp::kept) > Fsdp::kept)
      text_.put("parallelism.fsdp_reshard_after_forward", in_quotes("always"));
    if (layout.context > 1 && layout.context_method == ContextMethod::all_to_all)
      text_.put("parallelism.context_parallel_rotate_method", in_quotes("allgather"));
    if (layout.pipeline == 1) return;
    constexpr std::string_view key = "parallelism.pipeline_parallel_schedule";
    const auto* schedule = word_for(*dialects::torchtitan().find(key), name_of(layout.schedule));
    text_.put(key, in_quotes(schedule != nullptr ? schedule->theirs : "InterleavedZeroBubble"));
    text_.put("parallelism.pipeline_parallel_microbatch_size", job_.batch_per_gpu);
    const auto stages = pipeline_of(layout).stages();
    if (model_.blocks % stages != 0) return;
    text_.put("parallelism.pipeline_parallel_layers_per_stage", model_.blocks / stages);
    text_.put("parallelism.pipeline_parallel_first_stage_less_layers", 0);
    text_.put("parallelism.pipeline_parallel_last_stage_less_layers", 0);
  }

  void put_training() {
    if (model_.tokens > 0) text_.put("training.seq_len", model_.tokens);
    text_.put("training.local_batch_size",
              job_.layout.pipeline > 1 ? job_.batch_per_gpu * job_.accumulate : job_.batch_per_gpu);
    text_.put("training.global_batch_size", static_cast<std::int64_t>(job_.samples()));
    const auto param = fsdp() != nullptr ? fsdp()->param_dtype.value_or(Number::fp32) : compute_dtype(job_);
    text_.put("training.mixed_precision_param", in_quotes(torch_dtype_word(param)));
    if (fsdp() != nullptr)
      text_.put("training.mixed_precision_reduce",
                in_quotes(torch_dtype_word(fsdp()->reduce_dtype.value_or(param))));
  }

  void put_checkpoints() {
    const bool selects = runs_blocks_again(job_.recompute) &&
                         (job_.recompute == Recompute::selective_op || job_.recompute_every > 1);
    text_.put("activation_checkpoint.mode", in_quotes(selects                             ? "selective"
                                                      : runs_blocks_again(job_.recompute) ? "full"
                                                                                          : "none"));
    if (selects)
      text_.put(
          "activation_checkpoint.selective_ac_option",
          in_quotes(job_.recompute == Recompute::selective_op ? "op"
                                                              : fmt::format("{}", job_.recompute_every)));
  }

  void put_optimizer() {
    const bool fused = job_.optimizer == Optimizer::adamw_fused;
    const bool loop = job_.optimizer == Optimizer::adamw_loop;
    if (!fused && !loop && job_.optimizer != Optimizer::adamw)
      return note("optimizer", std::string{name_of(job_.optimizer)});
    text_.put("optimizer.name", in_quotes("AdamW"));
    text_.put("optimizer.implementation", in_quotes(fused ? "fused" : loop ? "for-loop" : "foreach"));
  }

  void put_float8() {
    const auto fp8 = fp8_of(job_);
    if (!fp8) return;
    if (fp8->recipe == Fp8Recipe::nvfp4) return note("job.precision", "nvfp4");
    if (fp8->by_transformer_engine) return note("job.fp8_recipe", std::string{name_of(fp8->recipe)});
    if (fp8->recipe == Fp8Recipe::mxfp8) return text_.put("model.converters", "[\"quantize.linear.mx\"]");
    text_.put("model.converters", "[\"quantize.linear.float8\"]");
    text_.put("quantize.linear.float8.recipe_name", in_quotes(name_of(fp8->recipe)));
  }

  void note_rest() {
    if (const auto* ddp = std::get_if<Ddp>(&job_.strategy); ddp != nullptr && job_.data_parallel() > 1) {
      if (ddp->bucket_cap != Bytes{100_MiB})
        notes_ += "# torchtitan's DDP has buckets of 100 MiB; the predicted job has others\n";
      if (job_.accumulate > 1)
        notes_ += "# torchtitan's DDP reduces in each micro-step; the predicted job reduces in the last\n";
    }
    if (const auto* strategy = fsdp()) note_fsdp(*strategy);
    const auto& layout = job_.layout;
    if (fsdp() == nullptr && layout.model_parallel_ranks() > 1 && is_half(job_.precision))
      notes_ += fmt::format(
          "# without data-parallel ranks torchtitan has no mixed precision; the predicted job runs in {}\n",
          name_of(job_.precision));
    if (job_.recompute == Recompute::selective) note("job.recompute", "selective");
    if (layout.context > 1 && layout.context_method == ContextMethod::all_to_all)
      note("parallel.context_method", "all_to_all");
    if (layout.pipeline > 1 && layout.schedule == Schedule::zb_h1) note("parallel.schedule", "zb_h1");
  }

  void note_fsdp(const Fsdp& strategy) {
    const bool autocasts = !strategy.param_dtype && is_half(job_.precision);
    if (autocasts)
      notes_ += fmt::format(
          "# the predicted job uses autocast over fp32 parameters, which torchtitan's FSDP lacks; \"{}\" "
          "as\n# mixed_precision_param, the default, corresponds to strategy.param_dtype={}\n",
          torch_dtype_word(compute_dtype(job_)), name_of(compute_dtype(job_)));
    if (strategy.reshard && *strategy.reshard > Fsdp::kept)
      note("strategy.reshard_after_forward", fmt::format("{}", *strategy.reshard));
    for (const auto* key :
         {"strategy.wrap", "strategy.forward_prefetch", "strategy.backward_prefetch", "strategy.no_sync"})
      notes_ += unsupported_note(key, setting_text(job_, key));
  }

  const Job& job_;
  const SnippetModel& model_;
  TrainerText text_;
  std::string notes_;
};

}  // namespace

std::string unsupported_note(std::string_view key, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("# the predicted job has {}: {}, for which this framework has no setting\n", key, value);
}

std::string unsupported_notes(const Job& job) {
  const bool is_megatron = job.framework == Framework::megatron;
  std::string notes;
  const auto note = [&](std::string_view key) { notes += unsupported_note(key, setting_text(job, key)); };
  if (job.lora) notes += unsupported_note("job.finetune", job.lora->quantised ? "qlora" : "lora");
  note("job.state_dtype");
  if (!is_megatron) note("job.attention");
  if (!is_megatron) note("job.cuda_graphs");
  note("job.composed_norms");
  if (job.implementation == Implementation::hugging_face) note("job.implementation");
  note("parallel.expert_imbalance");
  if (!job.layout.expert_rows.empty())
    notes += unsupported_note("parallel.expert_rows", "as in the scenario");
  if (!is_megatron) note("parallel.expert_capacity_factor");
  for (const auto& [name, value] : job.nccl) notes += fmt::format("# export {}={}\n", name, value);
  return notes;
}

std::string torchtitan_tables(const Job& job, const SnippetModel& model) {
  return Tables{job, model}.text();
}

}  // namespace gradway::report
