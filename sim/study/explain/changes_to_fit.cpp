// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/changes_to_fit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/largest_batch.hpp"
#include "sim/study/search/layout_requirements.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

/// What a job can save memory with, each as one change.
class MemoryWhatIfs {
 public:
  explicit MemoryWhatIfs(const Scenario& scenario) : scenario_{scenario}, job_{scenario.job} {}

  std::vector<WhatIf> list() {
    add_recompute();
    add_loss();
    for (int parts = 2; parts <= job_.batch_per_gpu; parts *= 2)
      if (job_.batch_per_gpu % parts == 0) add_parts(parts);
    if (const auto* ddp = std::get_if<Ddp>(&job_.strategy)) add_ddp(*ddp);
    if (const auto* fsdp = std::get_if<Fsdp>(&job_.strategy); fsdp && !fsdp->cpu_offload)
      add("cpu_offload", "parameters, gradients and states in host memory",
          {{"strategy.cpu_offload", "true"}});
    if (const auto* zero = std::get_if<Zero>(&job_.strategy)) add_zero(*zero);
    return std::move(list_);
  }

 private:
  void add(std::string name, std::string words, Settings set) {
    list_.push_back({std::move(name), std::move(words), std::move(set)});
  }

  void add_recompute() {
    const auto& model = scenario_.model;
    if (model.profile || blocks_of(model).count == 0) return;
    const Settings full{{"job.recompute", "full"}};
    const bool is_full = job_.recompute == Recompute::full;
    if (job_.recompute == Recompute::none && model.causal_heads > 0) {
      const bool is_megatron = has_megatron_modules(job_);
      add("recompute_op",
          is_megatron ? "the core of attention recomputed"
                      : "blocks recomputed except for attention and every second product",
          {{"job.recompute", is_megatron ? "selective" : "selective_op"}});
    }
    if (!is_full) add("recompute", "blocks recomputed", full);
    if (is_full && job_.recompute_every > 1)
      add("recompute", "all blocks recomputed", {{"job.recompute_every", "1"}});
    if (!model.run || job_.recompute_offload || job_.cuda_graphs != CudaGraphs::none) return;
    auto offload = is_full ? Settings{} : full;
    offload.emplace_back("job.recompute_offload", "true");
    add("recompute_offload", "blocks recomputed from inputs in host memory", std::move(offload));
  }

  void add_loss() {
    constexpr int default_chunk = 256;
    const bool has_logits =
        scenario_.model.causal_heads > 0 && scenario_.model.run && !scenario_.model.captured;
    const auto tokens = job_.sequence > 0 ? job_.sequence : scenario_.model.tokens_per_sample;
    if (!has_logits || job_.loss_chunk > 0 || job_.layout.tensor > 1 || has_megatron_modules(job_) ||
        tokens / job_.layout.context <= default_chunk)
      return;
    add("loss_chunk", fmt::format("the loss in chunks of {} tokens", default_chunk),
        {{"job.loss_chunk", fmt::to_string(default_chunk)}});
  }

  void add_parts(int parts) {
    const auto batch = job_.batch_per_gpu / parts;
    const auto micro_batches = job_.accumulate * parts;
    add("accumulate", fmt::format("{} micro-batches of {} a GPU", micro_batches, batch),
        {{"job.batch_per_gpu", fmt::to_string(batch)}, {"job.accumulate", fmt::to_string(micro_batches)}});
  }

  void add_ddp(const Ddp& ddp) {
    if (!ddp.gradient_as_bucket_view)
      add("bucket_view", "gradients as views into DDP's buckets",
          {{"strategy.gradient_as_bucket_view", "true"}});
    if (job_.gpus == 1 || job_.layout.model_parallel_ranks() > 1 || !scenario_.model.tables.empty() ||
        job_.local_sgd || job_.cuda_graphs != CudaGraphs::none)
      return;
    Settings sharded{{"strategy.kind", "fsdp"}};
    if (is_half(job_.precision) && !half_parameters(job_))
      sharded.emplace_back("strategy.param_dtype", name_of(job_.precision));
    add("fsdp", "FSDP2 instead of DDP", sharded);
    sharded.emplace_back("strategy.cpu_offload", "true");
    add("fsdp_offload", "FSDP2 with parameters, gradients and states in host memory", std::move(sharded));
  }

  void add_zero(const Zero& zero) {
    constexpr int most_sharded = 3;
    for (int stage = zero.stage + 1; stage <= most_sharded; ++stage)
      add(fmt::format("zero_{}", stage), fmt::format("ZeRO stage {}", stage),
          {{"strategy.stage", fmt::to_string(stage)}});
    if (!zero.offload_optimizer)
      add("offload_optimizer", "optimizer states in host memory", {{"strategy.offload_optimizer", "true"}});
  }

  const Scenario& scenario_;
  const Job& job_;
  std::vector<WhatIf> list_;
};

/// The scenario with changed keys; empty if a key cannot have the value.
std::optional<Scenario> changed(const Scenario& scenario, const Settings& set) try {
  auto result = scenario;
  set_keys(result, set);
  return result;
} catch (const ConfigError&) {
  return std::nullopt;
}

/// Whether the job's memory fits by a plan of its step.
bool fits_as_planned(Scenario scenario, Bytes nccl) {
  scenario.job.accumulate = enough_micro_batches(scenario.job);
  return fits(scenario, planned_memory(scenario, nccl));
}

/// Those of the what-ifs with which the expected memory fits, the shortest step first, the first of each
/// name. Only these are simulated.
std::vector<Counterfactual> sufficient_of(const std::vector<WhatIf>& what_ifs, const Scenario& scenario,
                                          Bytes nccl, std::string_view engine, int threads) {
  std::vector<const WhatIf*> promising;
  std::vector<Question> questions;
  for (const auto& what_if : what_ifs) {
    if (std::ranges::find(promising, what_if.name, &WhatIf::name) != promising.end()) continue;
    auto alternative = changed(scenario, what_if.set);
    if (!alternative || !fits_as_planned(*std::move(alternative), nccl)) continue;
    promising.push_back(&what_if);
    questions.push_back({.scenario = &scenario, .set = what_if.set});
  }
  const auto answers = answers_to(questions, {.engine = engine}, in_parallel(threads));
  std::vector<Counterfactual> sufficient;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i].can_run())
      sufficient.push_back(
          {*promising[i], answers[i].metrics.step_time, answers[i].verdict, answers[i].memory});
  std::ranges::stable_sort(sufficient, {}, &Counterfactual::step_time);
  return sufficient;
}

bool share_a_key(const Settings& first, const Settings& second) {
  return std::ranges::any_of(first, [&](const auto& setting) {
    return std::ranges::find(second, setting.first, &Settings::value_type::first) != second.end();
  });
}

/// Two changes at a time. Those of a strategy exclude each other.
std::vector<WhatIf> pairs_of(const std::vector<WhatIf>& what_ifs) {
  const auto is_of_strategy = [](const WhatIf& what_if) {
    return what_if.set.front().first.starts_with("strategy.");
  };
  std::vector<WhatIf> pairs;
  for (auto first = what_ifs.begin(); first != what_ifs.end(); ++first)
    for (auto second = first + 1; second != what_ifs.end(); ++second) {
      if (share_a_key(first->set, second->set) || (is_of_strategy(*first) && is_of_strategy(*second)))
        continue;
      auto set = first->set;
      set.insert(set.end(), second->set.begin(), second->set.end());
      pairs.push_back({fmt::format("{}, {}", first->name, second->name),
                       fmt::format("{}, {}", first->words, second->words), std::move(set)});
    }
  return pairs;
}

}  // namespace

std::vector<Counterfactual> changes_to_fit(const Scenario& scenario, Bytes nccl, std::string_view engine,
                                           int threads) {
  const auto single = MemoryWhatIfs{scenario}.list();
  auto changes = sufficient_of(single, scenario, nccl, engine, threads);
  return changes.empty() ? sufficient_of(pairs_of(single), scenario, nccl, engine, threads) : changes;
}

}  // namespace gradway
