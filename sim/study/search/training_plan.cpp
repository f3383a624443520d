// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/training_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/study/search/first_scenario.hpp"
#include "sim/study/search/largest_batch.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

/// Tokens of a step, unless the plan says how many samples it has.
/// @source H. Touvron et al., "Llama 2", arXiv 2307.09288, table 1: all models have a global batch of 4M
/// tokens
constexpr int tokens_of_step = 1 << 22;

/// The step that is wanted, before it is rounded.
double target_of_step(const Model& model) {
  if (!model.tables.empty()) return samples_of_recommender_step;
  const auto tokens = model.tokens_per_sample;
  return tokens > 0 ? static_cast<double>(tokens_of_step) / tokens : images_of_step;
}

/// The least common multiple of the odd factors of all numbers; 1 if that is far beyond the target.
int common_odd_factor(const std::vector<int>& numbers, double target) {
  std::int64_t factor = 1;
  for (const auto number : numbers) {
    factor = std::lcm(factor,
                      static_cast<std::int64_t>(number >> std::countr_zero(static_cast<unsigned>(number))));
    if (static_cast<double>(factor) > 2 * target) return 1;
  }
  return static_cast<int>(factor);
}

/// A GPU's share of the storage for checkpoints.
/// @source Llama Team, "The Llama 3 Herd of Models", arXiv 2407.21783, section 3.3.1: 2 TB/s for 16,384 GPUs
constexpr double checkpoint_mb_per_s = 122;

bool sets(const std::vector<Override>& set, std::string_view start) {
  return std::ranges::any_of(set, [&](const Override& setting) { return setting.key.starts_with(start); });
}

/// Adds what a campaign needs and the plan does not say.
void complete_campaign(std::vector<Override>& set, const TrainingPlan& plan, int gpus) {
  if (!sets(set, "campaign.")) return;
  if (!sets(set, "campaign.checkpoint")) set.push_back(assumed_checkpoints(gpus));
  if (plan.failures != "none" && !sets(set, "campaign.failures"))
    set.push_back({"campaign.failures.model", plan.failures});
  const auto is_spot = [](const Override& setting) {
    return setting.key == "campaign.terms" && setting.value == "spot";
  };
  if (std::ranges::any_of(set, is_spot) && !sets(set, "campaign.spot"))
    set.push_back({"campaign.spot.model", "advisor-10-20"});
}

/// Whether layouts are searched. FSDP wraps blocks, so that PyTorch's layouts need some.
bool has_layouts(const TrainingPlan& plan, const Model& model) {
  return can_be_distributed(model) && (plan.framework == "megatron" || blocks_of(model).count > 0);
}

std::string strategy_for(const TrainingPlan& plan, const Model& model, int gpus) {
  if (plan.framework == "megatron") return "distributed_optimizer";
  if (gpus == 1) return "none";
  return has_layouts(plan, model) ? "fsdp" : "ddp";
}

/// The largest batch that fits and divides the samples of a GPU.
int batch_of_replica(const Scenario& scenario, int samples) {
  auto batch = knows_memory(scenario) ? std::min(samples, largest_batch(scenario).batch) : samples;
  while (samples % batch != 0) --batch;
  return batch;
}

Answer simulated(const Scenario& scenario) {
  auto answer = answer_to({.scenario = &scenario, .must_run = true},
                          {.engine = "fluid", .limits = {.memory = MemoryLimit::fits}});
  if (answer.outcome == Outcome::simulated) return answer;
  refuse(fmt::format("the job does not fit into the memory of each {}",
                     scenario.platform.gpu_models.front().name),
         "use GPUs with more memory");
}

void check_accumulated(const Job& job, int global_batch) {
  if (job.accumulate > most_accumulated)
    refuse(fmt::format("{} samples per step need {} micro-batches on each GPU, more than {}", global_batch,
                       job.accumulate, most_accumulated),
           "give '--global-batch' fewer samples");
}

LayoutOnCluster replicated(Scenario scenario, int global_batch) {
  auto& job = scenario.job;
  if (global_batch % job.gpus != 0)
    refuse(fmt::format("{} samples per step cannot be distributed over {} GPUs", global_batch, job.gpus),
           fmt::format("'--global-batch {}' is possible", (global_batch / job.gpus + 1) * job.gpus));
  const auto samples = global_batch / job.gpus;
  if (!is_recorded(scenario.model)) job.batch_per_gpu = batch_of_replica(scenario, samples);
  job.accumulate = std::max(1, samples / job.batch_per_gpu);
  check_accumulated(job, global_batch);
  auto chosen = simulated(scenario);
  return {std::move(scenario), std::move(chosen), {}};
}

}  // namespace

Override assumed_checkpoints(int gpus) {
  return {"campaign.checkpoint.write", fmt::format("{} MB/s", checkpoint_mb_per_s * gpus)};
}

PlannedScenario scenario_on(const TrainingPlan& plan, const Cluster& cluster, const DataPath& data) {
  const auto strategy = strategy_for(plan, load_model(plan.model, data), cluster.gpus);
  PlannedScenario planned{.name = fmt::format("{} on {}", plan.model, cluster.platform),
                          .set = cluster.layout,
                          .data = data,
                          .price = plan.price};
  const auto settings = recipe_settings({.model = plan.model,
                                         .platform = cluster.platform,
                                         .gpus = cluster.gpus,
                                         .strategy = strategy,
                                         .framework = plan.framework},
                                        data);
  planned.data.texts[planned.name] = scenario_text(settings);
  planned.set.insert(planned.set.end(), plan.set.begin(), plan.set.end());
  complete_campaign(planned.set, plan, cluster.gpus);
  return planned;
}

int samples_per_step(const TrainingPlan& plan, const Scenario& scenario) {
  if (plan.global_batch > 0) return plan.global_batch;
  const auto target = target_of_step(scenario.model);
  const auto odd = common_odd_factor(plan.compared_gpus, target);
  const auto doublings = std::lround(std::log2(target / odd));
  return odd << std::max(0L, doublings);
}

LayoutOnCluster layout_on(const TrainingPlan& plan, const Cluster& cluster, const DataPath& data,
                          const SearchOptions& options, const SearchEffort& effort) {
  auto scenario = scenario_on(plan, {cluster.platform, cluster.gpus, {}}, data).load();
  const auto samples = samples_per_step(plan, scenario);
  if (!has_layouts(plan, scenario.model)) return replicated(std::move(scenario), samples);
  auto layouts = search_layouts(scenario, samples, effort, options);
  if (layouts.ranked.empty()) {
    const auto& gpu = scenario.platform.gpu_models.front();
    if (layouts.unfit.empty()) refuse(layouts.refused.front().failure_reason, "choose other GPUs");
    refuse(fmt::format("no layout fits: the smallest needs {:.4g} of {:.4g} GB on each {}",
                       layouts.unfit.front().memory.value() / 1e9, gpu.memory.value() / 1e9, gpu.name),
           "use more GPUs, or GPUs with more memory");
  }
  auto chosen = layouts.ranked.front();
  check_accumulated(chosen.job, samples);
  scenario.job = chosen.job;
  return {std::move(scenario), std::move(chosen), std::move(layouts)};
}

}  // namespace gradway
