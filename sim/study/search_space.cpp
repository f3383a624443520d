// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search_space.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/config/problems.hpp"
#include "sim/config/scenario_keys.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/study/sweep.hpp"

namespace gradway {
namespace {

using config::fail;

const std::string group = "strategy.";

// Settings of DDP, which need no values, and the other ones, which do.
constexpr std::array ddp_names{"bucket_cap", "static_graph", "gradient_as_bucket_view", "comm_hook",
                               "powersgd_rank"};
constexpr std::array other_names{"optimizer", "job.accumulate", "job.batch_per_gpu", "input.pin_memory"};
constexpr std::array default_names{"bucket_cap", "static_graph", "gradient_as_bucket_view", "comm_hook"};

// "Typically only a small value 1-4 is used" (powerSGD_hook.py, PyTorch 2.8), by factors of two.
const std::vector<int> usual_ranks{1, 2, 4};

template <class Range, class Value>
bool is_among(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != range.end();
}

/// Where a key is one of DDP, its name without the group.
std::string name_of_key(const std::string& key) {
  const auto name = key.starts_with(group) ? key.substr(group.size()) : key;
  return is_among(ddp_names, name) ? name : key;
}

std::string key_of(const std::string& name) {
  return is_among(ddp_names, name) ? group + name : name;
}

bool can_be_searched(const std::string& name) {
  return is_among(ddp_names, name) || is_among(other_names, name) ||
         (name.starts_with("nccl.") && is_among(config::scenario_keys(), name));
}

[[noreturn]] void refuse_name(const std::string& name) {
  const auto what = fmt::format("'{}' is no setting that can be searched", name);
  if (is_among(config::scenario_keys(), name)) {
    fail({}, what,
         name == "platform" || name == "job.gpus"
             ? "'gradway compare' sets platforms and numbers of GPUs side by side"
             : "'gradway sweep' takes any key");
  }
  std::vector<std::string> names{ddp_names.begin(), ddp_names.end()};
  names.insert(names.end(), other_names.begin(), other_names.end());
  auto all = names;
  for (const auto& key : config::scenario_keys()) {
    if (key.starts_with("nccl.")) all.push_back(key);
  }
  fail({}, what, nearest(name, all).empty() ? suggestion("", names) + ", nccl.NAME" : suggestion(name, all));
}

/// What `--over` names, each with its values, or none if it was only named.
std::vector<Axis> axes_of(const std::vector<std::string>& over) {
  std::vector<Axis> axes;
  const auto add = [&](Axis axis) {
    axis.key = name_of_key(axis.key);
    if (!can_be_searched(axis.key)) refuse_name(axis.key);
    if (std::ranges::find(axes, axis.key, &Axis::key) != axes.end())
      fail({}, fmt::format("'--over {}' is given twice", axis.key), "give each setting once");
    axes.push_back(std::move(axis));
  };
  for (const auto& text : over) {
    const auto names = split_values(text.substr(0, text.find('=')));
    if (text.find('=') == std::string::npos) {
      for (const auto& name : names) {
        if (name.empty())
          fail({}, fmt::format("'--over {}' has an empty name", text), "write names between the commas");
        if (can_be_searched(name_of_key(name)) && !is_among(ddp_names, name_of_key(name)))
          fail({}, fmt::format("'--over {}' needs values", name),
               fmt::format("write '--over {}=VALUE,VALUE,...'", name));
        add({name, {}});
      }
      continue;
    }
    if (names.size() > 1)
      fail({}, fmt::format("'--over {}' mixes names and values", text),
           "give '--over' for each key with values");
    add(parse_axes({text}, "--over").front());
  }
  auto with_values = axes;
  std::erase_if(with_values, [](const Axis& axis) { return axis.values.empty(); });
  check_size(with_values);
  return axes;
}

Override told(const std::string& name, const std::string& value) {
  Where where;
  where.file = fmt::format("--over {}={}", name, value);
  return {key_of(name), value, std::move(where)};
}

class Reading {
 public:
  Reading(const SearchRequest& request, const DataPath& data)
      : request_{request}, data_{each_file_once(data)} {}

  AskedSearch read() {
    auto axes = axes_of(request_.over);
    if (request_.over.empty()) {
      for (const auto* name : default_names)
        if (!is_set(name)) axes.push_back({name, {}});
    }
    for (const auto& axis : axes) {
      if (is_set(axis.key))
        fail({}, fmt::format("'{}' is set and searched", key_of(axis.key)),
             "leave out '--set' or '--over' for it");
      asked_.keys.push_back(axis.key);
    }
    auto& jobs = asked_.space.jobs;
    jobs.push_back(load({}));
    asked_.changes.emplace_back();
    check_strategy(jobs.front());
    read_strategy(axes);
    read_jobs(axes);
    return std::move(asked_);
  }

 private:
  bool is_set(const std::string& name) const {
    return std::ranges::find(request_.set, key_of(name), &Override::key) != request_.set.end();
  }

  Scenario load(const std::vector<Override>& changes) const {
    auto overrides = request_.set;
    overrides.insert(overrides.end(), changes.begin(), changes.end());
    return load_scenario(request_.scenario, overrides, data_, request_.price);
  }

  static const char* hint_of(const Strategy& strategy) {
    if (std::holds_alternative<Alone>(strategy)) return "set strategy.kind=ddp, or write 'kind: ddp'";
    if (!trains(strategy)) return "'gradway sweep' varies what NCCL is told";
    return "'gradway explain' tries what could be set otherwise, 'gradway sweep' what you name";
  }

  static void check_strategy(const Scenario& scenario) {
    if (std::holds_alternative<Ddp>(scenario.job.strategy)) return;
    fail({},
         fmt::format("the strategy of '{}' is {}: only that of DDP has settings to search", scenario.name,
                     name_of(scenario.job.strategy)),
         hint_of(scenario.job.strategy));
  }

  /// Values of a key of DDP, as a scenario that has them understands them.
  template <class Value>
  std::vector<Value> values_of(const Axis& axis, Value Ddp::*member) const {
    std::vector<Value> values;
    for (const auto& value : axis.values) {
      std::vector<Override> changes{told(axis.key, value)};
      if (axis.key == "powersgd_rank") changes.insert(changes.begin(), {"strategy.comm_hook", "powersgd"});
      values.push_back(std::get<Ddp>(load(changes).job.strategy).*member);
    }
    return values;
  }

  /// The values that a key of DDP takes: those that were given, else all if it was named, else its own.
  template <class Value>
  std::vector<Value> choose(const std::vector<Axis>& axes, std::string_view name, Value Ddp::*member,
                            std::vector<Value> all) const {
    const auto axis = std::ranges::find(axes, name, &Axis::key);
    if (axis == axes.end()) return {std::get<Ddp>(asked_.space.jobs.front().job.strategy).*member};
    return axis->values.empty() ? all : values_of(*axis, member);
  }

  void read_strategy(const std::vector<Axis>& axes) {
    auto& space = asked_.space;
    const auto find = [&](std::string_view name) { return std::ranges::find(axes, name, &Axis::key); };
    const auto caps = find("bucket_cap");
    space.any_bucket_cap = caps != axes.end() && caps->values.empty();
    std::vector<BucketCap> all_caps{std::nullopt};
    if (const auto own = std::get<Ddp>(space.jobs.front().job.strategy).bucket_cap) all_caps.push_back(own);
    space.bucket_caps = choose(axes, "bucket_cap", &Ddp::bucket_cap, all_caps);
    space.static_graph = choose(axes, "static_graph", &Ddp::static_graph, {false, true});
    space.views = choose(axes, "gradient_as_bucket_view", &Ddp::gradient_as_bucket_view, {false, true});
    space.hooks = choose(axes, "comm_hook", &Ddp::comm_hook,
                         {CommHook::none, CommHook::fp16, CommHook::bf16, CommHook::powersgd});
    if (const auto hooks = find("comm_hook"); hooks != axes.end()) allow(space.hooks, !hooks->values.empty());
    space.powersgd_ranks = choose(axes, "powersgd_rank", &Ddp::powersgd_rank, usual_ranks);
    if (find("powersgd_rank") != axes.end() && !is_among(space.hooks, CommHook::powersgd)) {
      fail({}, "'powersgd_rank' is searched, but the hook powersgd is not",
           fmt::format("search comm_hook{}, or set strategy.comm_hook=powersgd",
                       request_.lossy ? " too" : " with --lossy"));
    }
  }

  /// Takes lossy hooks out unless they are allowed.
  void allow(std::vector<CommHook>& hooks, bool were_named) {
    if (request_.lossy) return;
    for (const auto hook : hooks) {
      if (!is_lossy(hook)) continue;
      if (were_named)
        fail({}, fmt::format("the hook {} changes the gradients' values", name_of(hook)),
             "give --lossy to search it");
      asked_.lossy_left_out.push_back(hook);
    }
    std::erase_if(hooks, is_lossy);
  }

  /// The cross product of what is no setting of DDP.
  void read_jobs(std::vector<Axis> axes) {
    std::erase_if(axes, [](const Axis& axis) { return is_among(ddp_names, axis.key); });
    if (axes.empty()) return;
    for (std::size_t i = 0; i < point_count(axes); ++i) {
      const auto values = point_values(axes, i);
      std::vector<Override> changes;
      for (std::size_t k = 0; k < axes.size(); ++k) changes.push_back(told(axes[k].key, values[k]));
      asked_.space.jobs.push_back(load(changes));
      asked_.changes.push_back(std::move(changes));
    }
  }

  const SearchRequest& request_;
  DataPath data_;
  AskedSearch asked_;
};

}  // namespace

bool is_lossy(CommHook hook) {
  return hook != CommHook::none;
}

Ddp pytorch_defaults() {
  return Ddp{};
}

bool has(const SearchSpace& space, const Ddp& strategy) {
  const bool has_cap =
      is_among(space.bucket_caps, strategy.bucket_cap) || (space.any_bucket_cap && strategy.bucket_cap);
  const bool has_rank =
      strategy.comm_hook != CommHook::powersgd || is_among(space.powersgd_ranks, strategy.powersgd_rank);
  return has_cap && has_rank && is_among(space.static_graph, strategy.static_graph) &&
         is_among(space.views, strategy.gradient_as_bucket_view) && is_among(space.hooks, strategy.comm_hook);
}

AskedSearch read_search(const SearchRequest& request, const DataPath& data) {
  return Reading{request, data}.read();
}

}  // namespace gradway
