// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/fp8.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/strategy_facts.hpp"

namespace gradway::config {
namespace {

/// @param keys that are set, and concern fp8 alone
void check_without_fp8(const ScenarioSpec& scenario, const std::vector<std::string>& keys,
                       Problems& problems) {
  for (const auto& key : keys) {
    std::vector<Note> notes;
    if (scenario.given.contains("job.precision"))
      notes.push_back({scenario.place("job.precision"), "the precision is here"});
    problems.add(Problem{
        scenario.place(key),
        fmt::format("{} would change nothing: job.precision is {}", key, name_of(scenario.job.precision)),
        std::move(notes), "leave it out, or set job.precision to fp8"});
  }
}

/// A weight that is gathered in fp8 has one scale. @param key that has it gathered so
void check_gather(const ScenarioSpec& scenario, const std::string& key, Fp8 fp8, Problems& problems) {
  const bool by_torchao = facts_of(scenario.job.strategy).framework == Framework::pytorch;
  if (by_torchao ? !fp8.by_transformer_engine && fp8.recipe == Fp8Recipe::tensorwise
                 : fp8.by_transformer_engine)
    return;
  problems.add(Problem{scenario.place(key),
                       by_torchao ? fmt::format("{} is torchao's, of its recipe tensorwise", key)
                                  : fmt::format("{} is Megatron's, of Transformer Engine's recipes", key),
                       {},
                       by_torchao
                           ? "leave it out, or write 'fp8_recipe: tensorwise' without framework megatron"
                           : "leave it out, or write 'framework: megatron'"});
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
  const auto fp8 = fp8_of(job);
  if (!fp8 || !trains(job.strategy)) return check_without_fp8(scenario, keys, problems);
  if (fp8->by_transformer_engine && fp8->recipe == Fp8Recipe::rowwise) {
    problems.add(
        Problem{scenario.place("job.fp8_recipe"),
                "recipe rowwise is torchao's; Transformer Engine, whose layers Megatron's are, has none",
                {{scenario.place("job.framework"), "the framework is here"}},
                "write 'fp8_recipe: delayed' or 'fp8_recipe: tensorwise', or leave out the framework"});
  }
  if (!gather.empty()) check_gather(scenario, gather, *fp8, problems);
  if (!model.model.run || std::ranges::any_of(model.model.layers, &Layer::takes_fp8)) return;
  problems.add(
      Problem{scenario.place("job.precision"),
              fmt::format("job.precision fp8 would change nothing: the model '{}' has no linear layers in "
                          "blocks, with sides that 16 divides",
                          model.model.name),
              {{model.kind, "the model is here"}},
              "write 'precision: bf16'"});
}

}  // namespace gradway::config
