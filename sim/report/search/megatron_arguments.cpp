// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/search/snippet_parts.hpp"

namespace gradway::report {
namespace {

class ArgumentList {
 public:
  ArgumentList(const Job& job, const SnippetModel& model) : job_{job}, layout_{job.layout}, model_{model} {}

  std::string text() {
    if (model_.tokens > 0) add("--seq-length {}", model_.tokens);
    write_layout();
    add("--micro-batch-size {}", job_.batch_per_gpu);
    add("--global-batch-size {:.0f}", job_.samples());
    write_precision();
    write_attention();
    if (!fuses_activation(job_.fusions)) add("--no-bias-swiglu-fusion --no-bias-gelu-fusion");
    if (!fuses_rope(job_.fusions)) add("--no-rope-fusion");
    if (runs_blocks_again(job_.recompute))
      add("--recompute-granularity full --recompute-method uniform --recompute-num-layers {}",
          job_.recompute_every);
    if (job_.recompute == Recompute::selective) add("--recompute-granularity selective");
    write_optimizer();
    if (layout_.expert_capacity_factor)
      add("--moe-expert-capacity-factor {} --moe-pad-expert-input-to-capacity",
          *layout_.expert_capacity_factor);
    if (layout_.order != Layout{}.order) write_order();
    write_graphs();
    if (job_.compiled) notes_ += unsupported_note("job.compile", "true");
    return fmt::format("{}{}{}\n", notes_, unsupported_notes(job_), fmt::join(arguments_, " \\\n"));
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    arguments_.push_back(fmt::format(format, std::forward<Values>(values)...));
  }

  void write_layout() {
    add("--tensor-model-parallel-size {}", layout_.tensor);
    if (layout_.sequence) add("--sequence-parallel");
    if (layout_.tensor > 1 && layout_.overlap == TensorOverlap::userbuffers) add("--tp-comm-overlap");
    if (layout_.tensor > 1 && layout_.overlap == TensorOverlap::none)
      add("--no-async-tensor-model-parallel-allreduce");
    add("--pipeline-model-parallel-size {}", layout_.pipeline);
    if (layout_.context > 1) {
      constexpr std::array<std::string_view, 3> methods{"p2p", "all_gather", "a2a"};
      add("--context-parallel-size {} --cp-comm-type {}", layout_.context,
          methods[static_cast<std::size_t>(layout_.context_method)]);
    }
    // By default tensor ranks shard experts as they shard layers.
    if (layout_.expert * layout_.expert_tensor > 1 || (model_.has_experts && layout_.tensor > 1))
      add("--expert-model-parallel-size {} --expert-tensor-parallel-size {}", layout_.expert,
          layout_.expert_tensor);
    if (layout_.chunks > 1)
      add("--num-layers {} --num-layers-per-virtual-pipeline-stage {}", model_.blocks,
          model_.blocks / (layout_.pipeline * layout_.chunks));
  }

  /// Megatron keeps 16-bit weights and fp32 master weights; it has no autocast.
  void write_precision() {
    const auto precision = precision_outside_fp8(job_.precision);
    if (precision == Precision::bf16) add("--bf16");
    if (precision == Precision::fp16) add("--fp16");
    if (precision == Precision::tf32) notes_ += unsupported_note("job.precision", "tf32");
    const auto fp8 = fp8_of(job_);
    if (!fp8) return;
    if (fp8->recipe == Fp8Recipe::nvfp4) {
      add("--fp4-format e2m1 --fp4-recipe nvfp4");
    } else if (fp8->recipe == Fp8Recipe::rowwise) {
      notes_ += unsupported_note("job.fp8_recipe", "rowwise");
    } else {
      add("--fp8-format {} --fp8-recipe {}", fp8->recipe == Fp8Recipe::mxfp8 ? "e4m3" : "hybrid",
          name_of(fp8->recipe));
    }
    if (fp8->attention) add("--fp8-dot-product-attention");
  }

  /// CUDA graphs of whole blocks or whole iterations.
  void write_graphs() {
    if (job_.cuda_graphs == CudaGraphs::none) return;
    add("--cuda-graph-impl local --cuda-graph-scope {}",
        job_.cuda_graphs == CudaGraphs::step ? "full_iteration" : "full");
  }

  void write_attention() {
    switch (job_.attention) {
      case AttentionKernel::automatic:
        return;
      case AttentionKernel::cudnn:
        return add("--attention-backend fused");
      case AttentionKernel::flash:
        return add("--attention-backend flash");
      case AttentionKernel::math:
        return add("--attention-backend unfused");
      case AttentionKernel::flash1:
      case AttentionKernel::efficient:
      case AttentionKernel::composed:
        notes_ += unsupported_note("job.attention", std::string{name_of(job_.attention)});
    }
  }

  void write_optimizer() {
    const bool is_sgd = job_.optimizer == Optimizer::sgd_momentum;
    if (is_sgd) add("--optimizer sgd");
    if (!is_sgd && job_.optimizer != Optimizer::adamw_fused)
      notes_ += unsupported_note("optimizer", std::string{name_of(job_.optimizer)});
    add("--clip-grad {}", job_.clip_grad_norm ? "1.0" : "0.0");
    const auto* strategy = std::get_if<DistributedOptimizer>(&job_.strategy);
    if (strategy == nullptr) {
      notes_ += "# the predicted job does not use a strategy of Megatron\n";
      return;
    }
    if (strategy->shards) add("--use-distributed-optimizer");
    if (strategy->overlap_grad_reduce) add("--overlap-grad-reduce");
    if (strategy->overlap_param_gather) add("--overlap-param-gather");
    if (strategy->bucket_size) add("--ddp-bucket-size {:.0f}", *strategy->bucket_size);
    const auto precision = precision_outside_fp8(job_.precision);
    if (precision == Precision::bf16 && strategy->grad_reduce_dtype == Number::bf16)
      add("--grad-reduce-in-bf16");
    if (precision == Precision::fp16 && strategy->grad_reduce_dtype == Number::fp32)
      add("--accumulate-allreduce-grads-in-fp32");
    if (strategy->fp8_param_gather) add("--fp8-param-gather");
    if (strategy->tensor_owners)
      notes_ += unsupported_note("strategy.tensor_owners", fmt::format("{}", *strategy->tensor_owners));
  }

  void write_order() {
    constexpr std::array pipeline_before_data{RankAxis::tensor, RankAxis::context, RankAxis::expert,
                                              RankAxis::pipeline, RankAxis::data};
    if (layout_.order == pipeline_before_data) return add("--use-tp-pp-dp-mapping");
    std::vector<std::string_view> order;
    for (const auto axis : layout_.order) order.push_back(rank_axis_words[static_cast<std::size_t>(axis)]);
    notes_ += unsupported_note("parallel.order", fmt::format("{}", fmt::join(order, "-")));
  }

  const Job& job_;
  const Layout& layout_;
  const SnippetModel& model_;
  std::vector<std::string> arguments_;
  std::string notes_;
};

}  // namespace

std::string megatron_arguments(const Job& job, const SnippetModel& model) {
  return ArgumentList{job, model}.text();
}

}  // namespace gradway::report
