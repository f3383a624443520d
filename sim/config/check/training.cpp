// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/check.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::config {
namespace {

constexpr const char* take_another =
    "choose a model that is described by its architecture (gradway list models)";

/// The recomputed operations are only known for models whose kernels follow from PyTorch's modules.
void check_selective_op(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto add = [&](std::string message, std::string hint, Note note) {
    problems.add(scenario.place("job.recompute"), std::move(message), std::move(hint), {std::move(note)});
  };
  if (!model.model.run) {
    add(fmt::format("job.recompute selective_op requires a model with known operations, and '{}' {}",
                    model.model.name,
                    model.model.profile ? "is a profile with recorded kernels" : "has explicit times"),
        "write 'recompute: full'", {model.kind, "the model is here"});
  } else if (has_megatron_modules(scenario.job)) {
    add(fmt::format("job.recompute selective_op is torchtitan's, but job.framework is {}",
                    name_of(scenario.job.framework)),
        "write 'recompute: selective' or 'recompute: full'",
        {scenario.place("job.framework"), "the framework is here"});
  }
}

class CheckFinetune {
 public:
  CheckFinetune(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems)
      : scenario_{scenario}, job_{scenario.job}, model_{model}, problems_{problems} {}

  void run() {
    check_model();
    if (!is_half(job_.precision)) {
      const bool is_said = scenario_.given.contains("job.precision");
      add(is_said ? "job.precision" : "job.finetune",
          fmt::format("job.finetune {} requires 16 bits or less for the frozen weights, not {}", word(),
                      name_of(job_.precision)),
          "set job.precision to bf16, fp16, fp8 or nvfp4",
          is_said ? std::vector<Note>{here()} : std::vector<Note>{});
    }
    if (job_.layout.tensor > 1 && !has_megatron_modules(job_))
      add("parallel.tensor",
          "fine-tuning with adapters and tensor parallelism is only simulated with framework megatron",
          "write 'framework: megatron', set parallel.pipeline, or shard with 'kind: fsdp'", {here()});
    if (job_.lora->quantised && has_scales(job_.precision))
      add("job.precision",
          fmt::format("job.finetune qlora has weights in NF4, which precision {} does not use",
                      name_of(job_.precision)),
          "write 'precision: bf16', or 'finetune: lora'", {here()});
    if (facts_of(job_.strategy).has_flat_parameters && !has_half_states(job_))
      add("job.finetune",
          fmt::format(
              "job.finetune {} with strategy fsdp1 requires adapters in 16 bits, as the frozen weights "
              "are: a flat parameter has one format",
              word()),
          "write 'state_dtype: bf16', or 'kind: fsdp', which is FSDP2",
          {{scenario_.place("strategy.kind"), "the strategy is here"}});
  }

 private:
  void add(const char* key, std::string message, std::string hint, std::vector<Note> notes) {
    problems_.add(scenario_.place(key), std::move(message), std::move(hint), std::move(notes));
  }
  std::string word() const { return job_.lora->quantised ? "qlora" : "lora"; }
  Note here() const { return {scenario_.place("job.finetune"), "job.finetune is set here"}; }

  void check_model() {
    const auto& model = model_.model;
    const Note note{model_.kind, model.profile ? "the profile is here" : "the model is here"};
    if (model.profile) {
      add("job.finetune",
          fmt::format("job.finetune {} cannot be applied to the profile '{}', which was recorded with all "
                      "parameters trained",
                      word(), model.name),
          take_another, {note});
    } else if (!model.run || model.causal_heads == 0) {
      add("job.finetune",
          fmt::format("job.finetune {} is only simulated for decoders, and the model '{}' is none", word(),
                      model.name),
          "choose a decoder, or write 'finetune: full'", {note});
    } else if (model.experts.number > 0) {
      add("job.finetune",
          fmt::format("job.finetune {} is not simulated for models with experts, such as '{}'", word(),
                      model.name),
          "choose a model without experts, or write 'finetune: full'", {note});
    }
  }

  const ScenarioSpec& scenario_;
  const Job& job_;
  const ModelSpec& model_;
  Problems& problems_;
};

}  // namespace

void check_recompute(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  if (!trains(job.strategy)) return;
  if (const auto unknown = read_recomputed_modules(job.recompute_modules).unknown; !unknown.empty()) {
    problems.add(scenario.place("job.recompute_modules"), fmt::format("unknown module '{}'", unknown),
                 suggestion(unknown, {recomputed_module_words.begin(), recomputed_module_words.end()}));
  }
  if (const auto unknown = read_offloaded_modules(job.offload_activations).unknown; !unknown.empty()) {
    problems.add(scenario.place("job.offload_activations"), fmt::format("unknown module '{}'", unknown),
                 suggestion(unknown, {offloaded_module_words.begin(), offloaded_module_words.end()}));
  }
  if (!runs_blocks_again(job.recompute)) return;
  const auto blocks = blocks_of(model.model).count;
  if (blocks == 0) {
    problems.add(
        scenario.place("job.recompute"),
        fmt::format("job.recompute has no effect: the model '{}' has no repeated blocks", model.model.name),
        "write 'recompute: none'", {{model.kind, "the model is here"}});
  } else if (job.recompute_every > blocks) {
    problems.add(scenario.place("job.recompute_every"),
                 fmt::format("job.recompute_every {} recomputes nothing: the model '{}' has {} blocks",
                             job.recompute_every, model.model.name, blocks),
                 "write 'recompute: none'", {{model.kind, "the model is here"}});
  }
  if (job.recompute == Recompute::selective_op) check_selective_op(scenario, model, problems);
}

void check_finetune(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  if (trains(scenario.job.strategy) && scenario.job.lora) CheckFinetune{scenario, model, problems}.run();
}

}  // namespace gradway::config
