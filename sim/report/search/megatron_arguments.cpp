// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/report/search/snippet_parts.hpp"
#include "sim/report/search/trainer_text.hpp"

namespace gradway::report {
namespace {

class ArgumentList {
 public:
  ArgumentList(const Job& job, const SnippetModel& model)
      : job_{job}, layout_{job.layout}, model_{model}, text_{dialects::megatron(), job} {}

  std::string text() {
    if (model_.tokens > 0) text_.put("seq_length", model_.tokens);
    put_layout();
    text_.put("micro_batch_size", job_.batch_per_gpu);
    text_.put("global_batch_size", static_cast<std::int64_t>(job_.samples()));
    put_precision();
    if (!fuses_activation(job_.fusions)) {
      text_.put("no_bias_swiglu_fusion", "true");
      text_.put("no_bias_gelu_fusion", "true");
    }
    if (!fuses_rope(job_.fusions)) text_.put("no_rope_fusion", "true");
    if (job_.recompute == Recompute::selective) {
      text_.put("recompute_granularity", "selective");
      if (auto modules = job_.recompute_modules; modules != Job{}.recompute_modules) {
        std::erase(modules, ',');
        text_.put("recompute_modules", modules);
      }
    }
    if (auto modules = job_.offload_activations; !modules.empty() && modules != "all") {
      std::erase(modules, ',');
      text_.put("fine_grained_activation_offloading", "true");
      text_.put("offload_modules", modules);
    }
    if (runs_blocks_again(job_.recompute)) {
      text_.put("recompute_granularity", "full");
      text_.put("recompute_method", "uniform");
      text_.put("recompute_num_layers", job_.recompute_every);
    }
    put_optimizer();
    if (layout_.expert_capacity_factor) {
      text_.put("moe_expert_capacity_factor", fmt::format("{}", *layout_.expert_capacity_factor));
      text_.put("moe_pad_expert_input_to_capacity", "true");
    }
    // CUDA graphs of whole blocks or whole iterations.
    if (job_.cuda_graphs != CudaGraphs::none) {
      text_.put("cuda_graph_impl", "local");
      text_.put("cuda_graph_scope", job_.cuda_graphs == CudaGraphs::step ? "full_iteration" : "full");
    }
    if (job_.compiled) note("job.compile", "true");
    notes_ += text_.put_rows();
    return notes_ + unsupported_notes(job_) + text_.arguments();
  }

 private:
  void note(std::string_view key, std::string_view value) {
    notes_ += unsupported_note(key, std::string{value});
  }

  void put_layout() {
    // By default tensor ranks shard experts as they shard layers.
    if (layout_.expert * layout_.expert_tensor > 1 || (model_.has_experts && layout_.tensor > 1)) {
      text_.put("expert_model_parallel_size", layout_.expert);
      text_.put("expert_tensor_parallel_size", layout_.expert_tensor);
    }
    if (!layout_.stage_layout.empty()) {
      text_.put("pipeline_model_parallel_layout", shell_word(layout_.stage_layout));
    } else if (layout_.chunks > 1) {
      text_.put("num_layers", model_.blocks);
      text_.put("num_layers_per_virtual_pipeline_stage", model_.blocks / (layout_.pipeline * layout_.chunks));
    }
  }

  /// Megatron keeps 16-bit weights and fp32 master weights; it has no autocast.
  void put_precision() {
    const auto precision = precision_outside_fp8(job_.precision);
    if (precision == Precision::bf16) text_.put("bf16", "true");
    if (precision == Precision::fp16) text_.put("fp16", "true");
    if (precision == Precision::tf32) note("job.precision", "tf32");
    const auto fp8 = fp8_of(job_);
    if (!fp8) return;
    if (fp8->recipe == Fp8Recipe::nvfp4) {
      text_.put("fp4_format", "e2m1");
      text_.put("fp4_recipe", "nvfp4");
    } else if (fp8->recipe == Fp8Recipe::rowwise) {
      note("job.fp8_recipe", "rowwise");
    } else {
      text_.put("fp8_format", fp8->recipe == Fp8Recipe::mxfp8 ? "e4m3" : "hybrid");
      text_.put("fp8_recipe", std::string{name_of(fp8->recipe)});
    }
    if (fp8->attention) text_.put("fp8_dot_product_attention", "true");
  }

  void put_optimizer() {
    const bool is_sgd = job_.optimizer == Optimizer::sgd_momentum;
    if (is_sgd) text_.put("optimizer", "sgd");
    if (!is_sgd && job_.optimizer != Optimizer::adamw_fused) note("optimizer", name_of(job_.optimizer));
    if (const auto* fsdp = std::get_if<Fsdp>(&job_.strategy); fsdp != nullptr && fsdp->megatron_fsdp) {
      text_.put("use_megatron_fsdp", "true");
      text_.put("data_parallel_sharding_strategy",
                fsdp->reshard == Fsdp::kept ? "optim_grads" : "optim_grads_params");
      if (fsdp->reduce_dtype)
        text_.put("megatron_fsdp_main_grads_dtype", std::string{name_of(*fsdp->reduce_dtype)});
      return;
    }
    const auto* strategy = std::get_if<DistributedOptimizer>(&job_.strategy);
    if (strategy == nullptr) {
      notes_ += "# the predicted job does not use a strategy of Megatron\n";
      return;
    }
    if (strategy->bucket_size) text_.put("ddp_bucket_size", std::llround(*strategy->bucket_size));
    const auto precision = precision_outside_fp8(job_.precision);
    if (precision == Precision::bf16 && strategy->grad_reduce_dtype == Number::bf16)
      text_.put("grad_reduce_in_bf16", "true");
    if (precision == Precision::fp16 && strategy->grad_reduce_dtype == Number::fp32)
      text_.put("accumulate_allreduce_grads_in_fp32", "true");
    if (strategy->tensor_owners) note("strategy.tensor_owners", fmt::format("{}", *strategy->tensor_owners));
  }

  const Job& job_;
  const Layout& layout_;
  const SnippetModel& model_;
  TrainerText text_;
  std::string notes_;
};

}  // namespace

std::string megatron_arguments(const Job& job, const SnippetModel& model) {
  return ArgumentList{job, model}.text();
}

}  // namespace gradway::report
