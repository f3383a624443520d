// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/settings_search.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "sim/base/contract.hpp"
#include "sim/plan/ddp/buckets.hpp"
#include "sim/scenario/lossy_steps.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/search/optimize.hpp"
#include "sim/study/search/search_space.hpp"

namespace gradway {
namespace {

/// Relative differences up to this are ignored.
constexpr double negligible_difference = 1e-4;

/// Tries the settings of a generator, ranks them and recommends one.
class SettingsSearch {
 public:
  /// @param defaults the strategy with the framework's defaults
  SettingsSearch(const SearchSpace& space, const Strategy& defaults, const std::string& engine,
                 const ForEach& for_each)
      : space_{space},
        all_{strategy_settings(space.jobs.front())},
        defaults_{defaults},
        generator_{is_ddp(defaults) ? settings_of_ddp(space) : sharded_settings(space)},
        tried_{space, engine, for_each} {}

  SearchResult run() {
    generator_->try_settings(tried_);
    SearchResult result;
    const auto fitting = tried_.runnable(generator_->settings());
    auto ranked = fitting;
    std::erase_if(ranked, [&](const Answer& tried) { return !meets_limits(tried); });
    result.none_meets = ranked.empty() && !fitting.empty();
    enforces_limits_ = !result.none_meets;
    result.optimum = optimum(enforces_limits_ ? ranked : fitting);
    if (enforces_limits_) result.missed = families_missing_limits(fitting);
    result.left_out = tried_.left_out();
    result.settings = generator_->count();
    result.simulated = tried_.simulated();
    return result;
  }

 private:
  /// Number of settings that differ from the framework's defaults.
  int departures(const Strategy& strategy) const {
    return static_cast<int>(std::ranges::count_if(
        all_, [&](const StrategySetting& setting) { return !setting.is_same(strategy, defaults_); }));
  }

  /// For each searched setting that is not at its default: its key, and the strategy with it reverted.
  std::vector<std::pair<std::string, Strategy>> without_each(const Strategy& strategy) const {
    std::vector<std::pair<std::string, Strategy>> list;
    const auto gpus = space_.jobs.front().job.gpus;
    for (const auto& setting : space_.settings) {
      const bool has_values =
          setting.values.size() > 1 || (setting.name == "bucket_cap" && space_.any_bucket_cap);
      if (!has_values || setting.is_same(strategy, defaults_)) continue;
      auto without = strategy;
      setting.assign(without, defaults_);
      if (is_ddp(without) && hook_of(without) != CommHook::powersgd) std::get<Ddp>(without).powersgd_rank = 1;
      if (is_consistent(without, gpus)) list.emplace_back(setting.name, simplest(without, gpus));
    }
    return list;
  }

  /// Number of changes that a setting needs, and whether it is lossy.
  std::pair<int, bool> changes(const Answer& tried) const {
    const auto of_job = std::max<std::size_t>(tried.set.size(), tried.scenario != 0 ? 1 : 0);
    return {static_cast<int>(of_job) + departures(tried.job.strategy), is_lossy(hook_of(tried.job.strategy))};
  }

  /// Whether a job has this value of a setting: its changed value, or the one that the scenario has.
  bool has_value(const Answer& tried, const Axis& setting, const std::string& value) const {
    const auto change = std::ranges::find(tried.set, setting.key, &Settings::value_type::first);
    if (change != tried.set.end()) return change->second == value;
    return written_value(space_.jobs.front().job.input, setting.key) == value;
  }

  /// The job with the same changes but that of `key`.
  std::optional<std::size_t> job_without(const Settings& set, const std::string& key) const {
    for (std::size_t simpler = 0; simpler < space_.changes.size(); ++simpler) {
      const auto& changes = space_.changes[simpler];
      if (changes.size() + 1 == set.size() && std::ranges::all_of(set, [&](const auto& change) {
            return change.first == key || std::ranges::find(changes, change) != changes.end();
          }))
        return simpler;
    }
    return std::nullopt;
  }

  std::vector<Answer> best_of_hooks(const std::vector<Answer>& ranked) const {
    std::map<std::pair<CommHook, int>, std::vector<const Answer*>> by_hook;
    for (const auto& tried : ranked) {
      const auto& strategy = std::get<Ddp>(tried.job.strategy);
      by_hook[{strategy.comm_hook, strategy.powersgd_rank}].push_back(&tried);
    }
    std::vector<Answer> best;
    for (const auto& [hook, with_hook] : by_hook) best.push_back(recommended(with_hook));
    return best;
  }

  /// @param has_value_of whether an answer has a value of the setting
  template <class Has>
  void add_best_of_value(Optimum& optimum, const std::string& setting, const std::string& value,
                         const std::vector<Answer>& ranked, const Has& has_value_of) const {
    std::vector<const Answer*> with;
    for (const auto& tried : ranked)
      if (has_value_of(tried)) with.push_back(&tried);
    auto& row = optimum.best_of_values.emplace_back(BestOfValue{setting, value, {}});
    if (!with.empty()) row.tried = recommended(with);
  }

  void add_best_of_settings(Optimum& optimum, const std::vector<Answer>& ranked) const {
    for (const auto& setting : space_.settings) {
      if (setting.values.size() < 2) continue;
      for (const auto& value : setting.values)
        add_best_of_value(optimum, setting.name, value.text, ranked, [&](const Answer& tried) {
          return setting.is_same(tried.job.strategy, value.strategy);
        });
    }
  }

  void add_best_of_job_settings(Optimum& optimum, const std::vector<Answer>& ranked) const {
    for (const auto& setting : space_.job_settings) {
      if (setting.values.size() < 2) continue;
      for (const auto& value : setting.values)
        add_best_of_value(optimum, setting.key, value, ranked,
                          [&](const Answer& tried) { return has_value(tried, setting, value); });
    }
  }

  const Answer& fastest_of(const std::vector<const Answer*>& results) const {
    return **std::ranges::min_element(results, {}, [&](const Answer* tried) { return cost(*tried); });
  }

  /// Whether the two are equal within the negligible difference, or statistically tied.
  bool is_as_good(const Answer& fastest, const Answer& tried) const {
    if (cost(tried) <= (1 + negligible_difference) * cost(fastest)) return true;
    const auto ratio = figure_ratio(fastest.sample_choice(), tried.sample_choice());
    return ratio.low <= 1 && 1 <= ratio.high;
  }

  /// Of all that are as good as the fastest, the ones with the fewest changes; of these the fastest; and of
  /// equally fast ones the one with the least memory and the roundest cap. If the fastest may not fit, only
  /// settings that certainly fit are considered.
  const Answer& simplest_of_best(const std::vector<const Answer*>& results) const {
    const auto& fastest = fastest_of(results);
    std::vector<const Answer*> with_room;
    for (const auto* tried : results)
      if (tried->surely_fits() && is_as_good(fastest, *tried)) with_room.push_back(tried);
    if (!fastest.surely_fits() && !with_room.empty()) return simplest_of_best(with_room);
    auto least = changes(fastest);
    std::vector<const Answer*> good;
    for (const auto* tried : results) {
      if (changes(*tried) > least || !is_as_good(fastest, *tried)) continue;
      least = changes(*tried);
      good.push_back(tried);
    }
    std::erase_if(good, [&](const Answer* tried) { return changes(*tried) > least; });
    const auto least_cost = cost(fastest_of(good));
    const auto tie_break = [&](const Answer* tried) {
      const auto cap = settings_or_defaults<Ddp>(tried->job.strategy).bucket_cap.value_or(0_B);
      return std::tuple{cost(*tried) > (1 + negligible_difference) * least_cost, tried->memory,
                        significant_digits(cap), cap, cost(*tried)};
    };
    return **std::ranges::min_element(good, {}, tie_break);
  }

  /// The simplest setting is tied with the fastest, but a setting between the two may certainly be faster
  /// than it, as it has fewer errors that the two do not share. Takes the one with the fewest changes of
  /// those, until there is none.
  const Answer& recommended(const std::vector<const Answer*>& results) const {
    const auto* best = &simplest_of_best(results);
    for (;;) {
      std::vector<const Answer*> faster;
      for (const auto* tried : results) {
        if (cost(*tried) < cost(*best) && !is_as_good(*tried, *best)) faster.push_back(tried);
      }
      if (faster.empty()) return *best;
      best = *std::ranges::min_element(faster, {}, [&](const Answer* tried) {
        return std::pair{changes(*tried), cost(*tried)};
      });
    }
  }

  /// @param fitting sorted by family
  std::vector<Answer> families_missing_limits(const std::vector<Answer>& fitting) const {
    const auto family = [](const Answer& tried) {
      return std::pair{tried.scenario, family_of(tried.job.strategy)};
    };
    std::vector<Answer> missed;
    for (auto first = fitting.begin(); first != fitting.end();) {
      const auto last = std::find_if(first, fitting.end(),
                                     [&](const Answer& tried) { return family(tried) != family(*first); });
      if (std::none_of(first, last, [&](const Answer& tried) { return meets_limits(tried); }))
        missed.push_back(*std::min_element(
            first, last, [&](const Answer& a, const Answer& b) { return cost(a) < cost(b); }));
      first = last;
    }
    return missed;
  }

  std::optional<Optimum> optimum(const std::vector<Answer>& ranked) {
    if (ranked.empty()) return std::nullopt;
    std::vector<const Answer*> every;
    for (const auto& tried : ranked) every.push_back(&tried);
    Optimum optimum;
    optimum.fastest = fastest_of(every);
    optimum.best = revert_unneeded(recommended(every), optimum.fastest);
    optimum.defaults = tried_.get({0, defaults_});
    optimum.as_written = tried_.get({0, space_.jobs.front().job.strategy});
    optimum.reverted = reverted(optimum.best);
    if (is_ddp(defaults_)) {
      optimum.best_of_hooks = best_of_hooks(ranked);
    } else {
      add_best_of_settings(optimum, ranked);
    }
    generator_->add_details(optimum, tried_);
    add_best_of_job_settings(optimum, ranked);
    return optimum;
  }

  /// Reverts the settings whose benefit is not certain, as far as the reverted value is searched.
  Answer revert_unneeded(Answer best, const Answer& fastest) {
    const auto is_unneeded = [&](const RevertedSetting& setting) {
      return has(space_, setting.without.job.strategy) && setting.without.can_run() &&
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

  std::vector<RevertedSetting> reverted(const Answer& best) {
    std::vector<RevertedSetting> list;
    const auto& strategy = best.job.strategy;
    if (best.set.size() > 1) {
      for (const auto& [key, value] : best.set)
        if (const auto job = job_without(best.set, key)) list.push_back({key, tried_.get({*job, strategy})});
    }
    if (best.scenario != 0) list.push_back({"", tried_.get({0, strategy})});
    for (auto& [key, without] : without_each(strategy))
      list.push_back({std::move(key), tried_.get({best.scenario, without})});
    return list;
  }

  bool meets_limits(const Answer& tried) const { return meets(space_.goal, tried.metrics, tried.range); }

  const SearchSpace& space_;
  std::vector<StrategySetting> all_;  ///< including those that are not searched
  Strategy defaults_;
  std::unique_ptr<SettingGenerator> generator_;
  SettingSimulator tried_;
  bool enforces_limits_ = true;  ///< settings that miss the limits of the training are not ranked
};

}  // namespace

double Optimum::gain_over(const Answer& setting) const {
  const auto time = best.time_per_sample().value();
  return time > 0 ? setting.time_per_sample().value() / time - 1 : 0;
}

bool Optimum::is_tied_with_best(const Answer& setting) const {
  const auto is_tied = [&](const Answer& tried) {
    return are_tied(best.sample_choice(), tried.sample_choice());
  };
  if (!is_tied(setting)) return false;
  const auto gain = gain_over(setting);
  return std::ranges::none_of(named(), [&](const Answer* tried) {
    const auto nearer = gain_over(*tried);
    return (gain < 0 ? gain <= nearer && nearer <= 0 : 0 <= nearer && nearer <= gain) && !is_tied(*tried);
  });
}

double Optimum::best_is_faster(const Answer& setting) const {
  return probability_of_less(figure_ratio(best.sample_choice(), setting.sample_choice()));
}

std::vector<const Answer*> Optimum::named() const {
  std::vector<const Answer*> settings{&fastest, &defaults, &as_written};
  for (const auto& tried : best_of_hooks) settings.push_back(&tried);
  for (const auto& value : best_of_values)
    if (value.tried) settings.push_back(&*value.tried);
  for (const auto& setting : reverted) settings.push_back(&setting.without);
  std::erase_if(settings, [](const Answer* tried) { return !tried->can_run(); });
  return settings;
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
  const auto& written = space.jobs.front();
  const auto defaults = is_ddp(written.job.strategy)
                            ? Strategy{pytorch_defaults()}
                            : framework_defaults(strategy_settings(written), written.job.strategy);
  return SettingsSearch{space, defaults, engine, for_each}.run();
}

SettingSimulator::Key SettingSimulator::key_of(const Setting& setting) {
  const auto& scenario = space_.jobs[setting.job];
  auto strategy = simplest(setting.strategy, scenario.job.gpus);
  if (!is_ddp(strategy)) return {setting.job, strategy, {}};
  auto& ddp = std::get<Ddp>(strategy);
  const auto [ends, is_new] = bucket_ends_.try_emplace(ddp.bucket_cap);
  if (is_new) ends->second = bucket_ends(ddp_buckets(scenario.model, ddp.bucket_cap));
  ddp.bucket_cap.reset();
  ddp.static_graph = false;
  return {setting.job, strategy, ends->second};
}

void SettingSimulator::try_all(const std::vector<Setting>& settings) {
  std::map<Key, const Setting*> fresh;
  for (const auto& setting : settings) {
    auto key = key_of(setting);
    if (!tried_.contains(key)) fresh.emplace(std::move(key), &setting);
  }
  std::vector<Question> questions;
  for (const auto& [key, setting] : fresh) {
    const auto& scenario = space_.jobs[setting->job];
    // If the scenario itself is refused, it is wrong, not a change that the search made.
    questions.push_back({.scenario = &scenario, .job = scenario.job, .must_run = setting->job == 0});
    questions.back().job->strategy = setting->strategy;
  }
  auto answers = answers_to(questions, {.engine = engine_}, for_each_);
  auto answer = answers.begin();
  for (const auto& [key, setting] : fresh) {
    answer->scenario = setting->job;
    if (setting->job < space_.changes.size()) answer->set = space_.changes[setting->job];
    tried_.emplace(key, std::move(*answer++));
  }
}

Answer SettingSimulator::get(const Setting& setting) {
  try_all({setting});
  auto tried = tried_.at(key_of(setting));
  tried.job.strategy = setting.strategy;
  return tried;
}

std::vector<Answer> SettingSimulator::runnable(const std::vector<Setting>& settings) {
  std::vector<Answer> answers;
  for (const auto& setting : settings) {
    if (!has(setting)) continue;
    if (auto tried = get(setting); tried.can_run()) answers.push_back(std::move(tried));
  }
  return answers;
}

std::vector<Answer> SettingSimulator::left_out() const {
  std::vector<Answer> failures;
  for (const auto& [key, tried] : tried_) {
    if (tried.can_run()) continue;
    const auto same = std::ranges::find_if(failures, [&](const Answer& failure) {
      const bool same_words = tried.memory == 0_B && failure.failure_reason == tried.failure_reason;
      return failure.scenario == tried.scenario &&
             (same_words || family_of(failure.job.strategy) == family_of(tried.job.strategy));
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
