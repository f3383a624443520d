// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/commands.hpp"
#include "sim/report/show/platform_list.hpp"
#include "sim/report/show/show.hpp"
#include "sim/report/text/text.hpp"

namespace gradway::cli {
namespace {

const std::string platforms = "platforms";
const std::string keys = "keys";

std::string describe_model(const std::string& name, const DataPath& data) {
  return load_model(name, data).source;
}

std::string describe_scenario(const std::string& name, const DataPath& data) {
  const auto scenario = load_scenario(name, {}, data);
  const auto is_call = !trains(scenario.job.strategy);
  return fmt::format("{} on {} GPUs of {}", is_call ? "a collective" : scenario.model.name, scenario.job.gpus,
                     scenario.platform.name);
}

/// What else can be listed: a name and a sentence each.
struct ListedKind {
  std::string_view name;
  DataKind kind;
  std::string (*describe)(const std::string&, const DataPath&);
};
constexpr std::array listed_kinds{ListedKind{"models", DataKind::model, describe_model},
                                  ListedKind{"scenarios", DataKind::scenario, describe_scenario},
                                  ListedKind{"prices", DataKind::prices, load_source_of_prices}};

/// A file that is wrong is listed all the same: its name is taken.
std::string description(const ListedKind& kind, const std::string& name, const DataPath& data) {
  try {
    return report::first_sentence(kind.describe(name, data));
  } catch (const ConfigError&) {
    return "cannot be read: its file is wrong";
  }
}

std::vector<report::ListedPlatform> one_node_of_each(const std::vector<std::string>& names,
                                                     const DataPath& data) {
  std::vector<report::ListedPlatform> listed;
  for (const auto& name : names) {
    auto& one = listed.emplace_back(report::ListedPlatform{name, {}});
    try {
      one.platform = load_platform(name, 1, data);
    } catch (const ConfigError&) {  // it is listed all the same: its name is taken
    }
  }
  return listed;
}

void list_platforms(bool json, const Surroundings& around) {
  auto listed = one_node_of_each(list_names(DataKind::platform, around.data), around.data);
  if (json) return report::write_platforms_json(around.results, std::move(listed));
  if (listed.empty()) around.messages << "there are no platforms in the data folders\n";
  report::write_platforms(around.results, std::move(listed), around.style);
}

void list_keys(bool json, const Surroundings& around) {
  const auto& all = config::described_keys();
  if (json) return report::write_keys_json(around.results, all);
  report::write_keys(around.results, all, around.style);
}

Status list(const std::string& what, bool json, const Surroundings& around) {
  if (what == platforms) {
    list_platforms(json, around);
    return Status::done;
  }
  if (what == keys) {
    list_keys(json, around);
    return Status::done;
  }
  const auto kind = std::ranges::find(listed_kinds, what, &ListedKind::name);
  if (kind == listed_kinds.end()) {
    std::vector<std::string> names{platforms, keys};
    for (const auto& known : listed_kinds) names.emplace_back(known.name);
    refuse(fmt::format("cannot list '{}'", what), suggestion(what, names));
  }
  if (json)
    refuse(fmt::format("'list {}' has no '--json'", what), "only 'list platforms' and 'list keys' have");
  const auto names = list_names(kind->kind, around.data);
  std::size_t width = 0;
  for (const auto& name : names) width = std::max(width, report::columns_of(name));
  for (const auto& name : names) {
    const std::string padding(width + 2 - report::columns_of(name), ' ');
    const auto room = around.style.width > width + 22 ? around.style.width - width - 2 : 20;
    const auto text = report::shorten(description(*kind, name, around.data), room);
    around.results << name << (text.empty() ? "" : padding + text) << '\n';
  }
  if (names.empty()) around.messages << fmt::format("there are no {} in the data folders\n", what);
  return Status::done;
}

}  // namespace

Action add_list(CLI::App& app) {
  const auto what = std::make_shared<std::string>();
  app.add_option("KIND", *what, "platforms, models, scenarios, prices, or the keys of a scenario")
      ->required();
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document; platforms and keys only");
  return [what, json](const Surroundings& around) { return list(*what, *json, around); };
}

}  // namespace gradway::cli
