// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/search_space.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/nearest.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/yaml/problems.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/scenario/value_text.hpp"
#include "sim/study/ask/values_to_try.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

using config::fail;

// Keys of any strategy, which need values, and settings of DDP that are searched by default.
constexpr std::array other_names{"optimizer", "job.accumulate", "job.batch_per_gpu"};
constexpr std::array default_names{"bucket_cap", "static_graph", "gradient_as_bucket_view", "comm_hook"};
constexpr std::string_view recompute = "recompute";

template <class Range, class Value>
bool is_among(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != range.end();
}

/// The settings of a strategy that can be searched, and `recompute` of one that shards.
class SearchableSettings {
 public:
  SearchableSettings(const std::vector<StrategySetting>& settings, bool shards) : all_{settings} {
    if (shards) all_.push_back({std::string{recompute}, fmt::format("job.{}", recompute), {}});
  }

  bool has(const std::string& name) const {
    return std::ranges::find(all_, name, &StrategySetting::name) != all_.end();
  }

  /// The name of the setting with this key; else the key.
  std::string name_of_key(const std::string& key) const {
    const auto entry = std::ranges::find(all_, key, &StrategySetting::key);
    return entry == all_.end() ? key : entry->name;
  }

  std::string key_of(const std::string& name) const {
    const auto entry = std::ranges::find(all_, name, &StrategySetting::name);
    return entry == all_.end() ? name : entry->key;
  }

  bool can_be_searched(const std::string& name) const {
    return has(name) || is_among(other_names, name) || is_among(input_settings(), name) ||
           (name.starts_with("nccl.") && is_among(config::scenario_keys(), name));
  }

  [[noreturn]] void refuse(const std::string& name) const {
    const auto problem = fmt::format("cannot search over '{}'", name);
    if (is_among(config::scenario_keys(), name)) {
      fail({}, problem,
           name == "platform" || name == "job.gpus"
               ? "'gradway compare' compares platforms and numbers of GPUs"
               : "'gradway sweep' can vary any key");
    }
    std::vector<std::string> names;
    for (const auto& entry : all_) names.push_back(entry.name);
    names.insert(names.end(), other_names.begin(), other_names.end());
    names.insert(names.end(), input_settings().begin(), input_settings().end());
    auto candidates = names;
    for (const auto& key : config::scenario_keys()) {
      if (key.starts_with("nccl.")) candidates.push_back(key);
    }
    fail({}, problem,
         nearest(name, candidates).empty() ? fmt::format("known: {}, nccl.NAME", fmt::join(names, ", "))
                                           : suggestion(name, candidates));
  }

 private:
  std::vector<StrategySetting> all_;
};

/// The settings of `--over` with their values, which are empty where only names are given.
std::vector<Axis> axes_of(const std::vector<std::string>& over, const SearchableSettings& names) {
  std::vector<Axis> axes;
  const auto add = [&](Axis axis) {
    axis.key = names.name_of_key(axis.key);
    if (!names.can_be_searched(axis.key)) names.refuse(axis.key);
    if (std::ranges::find(axes, axis.key, &Axis::key) != axes.end())
      fail({}, fmt::format("'--over {}' is given twice", axis.key), "give each setting once");
    axes.push_back(std::move(axis));
  };
  for (const auto& text : over) {
    const auto named = split_values(text.substr(0, text.find('=')));
    if (text.find('=') == std::string::npos) {
      for (const auto& name : named) {
        if (name.empty())
          fail({}, fmt::format("'--over {}' has an empty name", text), "write names between the commas");
        const auto key = names.name_of_key(name);
        if (names.can_be_searched(key) && !names.has(key) && !is_among(input_settings(), key))
          fail({}, fmt::format("'--over {}' needs values", name),
               fmt::format("write '--over {}=VALUE,VALUE,...'", name));
        add({name, {}});
      }
      continue;
    }
    if (named.size() > 1)
      fail({}, fmt::format("'--over {}' mixes names and values", text),
           "give '--over' for each key with values");
    add(parse_axes({text}, "--over").front());
  }
  auto with_values = axes;
  std::erase_if(with_values, [](const Axis& axis) { return axis.values.empty(); });
  check_size(with_values);
  return axes;
}

class SearchReader {
 public:
  SearchReader(const SearchRequest& request, const DataPath& data)
      : request_{request},
        data_{with_file_cache(data)},
        written_{load({})},
        settings_{strategy_settings(written_)},
        searchable_{settings_, !settings_.empty() && !is_ddp(written_.job.strategy)} {}

  ParsedSearch read() {
    check_strategy(written_);
    auto axes = axes_of(request_.over, searchable_);
    if (request_.over.empty()) add_defaults(axes);
    for (const auto& axis : axes) {
      if (is_set(axis.key))
        fail({}, fmt::format("'{}' is set and searched", searchable_.key_of(axis.key)),
             "leave out '--set' or '--over' for it");
      asked_.keys.push_back(axis.key);
    }
    asked_.space.jobs.push_back(written_);
    asked_.space.changes.emplace_back();
    read_settings(axes);
    read_jobs(axes);
    read_recompute(axes);
    return std::move(asked_);
  }

 private:
  bool is_set(const std::string& name) const {
    return std::ranges::find(request_.set, searchable_.key_of(name), &Override::key) != request_.set.end();
  }

  void add_defaults(std::vector<Axis>& axes) const {
    const auto add = [&](const std::string& name) {
      if (!is_set(name)) axes.push_back({name, {}});
    };
    if (is_ddp(written_.job.strategy)) {
      for (const auto* name : default_names) add(name);
      return;
    }
    for (const auto& setting : settings_) add(setting.name);
    if (knows_memory_of_blocks()) add(std::string{recompute});
  }

  /// Whether the memory of recomputed blocks is known. For profiles it is not.
  bool knows_memory_of_blocks() const {
    return !written_.model.profile && blocks_of(written_.model).count > 0;
  }

  Override override_for(const std::string& name, const std::string& value) const {
    Where where;
    where.file = fmt::format("--over {}={}", name, value);
    return {searchable_.key_of(name), value, std::move(where)};
  }

  Scenario load(const std::vector<Override>& changes) const {
    auto overrides = request_.set;
    overrides.insert(overrides.end(), changes.begin(), changes.end());
    return load_scenario(request_.scenario, overrides, data_, request_.price);
  }

  static const char* hint_of(const Strategy& strategy) {
    if (!facts_of(strategy).exchanges) return "set strategy.kind=ddp, or write 'kind: ddp'";
    if (!trains(strategy)) return "'gradway sweep' can vary NCCL's variables";
    return "'gradway explain' tries other settings, and 'gradway sweep' can vary any key";
  }

  static void check_strategy(const Scenario& scenario) {
    const auto& strategy = scenario.job.strategy;
    const auto facts = facts_of(strategy);
    if (facts.trains && facts.exchanges && facts.framework != Framework::megatron) return;
    fail({},
         fmt::format("the strategy of '{}' is {}: only DDP, FSDP and ZeRO have settings to search",
                     scenario.name, name_of(strategy)),
         hint_of(strategy));
  }

  /// The values of `--over`, else those of the table. Settings of DDP are in the order of the table.
  void read_settings(std::vector<Axis> axes) {
    std::erase_if(axes, [&](const Axis& axis) {
      return std::ranges::find(settings_, axis.key, &StrategySetting::name) == settings_.end();
    });
    const auto setting_of = [&](const Axis& axis) {
      return std::ranges::find(settings_, axis.key, &StrategySetting::name);
    };
    const bool is_of_ddp = is_ddp(written_.job.strategy);
    if (is_of_ddp) std::ranges::sort(axes, {}, setting_of);
    for (const auto& axis : axes) {
      auto& searched = asked_.space.settings.emplace_back(*setting_of(axis));
      if (!axis.values.empty()) searched.values = values_of(axis);
      if (axis.key == "bucket_cap") asked_.space.any_bucket_cap = axis.values.empty();
      if (axis.key == "comm_hook") allow(searched.values, !axis.values.empty());
    }
    if (is_of_ddp) check_powersgd();
  }

  /// Parsed as in a scenario.
  std::vector<SettingValue> values_of(const Axis& axis) const {
    std::vector<SettingValue> values;
    for (const auto& value : axis.values) {
      std::vector<Override> changes{override_for(axis.key, value)};
      if (axis.key == "powersgd_rank") changes.insert(changes.begin(), {"strategy.comm_hook", "powersgd"});
      values.push_back({value, load(changes).job.strategy});
    }
    return values;
  }

  void check_powersgd() const {
    const auto& settings = asked_.space.settings;
    if (std::ranges::find(settings, "powersgd_rank", &StrategySetting::name) != settings.end() &&
        !is_among(values_to_try(asked_.space, "comm_hook", &Ddp::comm_hook), CommHook::powersgd))
      fail({}, "'powersgd_rank' is searched, but the hook powersgd is not",
           fmt::format("search comm_hook{}, or set strategy.comm_hook=powersgd",
                       request_.lossy ? " too" : " with --lossy"));
  }

  /// Removes lossy hooks unless they are allowed.
  void allow(std::vector<SettingValue>& hooks, bool were_named) {
    if (request_.lossy) return;
    for (const auto& value : hooks) {
      const auto hook = std::get<Ddp>(value.strategy).comm_hook;
      if (!is_lossy(hook)) continue;
      if (were_named)
        fail({}, fmt::format("the hook {} changes the values of gradients", name_of(hook)),
             "give --lossy to search it");
      asked_.lossy_left_out.push_back(hook);
    }
    std::erase_if(
        hooks, [](const SettingValue& value) { return is_lossy(std::get<Ddp>(value.strategy).comm_hook); });
  }

  /// Adds a job for each point of the cross product of keys that are not settings of the strategy.
  void read_jobs(std::vector<Axis> axes) {
    std::erase_if(axes, [&](const Axis& axis) {
      return searchable_.has(axis.key) && (axis.key != recompute || axis.values.empty());
    });
    if (axes.empty()) return;
    for (auto& axis : axes) {
      if (axis.values.empty()) axis.values = usual_values_of(axis.key);
      asked_.space.job_settings.push_back(axis);
    }
    check_size(axes);
    for (std::size_t i = 0; i < point_count(axes); ++i) {
      const auto values = point_values(axes, i);
      Settings set;
      for (std::size_t k = 0; k < axes.size(); ++k)
        if (written_value(written_.job.input, axes[k].key) != values[k])
          set.emplace_back(searchable_.key_of(axes[k].key), values[k]);
      if (!set.empty()) add_job(std::move(set));
    }
  }

  std::vector<std::string> usual_values_of(const std::string& key) const {
    if (!written_.job.input.dataset && key != "input.pin_memory")
      fail({}, fmt::format("'{}' is searched, but the scenario has no dataset", key),
           "set input.dataset, as in '--set input.dataset=imagenet-1k'");
    auto values = usual_values(written_, key, data_);
    if (values.empty())
      fail({}, fmt::format("'--over {}' needs values", key),
           fmt::format("write '--over {}=VALUE,VALUE,...'", key));
    return values;
  }

  void add_job(Settings set) {
    std::vector<Override> changes;
    for (const auto& [key, value] : set) changes.push_back(override_for(searchable_.name_of_key(key), value));
    asked_.space.jobs.push_back(load(changes));
    asked_.space.changes.push_back(std::move(set));
  }

  /// Adds each job with (or without) activation checkpointing, if `--over recompute` has no values.
  void read_recompute(const std::vector<Axis>& axes) {
    const auto axis = std::ranges::find(axes, recompute, &Axis::key);
    if (axis == axes.end() || !axis->values.empty()) return;
    if (!knows_memory_of_blocks())
      fail({}, "the memory of recomputed blocks is not known for this model",
           "write '--over recompute=none,full' to compare them nevertheless");
    auto& jobs = asked_.space.jobs;
    for (std::size_t job = 0, count = jobs.size(); job < count; ++job) {
      auto set = asked_.space.changes[job];
      const bool recomputes = runs_blocks_again(jobs[job].job.recompute);
      set.emplace_back(searchable_.key_of(axis->key), recomputes ? "none" : "full");
      add_job(std::move(set));
      const auto added = jobs.size() - 1;
      asked_.space.recompute.push_back(recomputes ? RecomputeToTry{added, job} : RecomputeToTry{job, added});
    }
  }

  const SearchRequest& request_;
  DataPath data_;
  Scenario written_;
  std::vector<StrategySetting> settings_;
  SearchableSettings searchable_;
  ParsedSearch asked_;
};

}  // namespace

bool is_lossy(CommHook hook) {
  return hook != CommHook::none;
}

Ddp pytorch_defaults() {
  return Ddp{};
}

bool has(const SearchSpace& space, const Strategy& strategy) {
  const auto& job = space.jobs.front().job;
  const auto ddp = settings_or_defaults<Ddp>(strategy);
  return std::ranges::all_of(strategy_settings(space.jobs.front()), [&](const StrategySetting& setting) {
    if (setting.name == "powersgd_rank" && ddp.comm_hook != CommHook::powersgd) return true;
    if (setting.name == "bucket_cap" && space.any_bucket_cap && ddp.bucket_cap) return true;
    const auto searched = std::ranges::find(space.settings, setting.name, &StrategySetting::name);
    if (searched == space.settings.end()) return setting.is_same(strategy, job.strategy);
    return std::ranges::any_of(searched->values, [&](const SettingValue& value) {
      return setting.is_same(simplest(strategy, job.gpus), simplest(value.strategy, job.gpus));
    });
  });
}

ParsedSearch read_search(const SearchRequest& request, const DataPath& data) {
  return SearchReader{request, data}.read();
}

const std::vector<std::string_view>& input_settings() {
  static const std::vector<std::string_view> names{
      "input.loader_workers", "input.prefetch_factor", "input.storage",
      "input.decode",         "input.pin_memory",      "input.codec",
      "input.cache",          "input.dataset",         "input.cache_policy"};
  return names;
}

std::vector<std::string> usual_values(const Scenario& scenario, std::string_view key, const DataPath& data) {
  return key == "input.storage" ? list_names(DataKind::storage, data) : values_to_try(scenario, key);
}

std::optional<std::string> written_value(const InputSettings& input, std::string_view key) {
  const auto name = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional{text}; };
  if (key == "input.storage" && input.storage) return name(input.storage->name);
  if (key == "input.dataset" && input.dataset) return name(input.dataset->name);
  if (key == "input.codec" && input.codec) return std::string{input.codec->name};
  if (key == "input.cache" && input.cache)
    return std::string{Cache::kind_words[static_cast<std::size_t>(input.cache->kind)]};
  if (key == "input.cache_policy" && input.cache)
    return std::string{cache_policy_words[static_cast<std::size_t>(input.cache->policy)]};
  const Record settings{input};
  const auto field = std::ranges::find(settings.fields(), key.substr(key.find('.') + 1), &Field::key);
  if (field == settings.fields().end() || field->is_custom) return std::nullopt;
  return value_text(field->kind, settings.value(*field));
}

}  // namespace gradway
