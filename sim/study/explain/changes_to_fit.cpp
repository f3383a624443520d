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

/// Several of the what-ifs together.
struct Combination {
  WhatIf together;
  std::size_t next = 0;  ///< first of the what-ifs that may be added, so that each combination is made once
};

/// Each combination with one more of the what-ifs. Changes of a strategy exclude each other.
std::vector<Combination> with_one_more(const std::vector<Combination>& combinations,
                                       const std::vector<WhatIf>& single) {
  const auto is_of_strategy = [](const auto& setting) { return setting.first.starts_with("strategy."); };
  std::vector<Combination> larger;
  for (const auto& [together, next] : combinations)
    for (auto i = next; i < single.size(); ++i) {
      auto set = together.set;
      if (share_a_key(set, single[i].set) ||
          (std::ranges::any_of(set, is_of_strategy) && std::ranges::any_of(single[i].set, is_of_strategy)))
        continue;
      set.insert(set.end(), single[i].set.begin(), single[i].set.end());
      larger.push_back({{fmt::format("{}, {}", together.name, single[i].name),
                         fmt::format("{}, {}", together.words, single[i].words), std::move(set)},
                        i + 1});
    }
  return larger;
}

}  // namespace

std::vector<Counterfactual> changes_to_fit(const Scenario& scenario, Bytes nccl, std::string_view engine,
                                           int threads) {
  constexpr std::size_t most_combinations = 3;
  auto single = memory_what_ifs(scenario);
  auto changes = sufficient_of(single, scenario, nccl, engine, threads);
  std::erase_if(single, [&](const WhatIf& what_if) {
    return std::ranges::find(changes, what_if.set, &Counterfactual::set) != changes.end();
  });
  std::vector<Combination> combinations;
  for (const auto& what_if : single) combinations.push_back({what_if, combinations.size() + 1});
  std::vector<Counterfactual> combined;
  do {
    combinations = with_one_more(combinations, single);
    std::vector<WhatIf> together;
    for (const auto& combination : combinations) together.push_back(combination.together);
    combined = sufficient_of(together, scenario, nccl, engine, threads);
  } while (changes.empty() && combined.empty() && !combinations.empty());
  std::erase_if(combined, [&](const auto& combination) {
    return std::ranges::any_of(changes, [&](const auto& change) {
      return change.step_time <= combination.step_time && change.verdict <= combination.verdict;
    });
  });
  combined.resize(std::min(combined.size(), most_combinations));
  std::ranges::move(combined, std::back_inserter(changes));
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
