// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/shell/argument_words.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/show/lists.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {
namespace {

std::string describe_model(const std::string& name, const DataPath& data) {
  return load_model(name, data).source;
}

std::string describe_scenario(const std::string& name, const DataPath& data) {
  const auto scenario = load_scenario(name, {}, data);
  const auto is_call = !trains(scenario.job.strategy);
  return fmt::format("{} on {} GPUs of {}", is_call ? "a collective" : scenario.model.name, scenario.job.gpus,
                     scenario.platform.name);
}

std::string describe_storage(const std::string& name, const DataPath& data) {
  return load_storage(name, data).source;
}

std::string describe_dataset(const std::string& name, const DataPath& data) {
  return load_dataset(name, data).source;
}

/// Data that is listed with a name and a sentence each.
struct ListedKind {
  std::string_view name;
  DataKind kind;
  std::string (*describe)(const std::string&, const DataPath&);
};
constexpr std::array described_kinds{ListedKind{"models", DataKind::model, describe_model},
                                     ListedKind{"scenarios", DataKind::scenario, describe_scenario},
                                     ListedKind{"prices", DataKind::prices, load_source_of_prices},
                                     ListedKind{"storage", DataKind::storage, describe_storage},
                                     ListedKind{"datasets", DataKind::dataset, describe_dataset}};

/// Invalid files are listed, too, because their names are in use.
std::string description(const ListedKind& kind, const std::string& name, const DataPath& data) {
  try {
    return report::first_sentence(kind.describe(name, data));
  } catch (const ConfigError&) {
    return "the file is invalid";
  }
}

std::vector<report::ListedPlatform> one_node_of_each(const std::vector<std::string>& names,
                                                     const DataPath& data) {
  std::vector<report::ListedPlatform> listed;
  for (const auto& name : names) {
    auto& one = listed.emplace_back(report::ListedPlatform{name, {}});
    try {
      one.platform = load_platform(name, 1, data);
    } catch (const ConfigError&) {  // its name is listed nevertheless
    }
  }
  return listed;
}

void list_platforms(bool json, const CommandContext& context) {
  auto listed = one_node_of_each(list_names(DataKind::platform, context.data), context.data);
  if (json) return report::write_platforms_json(context.results, std::move(listed));
  if (listed.empty()) context.messages << "there are no platforms in the data folders\n";
  report::write_platforms(context.results, std::move(listed), context.style);
}

void list_keys(bool json, const CommandContext& context) {
  const auto& all = config::described_keys();
  if (json) return report::write_keys_json(context.results, all);
  report::write_keys(context.results, all, context.style);
}

void list_gpus(bool json, const CommandContext& context) {
  std::vector<report::ListedGpu> listed;
  for (const auto& name : list_names(DataKind::gpu, context.data)) {
    auto& one = listed.emplace_back(report::ListedGpu{name, {}, {}});
    try {
      one.gpu = load_gpu(name, "", context.data);
      one.gpu_of_kernel_times = gpu_of_kernel_times(name, context.data);
    } catch (const ConfigError&) {  // its name is listed nevertheless
    }
  }
  if (json) return report::write_gpus_json(context.results, listed);
  if (listed.empty()) context.messages << "there are no gpus in the data folders\n";
  report::write_gpus(context.results, listed, context.style);
}

void list_calibrations(bool json, const CommandContext& context) {
  std::vector<report::ListedCalibration> listed;
  for (const auto& name : list_names(DataKind::calibration, context.data)) {
    auto& one = listed.emplace_back(report::ListedCalibration{name, {}});
    try {
      one.calibration = load_calibration(name, context.data);
    } catch (const ConfigError&) {  // its name is listed nevertheless
    }
  }
  if (json) return report::write_calibrations_json(context.results, listed);
  if (listed.empty()) context.messages << "there are no calibrations in the data folders\n";
  report::write_calibrations(context.results, listed, context.style);
}

/// Data that is listed as a table or as JSON.
struct Listing {
  std::string_view name;
  void (*list)(bool json, const CommandContext&);
};
constexpr std::array listings{Listing{"platforms", list_platforms}, Listing{"gpus", list_gpus},
                              Listing{"calibrations", list_calibrations}, Listing{"keys", list_keys}};

void list_sentences(const ListedKind& kind, const CommandContext& context) {
  const auto names = list_names(kind.kind, context.data);
  std::size_t width = 0;
  for (const auto& name : names) width = std::max(width, report::columns_of(name));
  for (const auto& name : names) {
    const std::string padding(width + 2 - report::columns_of(name), ' ');
    const auto room = context.style.width > width + 22 ? context.style.width - width - 2 : 20;
    const auto text = report::shorten(description(kind, name, context.data), room);
    context.results << name << (text.empty() ? "" : padding + text) << '\n';
  }
  if (names.empty()) context.messages << fmt::format("there are no {} in the data folders\n", kind.name);
}

Status list(const std::string& what, bool json, const CommandContext& context) {
  if (const auto listing = std::ranges::find(listings, what, &Listing::name); listing != listings.end()) {
    listing->list(json, context);
    return Status::done;
  }
  const auto kind = std::ranges::find(described_kinds, what, &ListedKind::name);
  if (kind == described_kinds.end())
    refuse(fmt::format("there is no list of '{}'", what), suggestion(what, listed_kinds()));
  if (json)
    refuse(fmt::format("'gradway list {}' does not have '--json'", what),
           "only platforms, gpus, calibrations and keys can be listed as JSON");
  list_sentences(*kind, context);
  return Status::done;
}

}  // namespace

std::vector<std::string> listed_kinds() {
  std::vector<std::string> names;
  for (const auto& listing : listings) names.emplace_back(listing.name);
  for (const auto& kind : described_kinds) names.emplace_back(kind.name);
  return names;
}

Action add_list(CLI::App& app) {
  const auto what = std::make_shared<std::string>();
  app.add_option("KIND", *what,
                 "platforms, gpus, models, scenarios, calibrations, prices, storage, datasets, or keys (of "
                 "scenarios)")
      ->required();
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document; for platforms, gpus, calibrations and keys only");
  return [what, json](const CommandContext& context) { return list(*what, *json, context); };
}

}  // namespace gradway::cli
