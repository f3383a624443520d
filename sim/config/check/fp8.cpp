// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/strategy_facts.hpp"

namespace gradway::config {
namespace {

/// Reports keys without effect. @param keys of fp8 that are set
void check_without_fp8(const ScenarioSpec& scenario, const std::vector<std::string>& keys,
                       Problems& problems) {
  for (const auto& key : keys) {
    std::vector<Note> notes;
    if (scenario.given.contains("job.precision"))
      notes.push_back({scenario.place("job.precision"), "the precision is here"});
    problems.add(scenario.place(key),
                 fmt::format("{} has no effect: job.precision is {}", key, name_of(scenario.job.precision)),
                 "leave it out, or set job.precision to fp8", std::move(notes));
  }
}

/// Weights that are gathered in fp8 require a recipe with one scale per tensor. @param key that enables it
void check_gather(const ScenarioSpec& scenario, const std::string& key, Fp8 fp8, Problems& problems) {
  const bool by_torchao = facts_of(scenario.job.strategy).framework == Framework::pytorch;
  if (by_torchao ? !fp8.by_transformer_engine && fp8.recipe == Fp8Recipe::tensorwise
                 : fp8.by_transformer_engine)
    return;
  problems.add(scenario.place(key),
               by_torchao ? fmt::format("{} requires torchao's recipe tensorwise", key)
                          : fmt::format("{} requires a recipe of Transformer Engine", key),
               by_torchao ? "leave it out, or write 'fp8_recipe: tensorwise' without framework megatron"
                          : "leave it out, or write 'framework: megatron'");
}

}  // namespace

void check_fp8(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  std::string gather;
  if (const auto key = facts_of(job.strategy).fp8_gather; !key.empty())
    gather = fmt::format("strategy.{}", key);
  std::vector<std::string> keys;
  if (job.fp8_recipe) keys.emplace_back("job.fp8_recipe");
  if (!gather.empty()) keys.push_back(gather);
  if (job.precision == Precision::nvfp4 && trains(job.strategy))
    return check_without_fp8(scenario, keys, problems);
  if (job.fp8_attention) keys.emplace_back("job.fp8_attention");
  const auto fp8 = fp8_of(job);
  if (!fp8 || !trains(job.strategy)) return check_without_fp8(scenario, keys, problems);
  if (fp8->by_transformer_engine && fp8->recipe == Fp8Recipe::rowwise) {
    problems.add(
        scenario.place("job.fp8_recipe"),
        "the recipe rowwise is torchao's; Megatron's layers use Transformer Engine, which does not have it",
        "write 'fp8_recipe: delayed' or 'fp8_recipe: tensorwise', or leave job.framework out",
        {{scenario.place("job.framework"), "the framework is here"}});
  }
  if (fp8->attention && fp8->recipe == Fp8Recipe::blockwise)
    problems.add(scenario.place("job.fp8_attention"),
                 "job.fp8_attention conflicts with the recipe blockwise, for which Transformer Engine "
                 "has no attention in fp8",
                 "leave it out, or write 'fp8_recipe: tensorwise'",
                 {{scenario.place("job.fp8_recipe"), "the recipe is here"}});
  if (fp8->attention && job.attention != AttentionKernel::cudnn &&
      job.attention != AttentionKernel::automatic)
    problems.add(scenario.place("job.fp8_attention"),
                 fmt::format("job.fp8_attention requires cuDNN's attention, not {}", name_of(job.attention)),
                 "write 'attention: cudnn', or leave fp8_attention out",
                 {{scenario.place("job.attention"), "the implementation is here"}});
  if (!gather.empty()) check_gather(scenario, gather, *fp8, problems);
  if (!model.model.run || std::ranges::any_of(model.model.layers, &Layer::takes_fp8)) return;
  problems.add(scenario.place("job.precision"),
               fmt::format("job.precision fp8 has no effect: no linear layer in the blocks of the "
                           "model '{}' has sizes divisible by 16",
                           model.model.name),
               "write 'precision: bf16'", {{model.kind, "the model is here"}});
}

}  // namespace gradway::config
