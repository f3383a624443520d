// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/explain.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/study/search/largest_batch.hpp"
#include "sim/study/search/layout_requirements.hpp"

namespace gradway {
namespace {

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
  std::vector<WhatIf> promising;
  for (const auto& what_if : what_ifs) {
    if (std::ranges::find(promising, what_if.name, &WhatIf::name) != promising.end()) continue;
    auto alternative = changed(scenario, what_if.set);
    if (alternative && fits_as_planned(*std::move(alternative), nccl)) promising.push_back(what_if);
  }
  auto answers = counterfactuals(promising, scenario, {.engine = engine}, threads, false);
  std::erase_if(answers, [](const auto& answer) { return answer.verdict > MemoryVerdict::tight; });
  std::ranges::stable_sort(answers, {}, &Counterfactual::step_time);
  return answers;
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
  constexpr std::size_t most_pairs = 3;
  auto single = memory_what_ifs(scenario);
  auto changes = sufficient_of(single, scenario, nccl, engine, threads);
  std::erase_if(single, [&](const WhatIf& what_if) {
    return std::ranges::find(changes, what_if.set, &Counterfactual::set) != changes.end();
  });
  auto pairs = sufficient_of(pairs_of(single), scenario, nccl, engine, threads);
  std::erase_if(pairs, [&](const auto& pair) {
    return std::ranges::any_of(changes, [&](const auto& change) {
      return change.step_time <= pair.step_time && change.verdict <= pair.verdict;
    });
  });
  pairs.resize(std::min(pairs.size(), most_pairs));
  std::ranges::move(pairs, std::back_inserter(changes));
  std::ranges::stable_sort(changes, {}, &Counterfactual::step_time);
  return changes;
}

WhatFits take_what_fits(Scenario& scenario, std::string_view engine, int threads) {
  WhatFits answer;
  if (trains(scenario.job.strategy) && knows_memory(scenario)) {
    const auto measured = ask(scenario, {.engine = engine}).measured;
    if (!fits(scenario, measured.memory)) {
      answer.step_as_written = measured.metrics.step_time;
      answer.changes = changes_to_fit(scenario, measured.memory.nccl, engine, threads);
    }
  }
  try {
    answer.largest_batch = largest_batch(scenario);
    scenario.job.batch_per_gpu = answer.largest_batch->batch;
  } catch (const ConfigError&) {
    if (answer.changes.empty()) throw;
  }
  return answer;
}

}  // namespace gradway
