// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/captured.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/make_warning.hpp"
#include "sim/config/check/check.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway::config {
namespace {

Number number_of_state(Precision precision) {
  if (precision == Precision::bf16) return Number::bf16;
  return precision == Precision::fp16 ? Number::fp16 : Number::fp32;
}

/// How to describe the captured model by its shape.
std::string command_of(const CapturedStep& captured) {
  return captured.sequence > 0
             ? fmt::format("gradway import hf config.json --sequence {} -o models/shape.yaml",
                           captured.sequence)
             : std::string{"gradway import hf config.json -o models/shape.yaml"};
}

/// Parallelism that splits layers follows from the model's shape, which a capture does not have.
template <class Add>
void check_axes(const Layout& layout, const ModelSpec& model, const Add& add) {
  const std::array axes{
      std::pair{"parallel.tensor", layout.tensor}, std::pair{"parallel.context", layout.context},
      std::pair{"parallel.expert", layout.expert}, std::pair{"parallel.expert_tensor", layout.expert_tensor}};
  for (const auto& [key, ranks] : axes) {
    if (ranks <= 1) continue;
    add(key,
        fmt::format(
            "{} is {}, but '{}' is a capture of one rank: how layers are split follows from a model's "
            "shape (its config.json)",
            key, ranks, model.model.name),
        fmt::format("import the shape: {}; data and pipeline parallelism work with the capture",
                    command_of(*model.model.captured)));
  }
}

/// Whether the scenario names no strategy, or only the kind of the recorded one.
bool leaves_strategy(const ScenarioSpec& scenario, const Strategy& recorded) {
  const auto is_other = [](const auto& given) {
    return given.first.starts_with("strategy.") && given.first != "strategy.kind";
  };
  if (std::ranges::any_of(scenario.given, is_other)) return false;
  return !scenario.given.contains("strategy.kind") || scenario.job.strategy.index() == recorded.index();
}

/// The sharded group of HSDP has as many ranks as in the captured program, whatever the number of GPUs.
void apply_strategy(Job& job, const CapturedStep& captured, const Strategy& recorded) {
  const auto given = replicas_of(job.strategy);
  job.strategy = recorded;
  auto* replicas = replicate_of(job.strategy);
  if (replicas == nullptr || *replicas == 1) return;
  const auto sharded = std::max(1, captured.ranks / *replicas);
  *replicas = given > 1 ? given : job.gpus % sharded == 0 ? job.gpus / sharded : 1;
}

}  // namespace

void apply_capture_defaults(ScenarioSpec& scenario, const ModelSpec& model) {
  if (!model.model.captured) return;
  const auto& captured = *model.model.captured;
  if (model.strategy && leaves_strategy(scenario, *model.strategy))
    apply_strategy(scenario.job, captured, *model.strategy);
  const auto is_given = [&](const char* key) { return scenario.given.contains(key); };
  auto& job = scenario.job;
  if (!is_given("job.precision")) job.precision = captured.precision;
  if (!is_given("job.state_dtype")) job.state_dtype = number_of_state(captured.state_dtype);
  if (!is_given("job.batch_per_gpu")) job.batch_per_gpu = captured.batch;
  if (!is_given("job.accumulate") && !scenario.global_batch) job.accumulate = captured.accumulate;
  if (!is_given("job.clip_grad_norm")) job.clip_grad_norm = captured.clips_gradients;
  if (!is_given("optimizer")) job.optimizer = captured.optimizer;
}

void check_captured(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  if (!model.model.captured) return;
  const auto& captured = *model.model.captured;
  const Note capture_note{model.kind, "the capture is here"};
  const auto add = [&](const std::string& key, std::string message, std::string hint) {
    problems.add(scenario.place(key), std::move(message), std::move(hint), {capture_note});
  };
  const auto& job = scenario.job;
  if (job.precision != captured.precision)
    add("job.precision",
        fmt::format("job.precision is {}, but '{}' was captured in {}", name_of(job.precision),
                    model.model.name, name_of(captured.precision)),
        fmt::format("leave it out, or capture the program again in {}", name_of(job.precision)));
  // Shards of a sharded strategy may be in fp32 where the computation has 16 bits.
  const bool has_shards = facts_of(job.strategy).half_parameters && job.state_dtype == Number::fp32;
  if (job.state_dtype != number_of_state(captured.state_dtype) &&
      !(has_shards && is_half(captured.state_dtype)))
    add("job.state_dtype",
        fmt::format("job.state_dtype is {}, but the parameters of '{}' were captured in {}",
                    name_of(job.state_dtype), model.model.name, name_of(captured.state_dtype)),
        "leave it out, or capture the program again with parameters of that type; shards in fp32 of a model "
        "in 16 bits: strategy.kind fsdp with strategy.param_dtype");
  constexpr std::array keys{"job.attention",  "job.memory_format",  "job.compile",        "job.fused_loss",
                            "job.loss_chunk", "job.composed_norms", "job.implementation", "job.recompute",
                            "job.finetune",   "job.float_logits",   "job.experts",        "job.fusions",
                            "job.mlp_tiles"};
  if (job.sequence > 0 && job.sequence != captured.sequence && captured.second == nullptr)
    add("job.sequence",
        fmt::format("job.sequence is {}, but '{}' was captured with {} tokens only", job.sequence,
                    model.model.name, captured.sequence),
        fmt::format(
            "capture the program with another sequence length, too, and add it: gradway capture --add "
            "models/{}.yaml PROGRAM",
            model.model.name));
  for (const auto* key : keys) {
    if (!scenario.given.contains(key) || states_default(job, key)) continue;
    add(key,
        fmt::format("{} has no effect: '{}' consists of the operations that were captured", key,
                    model.model.name),
        "leave it out; to change the operations, change the program and capture it again");
  }
  check_axes(job.layout, model, add);
  if (job.framework != Framework::pytorch)
    add("job.framework",
        fmt::format("job.framework is {}, but captured models run in PyTorch", name_of(job.framework)),
        "leave it out");
}

std::vector<Warning> capture_warnings(const Model& model) {
  std::vector<Warning> warnings;
  if (!model.captured) return warnings;
  const auto& captured = *model.captured;
  if (!captured.unknown.empty())
    warnings.push_back(make_warning<"untimed-operations", "operations">(fmt::join(captured.unknown, ", ")));
  if (captured.is_compiled) warnings.push_back(make_warning<"compiled-capture">());
  return warnings;
}

}  // namespace gradway::config
