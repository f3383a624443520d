// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/commands.hpp"
#include "sim/report/text.hpp"

namespace gradway::cli {
namespace {

std::string describe_platform(const std::string& name, const DataPath& data) {
  constexpr int gpus_of_made_up_platforms = 8;  // enough for any of them
  return load_platform(name, gpus_of_made_up_platforms, data).source;
}

std::string describe_model(const std::string& name, const DataPath& data) {
  return load_model(name, data).source;
}

std::string describe_scenario(const std::string& name, const DataPath& data) {
  const auto scenario = load_scenario(name, {}, data);
  return fmt::format("{} on {} GPUs of {}", scenario.model.name, scenario.job.gpus, scenario.platform.name);
}

/// What can be listed.
struct Kind {
  std::string_view name;
  DataKind kind;
  std::string (*describe)(const std::string&, const DataPath&);
};
constexpr std::array kinds{Kind{"platforms", DataKind::platform, describe_platform},
                           Kind{"models", DataKind::model, describe_model},
                           Kind{"scenarios", DataKind::scenario, describe_scenario},
                           Kind{"prices", DataKind::prices, load_source_of_prices}};

/// A file that is wrong is listed all the same: its name is taken.
std::string description(const Kind& kind, const std::string& name, const DataPath& data) {
  try {
    return report::first_sentence(kind.describe(name, data));
  } catch (const ConfigError&) {
    return "cannot be read: its file is wrong";
  }
}

Status list(const std::string& what, const Surroundings& around) {
  const auto kind = std::ranges::find(kinds, what, &Kind::name);
  if (kind == kinds.end()) {
    std::vector<std::string> names;
    for (const auto& known : kinds) names.emplace_back(known.name);
    refuse(fmt::format("cannot list '{}'", what), suggestion(what, names));
  }
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
  app.add_option("KIND", *what, "platforms, models, scenarios or prices")->required();
  return [what](const Surroundings& around) { return list(*what, around); };
}

}  // namespace gradway::cli
