// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/config/check/check.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway::config {
namespace {

void check_reads(const ScenarioSpec& scenario, Problems& problems) {
  const auto& job = scenario.job;
  const auto add = [&](const char* key, std::string message, std::string hint, std::vector<Note> notes = {}) {
    problems.add(scenario.place(key), std::move(message), std::move(hint), std::move(notes));
  };
  if (job.host_reads == 0) return;
  if (!trains(job.strategy)) {
    add("job.host_reads", "job.host_reads has no effect: strategy.kind collective runs no model",
        "leave it out");
    return;
  }
  if (job.layout.pipeline > 1)
    add("job.host_reads",
        "values that a pipeline reads back are not simulated: only its last stage has the loss",
        "leave job.host_reads out, or set parallel.pipeline to 1",
        {{scenario.place("parallel.pipeline"), "the pipeline is here"}});
  if (job.reduced_metrics > job.host_reads)
    add("job.reduced_metrics",
        fmt::format("job.reduced_metrics {} exceeds the {} values that are read back", job.reduced_metrics,
                    job.host_reads),
        "reduced values are among those of job.host_reads",
        {{scenario.place("job.host_reads"), "job.host_reads is set here"}});
  if (job.reduced_metrics > 0 && !facts_of(job.strategy).exchanges)
    add("job.reduced_metrics",
        fmt::format("job.reduced_metrics has no effect: strategy {} has no process group",
                    name_of(job.strategy)),
        "leave it out, or write 'kind: ddp'", {{scenario.place("strategy.kind"), "the strategy is here"}});
}

void check_sync_batch_norm(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  const auto& job = scenario.job;
  if (!job.sync_batch_norm) return;
  constexpr auto key = "job.sync_batch_norm";
  const auto add = [&](std::string message, std::string hint, std::vector<Note> notes = {}) {
    problems.add(scenario.place(key), std::move(message), std::move(hint), std::move(notes));
  };
  const Note model_note{model.kind, "the model is here"};
  const auto set_here = [&](const char* setting) {
    return Note{scenario.place(setting), fmt::format("{} is set here", setting)};
  };
  const auto is_norm = [](const Layer& layer) { return layer.role == LayerRole::batch_norm; };
  if (model.model.profile) {
    add(fmt::format("job.sync_batch_norm has no effect: the model '{}' is a profile with recorded kernels",
                    model.model.name),
        "choose a description of the model, such as resnet50", {model_note});
  } else if (std::ranges::none_of(model.model.layers, is_norm)) {
    add(fmt::format("job.sync_batch_norm has no effect: the model '{}' has no BatchNorm", model.model.name),
        "leave it out", {model_note});
  } else if (!is_ddp(job.strategy)) {
    add(fmt::format("job.sync_batch_norm is only simulated with strategy ddp, not {}", name_of(job.strategy)),
        "write 'kind: ddp'", {{scenario.place("strategy.kind"), "the strategy is here"}});
  } else if (job.gpus == 1) {
    add("job.sync_batch_norm has no effect on one GPU, where PyTorch uses its BatchNorm",
        "set job.gpus to 2 or more", {set_here("job.gpus")});
  } else if (job.compiled) {
    add("job.sync_batch_norm is only simulated in eager mode: torch.compile fuses BatchNorms",
        "leave job.compile out", {set_here("job.compile")});
  } else if (job.cuda_graphs != CudaGraphs::none) {
    add("job.sync_batch_norm is not simulated with CUDA graphs", "leave job.cuda_graphs out",
        {set_here("job.cuda_graphs")});
  } else if (job.recompute != Recompute::none) {
    add("job.sync_batch_norm is not simulated with recomputed blocks", "leave job.recompute out",
        {set_here("job.recompute")});
  }
}

}  // namespace

void check_host_reads(const ScenarioSpec& scenario, const ModelSpec& model, Problems& problems) {
  check_reads(scenario, problems);
  check_sync_batch_norm(scenario, model, problems);
}

}  // namespace gradway::config
