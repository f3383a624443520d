// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/search.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/plan/ddp/buckets.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/search/optimize.hpp"
#include "sim/study/search/search_space.hpp"

namespace gradway {

SearchResult Search::run() {
  try_settings();
  SearchResult result;
  const auto fitting = candidates();
  auto ranked = fitting;
  std::erase_if(ranked, [&](const SettingResult& tried) { return !meets_limits(tried); });
  result.none_meets = ranked.empty() && !fitting.empty();
  enforces_limits_ = !result.none_meets;
  result.optimum = optimum(enforces_limits_ ? ranked : fitting);
  if (enforces_limits_) result.missed = families_missing_limits(fitting);
  result.left_out = tried_.left_out();
  result.settings = count_settings();
  result.simulated = tried_.simulated();
  return result;
}

std::vector<SettingResult> Search::candidates() {
  std::vector<SettingResult> runnable;
  for (const auto& setting : settings()) {
    if (!tried_.has(setting)) continue;
    if (auto tried = tried_.get(setting); tried.failure_reason.empty()) runnable.push_back(std::move(tried));
  }
  return runnable;
}

int Search::departures(const Strategy& strategy) const {
  return static_cast<int>(std::ranges::count_if(
      all_, [&](const StrategySetting& setting) { return !setting.is_same(strategy, defaults_); }));
}

std::vector<std::pair<std::string, Strategy>> Search::without_each(const Strategy& strategy) const {
  std::vector<std::pair<std::string, Strategy>> list;
  const auto gpus = space_.jobs.front().job.gpus;
  for (const auto& setting : space_.settings) {
    const bool has_values =
        setting.values.size() > 1 || (setting.name == "bucket_cap" && space_.any_bucket_cap);
    if (!has_values || setting.is_same(strategy, defaults_)) continue;
    auto without = strategy;
    setting.assign(without, defaults_);
    if (auto* ddp = std::get_if<Ddp>(&without); ddp != nullptr && ddp->comm_hook != CommHook::powersgd)
      ddp->powersgd_rank = 1;
    if (is_consistent(without, gpus)) list.emplace_back(setting.name, simplest(without, gpus));
  }
  return list;
}

/// Number of changes that a setting needs, and whether it is lossy.
std::pair<int, bool> Search::changes(const SettingResult& tried) const {
  const auto* ddp = std::get_if<Ddp>(&tried.strategy);
  const auto of_job = std::max<std::size_t>(changes_of(tried.job).size(), tried.job != 0 ? 1 : 0);
  return {static_cast<int>(of_job) + departures(tried.strategy), ddp != nullptr && is_lossy(ddp->comm_hook)};
}

const std::vector<Override>& Search::changes_of(std::size_t job) const {
  static const std::vector<Override> none;
  return job < space_.changes.size() ? space_.changes[job] : none;
}

/// Whether a job has this value of a setting: its changed value, or the one that the scenario has.
bool Search::has_value(std::size_t job, const Axis& setting, const std::string& value) const {
  const auto& changes = changes_of(job);
  const auto change = std::ranges::find(changes, setting.key, &Override::key);
  if (change != changes.end()) return change->value == value;
  return written_value(space_.jobs.front().job.input, setting.key) == value;
}

/// The job with the same changes but that of `key`.
std::optional<std::size_t> Search::job_without(std::size_t job, const std::string& key) const {
  const auto& all_changes = changes_of(job);
  for (std::size_t simpler = 0; simpler < space_.changes.size(); ++simpler) {
    const auto& changes = space_.changes[simpler];
    if (changes.size() + 1 != all_changes.size()) continue;
    const auto is_in = [&](const Override& change) {
      return std::ranges::any_of(changes, [&](const Override& candidate) {
        return candidate.key == change.key && candidate.value == change.value;
      });
    };
    if (std::ranges::all_of(all_changes,
                            [&](const Override& change) { return change.key == key || is_in(change); }))
      return simpler;
  }
  return std::nullopt;
}

void Search::add_best_of_job_settings(Optimum& optimum, const std::vector<SettingResult>& ranked) const {
  for (const auto& setting : space_.job_settings) {
    if (setting.values.size() < 2) continue;
    for (const auto& value : setting.values) {
      std::vector<const SettingResult*> with;
      for (const auto& tried : ranked)
        if (has_value(tried.job, setting, value)) with.push_back(&tried);
      auto& row = optimum.best_of_values.emplace_back(BestOfValue{setting.key, value, {}});
      if (!with.empty()) row.tried = recommended(with);
    }
  }
}

const SettingResult& Search::fastest_of(const std::vector<const SettingResult*>& results) const {
  return **std::ranges::min_element(results, {}, [&](const SettingResult* tried) { return cost(*tried); });
}

/// Whether the two are equal within the negligible difference, or statistically tied.
bool Search::is_as_good(const SettingResult& fastest, const SettingResult& tried) const {
  if (cost(tried) <= (1 + negligible_difference) * cost(fastest)) return true;
  const auto ratio = figure_ratio(choice(fastest), choice(tried));
  return ratio.low <= 1 && 1 <= ratio.high;
}

/// Of all that are as good as the fastest, the ones with the fewest changes; of these the fastest; and of
/// equally fast ones the one with the least memory and the roundest cap. If the fastest may not fit, only
/// settings that certainly fit are considered.
const SettingResult& Search::simplest_of_best(const std::vector<const SettingResult*>& results) const {
  const auto& fastest = fastest_of(results);
  std::vector<const SettingResult*> with_room;
  for (const auto* tried : results)
    if (tried->surely_fits() && is_as_good(fastest, *tried)) with_room.push_back(tried);
  if (!fastest.surely_fits() && !with_room.empty()) return simplest_of_best(with_room);
  auto least = changes(fastest);
  std::vector<const SettingResult*> good;
  for (const auto* tried : results) {
    if (changes(*tried) > least || !is_as_good(fastest, *tried)) continue;
    least = changes(*tried);
    good.push_back(tried);
  }
  std::erase_if(good, [&](const SettingResult* tried) { return changes(*tried) > least; });
  const auto least_cost = cost(fastest_of(good));
  const auto tie_break = [&](const SettingResult* tried) {
    const auto* ddp = std::get_if<Ddp>(&tried->strategy);
    const auto cap = ddp != nullptr ? ddp->bucket_cap.value_or(0_B) : 0_B;
    return std::tuple{cost(*tried) > (1 + negligible_difference) * least_cost, tried->memory,
                      significant_digits(cap), cap, cost(*tried)};
  };
  return **std::ranges::min_element(good, {}, tie_break);
}

/// The simplest setting is tied with the fastest, but a setting between the two may certainly be faster than
/// it, as it has fewer errors that the two do not share. Takes the one with the fewest changes of those,
/// until there is none.
const SettingResult& Search::recommended(const std::vector<const SettingResult*>& results) const {
  const auto* best = &simplest_of_best(results);
  for (;;) {
    std::vector<const SettingResult*> faster;
    for (const auto* tried : results) {
      if (cost(*tried) < cost(*best) && !is_as_good(*tried, *best)) faster.push_back(tried);
    }
    if (faster.empty()) return *best;
    best = *std::ranges::min_element(faster, {}, [&](const SettingResult* tried) {
      return std::pair{changes(*tried), cost(*tried)};
    });
  }
}

/// @param fitting sorted by family
std::vector<SettingResult> Search::families_missing_limits(const std::vector<SettingResult>& fitting) const {
  const auto family = [](const SettingResult& tried) {
    return std::pair{tried.job, family_of(tried.strategy)};
  };
  std::vector<SettingResult> missed;
  for (auto first = fitting.begin(); first != fitting.end();) {
    const auto last = std::find_if(
        first, fitting.end(), [&](const SettingResult& tried) { return family(tried) != family(*first); });
    if (std::none_of(first, last, [&](const SettingResult& tried) { return meets_limits(tried); }))
      missed.push_back(*std::min_element(
          first, last, [&](const SettingResult& a, const SettingResult& b) { return cost(a) < cost(b); }));
    first = last;
  }
  return missed;
}

std::optional<Optimum> Search::optimum(const std::vector<SettingResult>& ranked) {
  if (ranked.empty()) return std::nullopt;
  std::vector<const SettingResult*> every;
  for (const auto& tried : ranked) every.push_back(&tried);
  Optimum optimum;
  optimum.fastest = fastest_of(every);
  optimum.best = revert_unneeded(recommended(every), optimum.fastest);
  optimum.defaults = tried_.get({0, defaults_});
  optimum.as_written = tried_.get({0, space_.jobs.front().job.strategy});
  optimum.reverted = reverted(optimum.best);
  add_details(optimum, ranked);
  add_best_of_job_settings(optimum, ranked);
  return optimum;
}

/// Reverts the settings whose benefit is not certain, as far as the reverted value is searched.
SettingResult Search::revert_unneeded(SettingResult best, const SettingResult& fastest) {
  const auto is_unneeded = [&](const RevertedSetting& setting) {
    return has(space_, setting.without.strategy) && setting.without.failure_reason.empty() &&
           (!enforces_limits_ || meets_limits(setting.without)) && is_as_good(best, setting.without) &&
           is_as_good(fastest, setting.without);
  };
  for (;;) {
    const auto settings = reverted(best);
    const auto unneeded = std::ranges::find_if(settings, is_unneeded);
    if (unneeded == settings.end()) return best;
    best = unneeded->without;
  }
}

std::vector<RevertedSetting> Search::reverted(const SettingResult& best) {
  std::vector<RevertedSetting> list;
  const auto& changes = changes_of(best.job);
  if (changes.size() > 1) {
    for (const auto& change : changes)
      if (const auto job = job_without(best.job, change.key))
        list.push_back({change.key, tried_.get({*job, best.strategy})});
  }
  if (best.job != 0) list.push_back({"", tried_.get({0, best.strategy})});
  for (auto& [key, without] : without_each(best.strategy))
    list.push_back({std::move(key), tried_.get({best.job, without})});
  return list;
}

Seconds time_per_sample(const Job& job, const SettingResult& tried) {
  return tried.metrics.step_time / job.samples();
}

Choice choice_of(const Job& job, const SettingResult& tried) {
  return tried.choice(time_per_sample(job, tried).value());
}

namespace {

/// Resets the settings in which members of a family differ.
struct ResetFamilySettings {
  void operator()(NoExchange&) const {}
  void operator()(OneCollective&) const {}
  void operator()(Ddp& ddp) const {
    ddp.bucket_cap.reset();
    ddp.static_graph = false;
  }
  void operator()(Fsdp& fsdp) const { fsdp.forward_prefetch = fsdp.backward_prefetch = 0; }
  void operator()(Fsdp1& fsdp) const {
    fsdp.forward_prefetch = Fsdp1{}.forward_prefetch;
    fsdp.backward_prefetch = Fsdp1{}.backward_prefetch;
  }
  void operator()(Zero&) const {}
  void operator()(DistributedOptimizer&) const {}
};

}  // namespace

Strategy family_of(Strategy strategy) {
  std::visit(ResetFamilySettings{}, strategy);
  return strategy;
}

SearchResult optimize(const SearchSpace& space, const std::string& engine, const ForEach& for_each) {
  const auto kind = space.jobs.front().job.strategy.index();
  for (const auto& job : space.jobs)
    expects(job.job.strategy.index() == kind, "every job of the search has the same kind of strategy");
  return is_ddp(space.jobs.front().job.strategy) ? search_ddp(space, engine, for_each)
                                                 : search_sharded(space, engine, for_each);
}

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
