// SPDX-License-Identifier: Apache-2.0
#include "sim/config/check/check.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/strategy_facts.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::config {
namespace {

/// Why the CPU waits for the GPU during a step, which a CUDA graph cannot do; empty: it does not.
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
  if (job.recompute_offload) return "the CPU waits for inputs of blocks (job.recompute_offload)";
  if (job.host_reads > 0 && job.host_reads_after != HostReadsAfter::optimizer)
    return "the program reads values back (job.host_reads)";
  if (model.experts.number > 0 && waits_for_row_counts(job))
    return "the CPU reads the row count of each expert";
  const auto strategy = facts_of(job.strategy);
  if (strategy.offloads && strategy.framework == Framework::pytorch)
    return "the CPU runs the optimizer (strategy.cpu_offload)";
  return "";
}

void check_graphs(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  if (job.cuda_graphs == CudaGraphs::none) return;
  constexpr auto key = "job.cuda_graphs";
  const auto add = [&](std::string message, std::string hint, std::vector<Note> notes = {}) {
    problems.add(scenario.place(key), std::move(message), std::move(hint), std::move(notes));
  };
  const Note model_note{model.kind, "the model is here"};
  if (!trains(job.strategy)) {
    add("job.cuda_graphs has no effect: strategy.kind collective runs no model", "leave it out");
  } else if (job.launch_blocking) {
    add("job.launch_blocking conflicts with job.cuda_graphs: the CPU cannot wait for single kernels of a "
        "CUDA graph",
        "leave one of them out",
        {{scenario.place("job.launch_blocking"), "job.launch_blocking is set here"}});
  } else if (job.cuda_graphs == CudaGraphs::layers && blocks_of(model.model).count == 0) {
    add(fmt::format("job.cuda_graphs layers has no effect: the model '{}' has no repeated blocks",
                    model.model.name),
        "write 'cuda_graphs: step', or leave it out", {model_note});
  } else if (job.cuda_graphs == CudaGraphs::reduce_overhead && !job.compiled) {
    add("job.cuda_graphs reduce_overhead is a mode of torch.compile, and job.compile is false",
        "write 'compile: true', or 'cuda_graphs: layers'");
  } else if (job.cuda_graphs == CudaGraphs::step) {
    if (const auto why = read_by_host(scenario, model.model); !why.empty())
      add("the whole step cannot be one CUDA graph: " + why, "write 'cuda_graphs: layers', or leave it out",
          {model_note});
  }
}

/// Loops over experts are Hugging Face's, in eager mode, without model parallelism.
void check_expert_loop(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  if (job.experts == ExpertProducts::grouped || !trains(job.strategy)) return;
  const auto add = [&](std::string message, std::string hint, std::vector<Note> notes = {}) {
    problems.add(scenario.place("job.experts"), std::move(message), std::move(hint), std::move(notes));
  };
  const Note model_note{model.kind, "the model is here"};
  const auto set_here = [&](const char* key) {
    return Note{scenario.place(key), fmt::format("{} is set here", key)};
  };
  if (model.model.profile) {
    add(fmt::format("job.experts has no effect: the model '{}' is a profile with recorded kernels",
                    model.model.name),
        "leave it out, or record a step with the other setting", {model_note});
  } else if (model.model.experts.number == 0) {
    add(fmt::format("job.experts has no effect: the model '{}' has no experts", model.model.name),
        "leave it out, or choose a model with experts", {model_note});
  } else if (has_megatron_modules(job)) {
    add("experts: loop is not available in Megatron, which uses grouped products", "leave job.experts out",
        {set_here("job.framework")});
  } else if (job.layout.expert * job.layout.expert_tensor * job.layout.tensor > 1) {
    add("experts: loop is not available with expert or tensor parallelism, which use grouped products",
        "leave job.experts out");
  } else if (job.layout.expert_capacity_factor) {
    add("experts: loop conflicts with parallel.expert_capacity_factor: a loop processes every row",
        "leave one of them out", {set_here("parallel.expert_capacity_factor")});
  } else if (job.compiled) {
    add("experts: loop is only simulated in eager mode: torch.compile would break the graph at each expert",
        "leave job.compile out, or write 'experts: grouped'", {set_here("job.compile")});
  } else if (has_scales(job.precision)) {
    add(fmt::format("experts: loop is not simulated with precision {}", name_of(job.precision)),
        "write 'precision: bf16', or 'experts: grouped'", {set_here("job.precision")});
  } else if (job.recompute == Recompute::selective_op) {
    add("experts: loop is not simulated with recompute selective_op", "write 'recompute: full'",
        {set_here("job.recompute")});
  }
}

}  // namespace

void check_launches(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  check_graphs(scenario, model, problems);
  check_expert_loop(scenario, model, problems);
}

}  // namespace gradway::config
