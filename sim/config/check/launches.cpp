// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/launches.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/strategy_facts.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::config {
namespace {

/// What the CPU must learn from the GPU in the middle of a step, which a graph of it cannot wait for; empty:
/// nothing.
std::string read_by_host(const ScenarioSpec& scenario, const Model& model) {
  const auto& job = scenario.job;
  if (model.profile) {
    const auto waits = [](const Launch& launch) {
      return launch.host_waits && launch.kind != KernelClass::copy_in &&
             launch.phase != ProfiledPhase::optimizer;
    };
    const auto waited = std::ranges::find_if(model.profile->launches, waits);
    if (waited == model.profile->launches.end()) return "";
    return fmt::format("the profile '{}' waits for the GPU after '{}'", model.name, waited->name);
  }
  if (model.experts.number > 0 && reads_counts(job)) return "the CPU reads how many rows each expert gets";
  const auto strategy = facts_of(job.strategy);
  if (strategy.offloads && strategy.framework == Framework::pytorch)
    return "the CPU steps the parameters (strategy.cpu_offload)";
  return "";
}

void check_graphs(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  if (job.cuda_graphs == CudaGraphs::none) return;
  constexpr auto key = "job.cuda_graphs";
  const auto add = [&](std::string what, std::string hint, std::vector<Note> notes = {}) {
    problems.add(Problem{scenario.place(key), std::move(what), std::move(notes), std::move(hint)});
  };
  const Note here{model.kind, "the model is here"};
  if (!trains(job.strategy)) {
    add("job.cuda_graphs would change nothing: a collective alone launches no model", "leave it out");
  } else if (job.launch_blocking) {
    add("with CUDA_LAUNCH_BLOCKING=1 the CPU waits for each kernel, and a CUDA graph has no kernels to wait "
        "for",
        "leave one of them out", {{scenario.place("job.launch_blocking"), "it is here"}});
  } else if (job.cuda_graphs == CudaGraphs::layers && blocks_of(model.model).count == 0) {
    add(fmt::format("job.cuda_graphs layers would change nothing: the model '{}' repeats no block",
                    model.model.name),
        "write 'cuda_graphs: step', or leave it out", {here});
  } else if (job.cuda_graphs == CudaGraphs::step) {
    if (const auto why = read_by_host(scenario, model.model); !why.empty())
      add("a step is not one CUDA graph where " + why, "write 'cuda_graphs: layers', or leave it out",
          {here});
  }
}

/// A loop over experts is Hugging Face's own, in eager mode, on whole models.
void check_expert_loop(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  if (job.experts == ExpertProducts::grouped || !trains(job.strategy)) return;
  const auto add = [&](std::string what, std::string hint, std::vector<Note> notes = {}) {
    problems.add(Problem{scenario.place("job.experts"), std::move(what), std::move(notes), std::move(hint)});
  };
  const Note here{model.kind, "the model is here"};
  const auto at = [&](const char* key) { return Note{scenario.place(key), "it is here"}; };
  if (model.model.profile) {
    add(fmt::format(
            "job.experts would change nothing: the model '{}' is a profile, with the kernels that were "
            "recorded",
            model.model.name),
        "leave it out, or record another step", {here});
  } else if (model.model.experts.number == 0) {
    add(fmt::format("job.experts would change nothing: the model '{}' has no experts", model.model.name),
        "leave it out, or take a model that has", {here});
  } else if (has_megatron_modules(job)) {
    add("Megatron's experts are grouped products, never a loop", "leave job.experts out",
        {at("job.framework")});
  } else if (job.layout.expert * job.layout.expert_tensor * job.layout.tensor > 1) {
    add("ranks that share experts run them as grouped products, never as a loop", "leave job.experts out");
  } else if (job.layout.expert_capacity_factor) {
    add("a loop over experts takes the rows that there are: it has no parallel.expert_capacity_factor",
        "leave one of them out", {at("parallel.expert_capacity_factor")});
  } else if (job.compiled) {
    add("a loop over experts is simulated in eager mode alone: torch.compile would break it at each expert",
        "leave job.compile out, or write 'experts: grouped'", {at("job.compile")});
  } else if (job.precision == Precision::fp8) {
    add("a loop over experts is not simulated in fp8", "write 'precision: bf16', or 'experts: grouped'",
        {at("job.precision")});
  } else if (job.recompute == Recompute::selective_op) {
    add("a loop over experts is not simulated with recompute selective_op", "write 'recompute: full'",
        {at("job.recompute")});
  }
}

}  // namespace

void check_launches(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  check_graphs(scenario, model, problems);
  check_expert_loop(scenario, model, problems);
}

}  // namespace gradway::config
