// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/check.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/pipeline/stage_layout.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway::config {
namespace {

/// The largest divisor up to `most`.
int largest_divisor(int number, int most) {
  while (number % most != 0) --most;
  return most;
}

/// Why a strategy does not support pipeline parallelism, and what to write instead.
struct Refusal {
  std::string reason{};  ///< empty: it does
  std::string hint{};
};

struct PipelineRefusal {
  Refusal operator()(const NoExchange&) const { return {}; }
  Refusal operator()(const OneCollective&) const { return {}; }
  Refusal operator()(const Ddp&) const { return {}; }
  Refusal operator()(const Fsdp&) const { return {}; }
  Refusal operator()(const Fsdp1&) const {
    return {"pipeline parallelism is not simulated with strategy fsdp1",
            "write 'kind: fsdp', which is FSDP2"};
  }
  Refusal operator()(const Zero& zero) const {
    if (zero.stage == 1) return {};
    return {fmt::format("DeepSpeed does not support pipeline parallelism with ZeRO stage {}", zero.stage),
            "write 'stage: 1'"};
  }
  Refusal operator()(const DistributedOptimizer&) const { return {}; }
};

class CheckLayout {
 public:
  CheckLayout(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems)
      : scenario_{scenario}, job_{scenario.job}, layout_{job_.layout}, model_{model}, problems_{problems} {}

  void run() {
    refuse_overlap();
    refuse_load("parallel.expert_imbalance", layout_.expert_imbalance != 1);
    refuse_load("parallel.expert_skew", layout_.expert_skew != 0);
    refuse_load("parallel.expert_rows", !layout_.expert_rows.empty());
    if (layout_.expert_capacity_factor || layout_.is_model_parallel()) check_experts();
    if (!layout_.is_model_parallel()) return;
    check_ranks();
    check_model();
    if (layout_.pipeline > 1) check_pipeline();
  }

 private:
  void add(const char* key, std::string message, std::string hint, std::vector<Note> notes = {}) {
    problems_.add(scenario_.place(key), std::move(message), std::move(hint), std::move(notes));
  }

  Note at(const char* key, std::string message) const { return {scenario_.place(key), std::move(message)}; }

  void refuse_overlap() {
    const bool is_megatron = has_megatron_modules(job_) && layout_.tensor > 1;
    if (layout_.overlap == TensorOverlap::userbuffers && !(is_megatron && layout_.sequence)) {
      add("parallel.overlap",
          "parallel.overlap userbuffers requires Megatron's layers and sequence parallelism",
          "write 'framework: megatron', 'tensor' and 'sequence: true', or leave it out");
    } else if (layout_.overlap == TensorOverlap::async_tp &&
               !(job_.framework == Framework::pytorch && job_.compiled && layout_.sequence)) {
      add("parallel.overlap",
          "parallel.overlap async_tp requires PyTorch's compiled layers and sequence parallelism",
          "write 'framework: pytorch', 'compile: true', 'tensor' and 'sequence: true', or leave it out");
    } else if (layout_.overlap == TensorOverlap::none && is_megatron && layout_.sequence) {
      add("parallel.overlap",
          "parallel.overlap none is not available: with sequence parallelism Megatron always overlaps "
          "communication",
          "leave parallel.overlap out, or set 'sequence: false'");
    } else if (!is_megatron && layout_.overlap == TensorOverlap::none) {
      add("parallel.overlap",
          "parallel.overlap has no effect: it applies to Megatron's tensor parallelism only",
          "write 'framework: megatron' and 'tensor', or leave it out");
    }
  }

  /// Refuses a key for unequal loads of experts where loads are known.
  void refuse_load(const char* key, bool is_set) {
    if (!is_set || layout_.expert == 1) return;
    if (layout_.expert_capacity_factor) {
      add(key,
          fmt::format("{} has no effect: parallel.expert_capacity_factor fixes the rows of each expert", key),
          "leave one of them out", {at("parallel.expert_capacity_factor", "the capacity is set here")});
    } else if (!layout_.expert_rows.empty() && key != std::string_view{"parallel.expert_rows"}) {
      add(key, fmt::format("{} conflicts with parallel.expert_rows: both set the load of experts", key),
          "leave one of them out", {at("parallel.expert_rows", "the rows are here")});
    }
  }

  void check_expert_rows(int experts, const Note& model) {
    const auto& rows = layout_.expert_rows;
    if (rows.empty()) return;
    const auto written = static_cast<int>(rows.front().size());
    if (written != experts)
      add("parallel.expert_rows",
          fmt::format("parallel.expert_rows has {} experts, but the model '{}' has {} per layer", written,
                      model_.model.name, experts),
          "write one number per expert", {model});
    const auto layers = std::ranges::count(model_.model.layers, LayerRole::dispatch, &Layer::role);
    if (rows.size() > 1 && std::ssize(rows) != layers)
      add("parallel.expert_rows",
          fmt::format("parallel.expert_rows has {} layers, but the model '{}' has {} with experts",
                      rows.size(), model_.model.name, layers),
          "write one list per layer with experts, or one list for all", {model});
  }

  void check_ranks() {
    const auto of_model = layout_.model_parallel_ranks();
    if (job_.gpus % of_model != 0) {
      add(key_of_ranks(),
          fmt::format("job.gpus {} is not divisible by the {} model-parallel ranks", job_.gpus, of_model),
          fmt::format("job.gpus {} would fit", std::max(1, job_.gpus / of_model) * of_model),
          {at("job.gpus", "the GPUs are here")});
      return;
    }
    const auto of_experts = layout_.expert * layout_.expert_tensor * layout_.pipeline;
    if (job_.gpus % of_experts == 0) return;
    add(layout_.expert > 1 ? "parallel.expert" : "parallel.expert_tensor",
        fmt::format("job.gpus {} is not divisible by the {} ranks that share the experts{}", job_.gpus,
                    of_experts, layout_.pipeline > 1 ? " of all stages" : ""),
        fmt::format("job.gpus {} would fit", std::max(1, job_.gpus / of_experts) * of_experts),
        {at("job.gpus", "the GPUs are here")});
  }

  const char* key_of_ranks() const {
    if (layout_.pipeline > 1) return "parallel.pipeline";
    if (layout_.tensor > 1) return "parallel.tensor";
    if (layout_.context > 1) return "parallel.context";
    return layout_.expert > 1 ? "parallel.expert" : "parallel.expert_tensor";
  }

  void check_model() {
    const auto* key = key_of_ranks();
    if (!trains(job_.strategy)) {
      add(key, "strategy.kind collective has no model to distribute", "leave it out");
    } else if (model_.model.profile) {
      add(key,
          fmt::format(
              "the profile '{}' was recorded from the whole model on one GPU and cannot be distributed",
              model_.model.name),
          "choose a model that is described by its architecture (gradway list models)",
          {{model_.kind, "the profile is here"}});
    } else if (!model_.model.captured) {  // captures are checked by check_captured
      if (layout_.tensor > 1) check_tensor();
      if (layout_.context > 1) check_context();
    }
  }

  void check_context() {
    const Note model_note{model_.kind, "the model is here"};
    const auto& model = model_.model;
    const auto c = layout_.context;
    if (model.causal_heads == 0) {
      return add(
          "parallel.context",
          fmt::format("context parallelism requires a decoder, and the model '{}' is none", model.name),
          "leave it out, or choose another model", {model_note});
    }
    const int tokens = job_.sequence > 0 ? job_.sequence : model.tokens_per_sample;
    const bool swaps = layout_.context_method == ContextMethod::all_to_all;
    const int slices = swaps ? c : 2 * c;
    if (tokens % slices != 0) {
      add("parallel.context",
          fmt::format(
              "a sequence of {} tokens is not divisible into the {} parts of {} context-parallel ranks",
              tokens, slices, c),
          fmt::format("job.sequence {} would fit", std::max(1, tokens / slices) * slices),
          {at("job.sequence", "the tokens are here")});
    }
    if (!swaps) return;
    const auto t = layout_.tensor;
    const auto kv = std::max(1, model.causal_kv_heads / t);
    for (const auto& [noun, heads] :
         {std::pair{"heads", std::max(1, model.causal_heads / t)}, {"key-value heads", kv}}) {
      if (heads % c == 0) continue;
      return add("parallel.context",
                 fmt::format("parallel.context {} does not divide the {} {} per rank of the model '{}'", c,
                             heads, noun, model.name),
                 fmt::format("parallel.context {} would fit, or another context_method",
                             largest_divisor(heads, std::min(heads, c))),
                 {model_note});
    }
  }

  void check_experts() {
    const Note model_note{model_.kind, "the model is here"};
    const auto& experts = model_.model.experts;
    const auto* key = layout_.expert > 1          ? "parallel.expert"
                      : layout_.expert_tensor > 1 ? "parallel.expert_tensor"
                                                  : "parallel.expert_capacity_factor";
    const bool asks = layout_.expert * layout_.expert_tensor > 1 || layout_.expert_capacity_factor;
    if (!asks || !trains(job_.strategy)) return;
    if (model_.model.profile) {
      if (layout_.expert_capacity_factor)
        add("parallel.expert_capacity_factor",
            fmt::format("parallel.expert_capacity_factor has no effect: the model '{}' is a profile with "
                        "recorded kernels",
                        model_.model.name),
            "leave it out, or record a step with this capacity", {model_note});
      return;
    }
    if (model_.model.captured && layout_.expert * layout_.expert_tensor > 1) return;  // see check_captured
    if (experts.number == 0) {
      return add(key, fmt::format("{} has no effect: the model '{}' has no experts", key, model_.model.name),
                 "leave it out, or choose a model with experts", {model_note});
    }
    if (experts.number % layout_.expert != 0) {
      add("parallel.expert",
          fmt::format("parallel.expert {} does not divide the {} experts of the model '{}'", layout_.expert,
                      experts.number, model_.model.name),
          fmt::format("parallel.expert {} would fit",
                      largest_divisor(experts.number, std::min(experts.number, layout_.expert))),
          {model_note});
    }
    check_expert_rows(experts.number, model_note);
    if (experts.mlp % layout_.expert_tensor != 0) {
      add("parallel.expert_tensor",
          fmt::format(
              "parallel.expert_tensor {} does not divide the {} columns of an expert of the model '{}'",
              layout_.expert_tensor, experts.mlp, model_.model.name),
          fmt::format("parallel.expert_tensor {} would fit",
                      largest_divisor(experts.mlp, std::min(experts.mlp, layout_.expert_tensor))),
          {model_note});
    }
    const auto replicate = replicas_of(job_.strategy);
    if (job_.gpus >= layout_.expert * layout_.expert_tensor * layout_.pipeline &&
        job_.expert_replicas() % replicate != 0) {
      add("parallel.replicate",
          fmt::format("parallel.replicate {} does not divide the {} ranks that hold the same experts",
                      replicate, job_.expert_replicas()),
          "leave it out", {at("parallel.expert", "expert parallelism is set here")});
    }
  }

  void check_tensor() {
    const Note model_note{model_.kind, "the model is here"};
    const auto t = layout_.tensor;
    const auto& shape = model_.model.tensor;
    if (shape && model_.model.experts.number > 0) {
      if (!has_megatron_modules(job_)) {
        add("parallel.tensor",
            "tensor parallelism of a model with experts is only simulated with framework megatron",
            "write 'framework: megatron', or leave it out", {model_note});
      } else if (!layout_.sequence) {
        add("parallel.tensor",
            "Megatron requires sequence parallelism for the tensor parallelism of a model with experts",
            "write 'sequence: true'", {model_note});
      }
    }
    if (!shape) {
      return add(
          "parallel.tensor",
          fmt::format(
              "tensor parallelism requires a decoder whose heads can be divided, and the model '{}' is none",
              model_.model.name),
          "set parallel.pipeline, or choose another model", {model_note});
    }
    for (const auto& [noun, count] : {std::pair{"heads", shape->heads}, {"columns of its MLP", shape->mlp}}) {
      if (count % t == 0) continue;
      return add("parallel.tensor",
                 fmt::format("parallel.tensor {} does not divide the {} {} of the model '{}'", t, count, noun,
                             model_.model.name),
                 fmt::format("parallel.tensor {} would fit", largest_divisor(count, t)), {model_note});
    }
    if (shape->kv_heads % t != 0 && t % shape->kv_heads != 0) {
      add("parallel.tensor",
          fmt::format(
              "parallel.tensor {} and the {} key-value heads of the model '{}' do not divide each other", t,
              shape->kv_heads, model_.model.name),
          fmt::format("parallel.tensor {} would fit", largest_divisor(shape->kv_heads, t)), {model_note});
    }
  }

  void check_pipeline() {
    const auto pipeline = pipeline_of(layout_);
    check_chunks();
    if (!layout_.stage_layout.empty()) {
      check_stage_layout();
    } else if (!model_.model.profile && trains(job_.strategy)) {
      if (const auto blocks = pipeline_units(model_.model); blocks < pipeline.stages()) {
        add("parallel.pipeline",
            fmt::format("{} pipeline stages are too many: the model '{}' has {} block{}", pipeline.stages(),
                        model_.model.name, blocks, blocks == 1 ? "" : "s"),
            blocks > 1 ? fmt::format("at most {} stages (parallel.pipeline times parallel.virtual)", blocks)
                       : "choose a model with more blocks",
            {{model_.kind, "the model is here"}});
      }
    }
    check_micro_batches();
    check_sharding();
  }

  void check_stage_layout() {
    constexpr auto key = "parallel.stage_layout";
    const auto [blocks, problem] = read_stage_layout(layout_.stage_layout);
    const auto stages = layout_.pipeline * layout_.chunks;
    const auto of_model = pipeline_units(model_.model);
    const auto written = std::accumulate(blocks.begin(), blocks.end(), 0);
    if (!problem.empty()) {
      add(key, fmt::format("'{}' does not describe stages: {}", layout_.stage_layout, problem),
          "write what each stage has, such as 'Et*3|(tt|)*29|L'");
    } else if (std::ssize(blocks) != stages) {
      add(key,
          fmt::format(
              "parallel.stage_layout has {} stages, but parallel.pipeline {} times parallel.virtual {} "
              "makes {}",
              blocks.size(), layout_.pipeline, layout_.chunks, stages),
          "write as many stages, with a | between two");
    } else if (written != of_model) {
      add(key,
          fmt::format("parallel.stage_layout has {} blocks, but the model '{}' has {}", written,
                      model_.model.name, of_model),
          "write one t for each block", {{model_.kind, "the model is here"}});
    } else {
      const auto of_layers = stages_of_layers(model_.model, pipeline_of(layout_));
      for (int stage = 0; stage < stages; ++stage)
        if (std::ranges::find(of_layers, stage) == of_layers.end())
          add(key, fmt::format("stage {} of parallel.stage_layout has no layer", stage + 1),
              "write at least one t for it");
    }
  }

  /// @source deepspeed/runtime/pipe/engine.py at edaa7221, PipelineEngine.__init__, of ZeRO
  void check_sharding() {
    const auto refusal = std::visit(PipelineRefusal{}, job_.strategy);
    if (!refusal.reason.empty())
      add("parallel.pipeline", refusal.reason, refusal.hint, {at("strategy.kind", "the strategy is here")});
  }

  void check_chunks() {
    const auto schedule = layout_.schedule;
    const bool v_shaped = pipeline_of(layout_).is_v_shaped();
    const bool takes_many = schedule == Schedule::interleaved || schedule == Schedule::looped_bfs;
    if (v_shaped && layout_.chunks != 2) {
      add("parallel.virtual", fmt::format("schedule {} requires 2 chunks per rank", name_of(schedule)),
          "write 'virtual: 2', or leave it out", {at("parallel.schedule", "the schedule is here")});
    } else if (!v_shaped && !takes_many && layout_.chunks > 1) {
      add("parallel.virtual",
          fmt::format("schedule {} requires 1 chunk per rank, not {}", name_of(schedule), layout_.chunks),
          "write 'schedule: interleaved', or leave it out");
    } else if (takes_many && layout_.chunks == 1) {
      add("parallel.schedule", fmt::format("schedule {} requires several chunks per rank", name_of(schedule)),
          "set parallel.virtual, or write 'schedule: 1f1b'");
    } else if (layout_.chunks > 1 && job_.framework == Framework::deepspeed) {
      add("parallel.schedule",
          fmt::format("schedule {} with {} chunks per rank is not available in DeepSpeed, which has one",
                      name_of(schedule), layout_.chunks),
          "write 'schedule: 1f1b', or 'framework: megatron'", {at("job.framework", "the framework is here")});
    }
  }

  void check_micro_batches() {
    const auto schedule = layout_.schedule;
    const auto p = layout_.pipeline;
    const auto m = job_.accumulate;
    const auto need = schedule == Schedule::dual_pipe_v ? 2 * p : schedule == Schedule::zb_v ? 2 * p - 1 : 1;
    if (m < need) {
      add("job.accumulate",
          fmt::format("schedule {} on {} ranks requires at least {} micro-batches, not {}", name_of(schedule),
                      p, need, m),
          fmt::format("set job.accumulate to {} or more", need));
    }
    if (schedule == Schedule::interleaved && m % p != 0) {
      add("job.accumulate",
          fmt::format("schedule interleaved requires a number of micro-batches divisible by {}, not {}", p,
                      m),
          fmt::format("set job.accumulate to {}", (m / p + 1) * p));
    }
  }

  const ScenarioSpec& scenario_;
  const Job& job_;
  const Layout& layout_;
  const ModelSpec& model_;
  Problems& problems_;
};

}  // namespace

void check_layout(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  CheckLayout{scenario, model, problems}.run();
}

}  // namespace gradway::config
