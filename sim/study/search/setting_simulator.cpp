// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/setting_simulator.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/plan/ddp/buckets.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {

SettingSimulator::Key SettingSimulator::key_of(const Setting& setting) {
  const auto& scenario = jobs_[setting.job];
  auto strategy = simplest(setting.strategy, scenario.job.gpus);
  if (!is_ddp(strategy)) return {setting.job, strategy, {}};
  auto& ddp = std::get<Ddp>(strategy);
  const auto [ends, is_new] = bucket_ends_.try_emplace(ddp.bucket_cap);
  if (is_new) ends->second = bucket_ends(ddp_buckets(scenario.model, ddp.bucket_cap));
  ddp.bucket_cap.reset();
  ddp.static_graph = false;
  return {setting.job, strategy, ends->second};
}

SettingResult SettingSimulator::simulate_one(const Setting& setting) const try {
  auto scenario = jobs_[setting.job];
  scenario.job.strategy = setting.strategy;
  const auto run = ask(scenario, {.engine = engine_});
  const auto& memory = run.measured.memory;
  SettingResult tried{answer_of(run), setting.job, setting.strategy};
  if (!fits(scenario, memory)) tried.failure_reason = verdict_in_words(scenario, memory);
  return tried;
} catch (const ConfigError& error) {
  if (setting.job == 0) throw;  // the scenario itself is wrong, not a change that the search made
  return {{.verdict = MemoryVerdict::does_not_fit, .failure_reason = error.problems().front().what},
          setting.job,
          setting.strategy};
}

void SettingSimulator::try_all(const std::vector<Setting>& settings) {
  std::map<Key, const Setting*> fresh;
  for (const auto& setting : settings) {
    auto key = key_of(setting);
    if (!tried_.contains(key)) fresh.emplace(std::move(key), &setting);
  }
  const std::vector<std::pair<Key, const Setting*>> work{fresh.begin(), fresh.end()};
  std::vector<std::optional<SettingResult>> results(work.size());
  for_each_(work.size(), [&](std::size_t i) { results[i] = simulate_one(*work[i].second); });
  for (std::size_t i = 0; i < work.size(); ++i) tried_.emplace(work[i].first, std::move(*results[i]));
}

SettingResult SettingSimulator::get(const Setting& setting) {
  try_all({setting});
  auto tried = tried_.at(key_of(setting));
  tried.strategy = setting.strategy;
  return tried;
}

std::vector<SettingResult> SettingSimulator::left_out() const {
  std::vector<SettingResult> failures;
  for (const auto& [key, tried] : tried_) {
    if (tried.failure_reason.empty()) continue;
    const auto same = std::ranges::find_if(failures, [&](const SettingResult& failure) {
      const bool same_words = tried.memory == 0_B && failure.failure_reason == tried.failure_reason;
      return failure.job == tried.job &&
             (same_words || family_of(failure.strategy) == family_of(tried.strategy));
    });
    if (same == failures.end()) {
      failures.push_back(tried);
    } else if (tried.memory < same->memory) {
      *same = tried;
    }
  }
  return failures;
}

}  // namespace gradway
