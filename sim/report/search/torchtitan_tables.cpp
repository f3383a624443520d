// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/report/format/words.hpp"
#include "sim/report/search/snippet_parts.hpp"
#include "sim/scenario/pipeline/schedule.hpp"

namespace gradway::report {
namespace {

/// Names of torch.distributed.pipelining.schedules.
std::string_view torch_name_of(Schedule schedule) {
  constexpr std::array<std::string_view, 7> names{
      "GPipe", "1F1B", "Interleaved1F1B", "LoopedBFS", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV"};
  return names[static_cast<std::size_t>(schedule)];
}

std::string_view torch_dtype_word(Number number) {
  return number == Number::bf16 ? "bfloat16" : number == Number::fp16 ? "float16" : "float32";
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
  Tables(const Job& job, const SnippetModel& model) : job_{job}, model_{model} {}

  std::string text() {
    write_parallelism();
    write_training();
    write_checkpoints();
    write_compile();
    write_optimizer();
    write_float8();
    note_rest();
    return text_ + notes_ + unsupported_notes(job_);
  }

 private:
  template <class Value>
  void add(std::string_view key, const Value& value) {
    text_ += fmt::format("{} = {}\n", key, value);
  }
  void add_word(std::string_view key, std::string_view word) { add(key, fmt::format("\"{}\"", word)); }
  void table(std::string_view name) { text_ += fmt::format("{}[{}]\n", text_.empty() ? "" : "\n", name); }
  void note(std::string_view key, const std::string& value) { notes_ += unsupported_note(key, value); }

  const Fsdp* fsdp() const { return std::get_if<Fsdp>(&job_.strategy); }

  void write_parallelism() {
    const auto& layout = job_.layout;
    const auto data = job_.data_parallel();
    const auto replicas = fsdp() != nullptr ? replicas_of(job_.strategy) : data;
    table("parallelism");
    add("data_parallel_replicate_degree", replicas);
    add("data_parallel_shard_degree", data / replicas);
    if (fsdp() != nullptr && fsdp()->reshard)
      add_word("fsdp_reshard_after_forward", *fsdp()->reshard == Fsdp::kept ? "never" : "always");
    add("tensor_parallel_degree", layout.tensor);
    if (layout.overlap == TensorOverlap::async_tp && layout.tensor > 1)
      add("enable_async_tensor_parallel", "true");
    add("pipeline_parallel_degree", layout.pipeline);
    if (layout.context > 1) {
      add("context_parallel_degree", layout.context);
      add_word("context_parallel_rotate_method",
               layout.context_method == ContextMethod::ring ? "alltoall" : "allgather");
    }
    if (layout.expert > 1) add("expert_parallel_degree", layout.expert);
    if (layout.expert_tensor > 1) add("expert_tensor_parallel_degree", layout.expert_tensor);
    if (layout.pipeline > 1) write_pipeline();
  }

  void write_pipeline() {
    const auto& layout = job_.layout;
    add_word("pipeline_parallel_schedule", torch_name_of(layout.schedule));
    add("pipeline_parallel_microbatch_size", job_.batch_per_gpu);
    const auto stages = pipeline_of(layout).stages();
    if (model_.blocks % stages != 0) return;
    add("pipeline_parallel_layers_per_stage", model_.blocks / stages);
    add("pipeline_parallel_first_stage_less_layers", 0);
    add("pipeline_parallel_last_stage_less_layers", 0);
  }

  void write_training() {
    table("training");
    if (model_.tokens > 0) add("seq_len", model_.tokens);
    add("local_batch_size",
        job_.layout.pipeline > 1 ? job_.batch_per_gpu * job_.accumulate : job_.batch_per_gpu);
    add("global_batch_size", fmt::format("{:.0f}", job_.samples()));
    add("max_norm", job_.clip_grad_norm ? "1.0" : "0.0");
    const auto param = fsdp() != nullptr ? fsdp()->param_dtype.value_or(Number::fp32) : compute_dtype(job_);
    add_word("mixed_precision_param", torch_dtype_word(param));
    if (fsdp() == nullptr) return;
    add_word("mixed_precision_reduce", torch_dtype_word(fsdp()->reduce_dtype.value_or(param)));
    if (fsdp()->cpu_offload) add("enable_cpu_offload", "true");
  }

  void write_checkpoints() {
    table("activation_checkpoint");
    const bool selects = runs_blocks_again(job_.recompute) &&
                         (job_.recompute == Recompute::selective_op || job_.recompute_every > 1);
    add_word("mode", selects ? "selective" : runs_blocks_again(job_.recompute) ? "full" : "none");
    if (selects)
      add_word("selective_ac_option",
               job_.recompute == Recompute::selective_op ? "op" : fmt::format("{}", job_.recompute_every));
  }

  void write_compile() {
    table("compile");
    add("enable", job_.compiled ? "true" : "false");
    if (job_.compiled) add("components", job_.fused_loss ? "[\"model\", \"loss\"]" : "[\"model\"]");
  }

  void write_optimizer() {
    const bool fused = job_.optimizer == Optimizer::adamw_fused;
    if (!fused && job_.optimizer != Optimizer::adamw)
      return note("optimizer", std::string{name_of(job_.optimizer)});
    table("optimizer");
    add_word("name", "AdamW");
    add_word("implementation", fused ? "fused" : "foreach");
  }

  void write_float8() {
    const auto fp8 = fp8_of(job_);
    if (!fp8) return;
    if (fp8->recipe == Fp8Recipe::nvfp4) return note("job.precision", "nvfp4");
    if (fp8->by_transformer_engine) return note("job.fp8_recipe", std::string{name_of(fp8->recipe)});
    table("model");
    add("converters", "[\"quantize.linear.float8\"]");
    table("quantize.linear.float8");
    add_word("recipe_name", fp8->recipe == Fp8Recipe::rowwise ? "rowwise" : "tensorwise");
    if (fsdp() != nullptr && fsdp()->fp8_all_gather) add("enable_fsdp_float8_all_gather", "true");
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
    if (strategy.wrap != Wrap{}) note("strategy.wrap", wrap_text(strategy.wrap));
    if (strategy.forward_prefetch > 0)
      note("strategy.forward_prefetch", fmt::format("{}", strategy.forward_prefetch));
    if (strategy.backward_prefetch > 0)
      note("strategy.backward_prefetch", fmt::format("{}", strategy.backward_prefetch));
    if (strategy.no_sync) note("strategy.no_sync", "true");
  }

  static std::string wrap_text(const Wrap& wrap) {
    return wrap.blocks == 0 ? "whole" : fmt::format("{} blocks", wrap.blocks);
  }

  const Job& job_;
  const SnippetModel& model_;
  std::string text_;
  std::string notes_;
};

}  // namespace

std::string unsupported_note(std::string_view key, const std::string& value) {
  return fmt::format("# the predicted job has {}: {}, for which this framework has no setting\n", key, value);
}

std::string unsupported_notes(const Job& job) {
  std::string notes;
  if (job.lora) notes += unsupported_note("job.finetune", job.lora->quantised ? "qlora" : "lora");
  if (has_half_states(job))
    notes += unsupported_note("job.state_dtype", std::string{name_of(job.state_dtype)});
  if (job.framework != Framework::megatron && job.attention != AttentionKernel::automatic)
    notes += unsupported_note("job.attention", std::string{name_of(job.attention)});
  if (job.framework != Framework::megatron && job.cuda_graphs != CudaGraphs::none)
    notes += unsupported_note("job.cuda_graphs", std::string{name_of(job.cuda_graphs)});
  if (job.composed_norms) notes += unsupported_note("job.composed_norms", "true");
  if (job.implementation == Implementation::hugging_face)
    notes += unsupported_note("job.implementation", std::string{name_of(job.implementation)});
  if (job.layout.expert_imbalance != 1)
    notes += unsupported_note("parallel.expert_imbalance", fmt::format("{}", job.layout.expert_imbalance));
  if (!job.layout.expert_rows.empty())
    notes += unsupported_note("parallel.expert_rows", "as in the scenario");
  if (job.framework != Framework::megatron && job.layout.expert_capacity_factor)
    notes += unsupported_note("parallel.expert_capacity_factor",
                              fmt::format("{}", *job.layout.expert_capacity_factor));
  for (const auto& [name, value] : job.nccl) notes += fmt::format("# export {}={}\n", name, value);
  return notes;
}

std::string torchtitan_tables(const Job& job, const SnippetModel& model) {
  return Tables{job, model}.text();
}

}  // namespace gradway::report
