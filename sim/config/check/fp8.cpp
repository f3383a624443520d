// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/fp8.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gradway::config {
namespace {

/// A setting of fp8, and whether it is there.
struct Fp8Setting {
  const char* key;
  bool is_set;
};

void check_without_fp8(const ScenarioSpec& scenario, const std::array<Fp8Setting, 3>& settings,
                       Problems& problems) {
  for (const auto& [key, is_set] : settings) {
    if (!is_set) continue;
    std::vector<Note> notes;
    if (scenario.given.contains("job.precision"))
      notes.push_back({scenario.place("job.precision"), "the precision is here"});
    problems.add(Problem{
        scenario.place(key),
        fmt::format("{} would change nothing: job.precision is {}", key, name_of(scenario.job.precision)),
        std::move(notes), "leave it out, or set job.precision to fp8"});
  }
}

/// A weight that is gathered in fp8 has one scale.
void check_gathers(const ScenarioSpec& scenario, const std::array<Fp8Setting, 3>& settings, Fp8 fp8,
                   Problems& problems) {
  for (const auto& [key, is_set] : settings) {
    const std::string_view of = key;
    const bool by_torchao = of == "strategy.fp8_all_gather";
    if (!is_set || of == "job.fp8_recipe") continue;
    if (by_torchao ? fp8.by_transformer_engine || fp8.recipe != Fp8Recipe::tensorwise
                   : !fp8.by_transformer_engine) {
      problems.add(Problem{scenario.place(key),
                           by_torchao ? fmt::format("{} is torchao's, of its recipe tensorwise", key)
                                      : fmt::format("{} is Megatron's, of Transformer Engine's recipes", key),
                           {},
                           by_torchao
                               ? "leave it out, or write 'fp8_recipe: tensorwise' without framework megatron"
                               : "leave it out, or write 'framework: megatron'"});
    }
  }
}

}  // namespace

void check_fp8(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  const auto* fsdp = std::get_if<Fsdp>(&job.strategy);
  const auto* optimizer = std::get_if<DistributedOptimizer>(&job.strategy);
  const std::array<Fp8Setting, 3> settings{
      {{"job.fp8_recipe", job.fp8_recipe.has_value()},
       {"strategy.fp8_all_gather", fsdp != nullptr && fsdp->fp8_all_gather},
       {"strategy.fp8_param_gather", optimizer != nullptr && optimizer->fp8_param_gather}}};
  const auto fp8 = fp8_of(job);
  if (!fp8 || !trains(job.strategy)) return check_without_fp8(scenario, settings, problems);
  if (fp8->by_transformer_engine && fp8->recipe == Fp8Recipe::rowwise) {
    problems.add(
        Problem{scenario.place("job.fp8_recipe"),
                "recipe rowwise is torchao's; Transformer Engine, whose layers Megatron's are, has none",
                {{scenario.place("job.framework"), "the framework is here"}},
                "write 'fp8_recipe: delayed' or 'fp8_recipe: tensorwise', or leave out the framework"});
  }
  check_gathers(scenario, settings, *fp8, problems);
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
