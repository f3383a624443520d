// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <tuple>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/points/platforms.hpp"
#include "cli/shell/argument_words.hpp"
#include "cli/shell/common_options.hpp"
#include "sim/base/nearest.hpp"
#include "sim/config/price_list.hpp"
#include "sim/config/yaml/scalars.hpp"
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

void list_platforms(bool json, const CommandContext& context) {
  auto listed = one_node_of_each(list_names(DataKind::platform, context.data), context.data);
  if (json) return report::write_platforms_json(context.results, std::move(listed));
  if (listed.empty()) context.messages << "there are no platforms in the data folders\n";
  report::write_platforms(context.results, std::move(listed), context.style);
}

void list_keys(bool json, const CommandContext& context) {
  const auto& keys = config::described_keys();
  if (json) return report::write_keys_json(context.results, keys);
  report::write_keys(context.results, keys, context.style);
}

/// Rows of a kind of data. @param load reads the data of a name into its row; wrong data is left out
template <class Row, class Load>
std::vector<Row> rows_of(DataKind kind, const CommandContext& context, const Load& load) {
  std::vector<Row> rows;
  for (const auto& name : list_names(kind, context.data)) {
    auto& row = rows.emplace_back();
    row.name = name;
    try {
      load(row);
    } catch (const ConfigError&) {  // its name is listed nevertheless
    }
  }
  return rows;
}

void list_gpus(bool json, const CommandContext& context) {
  const auto listed = rows_of<report::ListedGpu>(DataKind::gpu, context, [&](report::ListedGpu& row) {
    row.gpu = load_gpu(row.name, "", context.data);
    row.gpu_of_kernel_times = gpu_of_kernel_times(row.name, context.data);
  });
  if (json) return report::write_gpus_json(context.results, listed);
  if (listed.empty()) context.messages << "there are no gpus in the data folders\n";
  report::write_gpus(context.results, listed, context.style);
}

void list_calibrations(bool json, const CommandContext& context) {
  const auto listed = rows_of<report::ListedCalibration>(DataKind::calibration, context, [&](auto& row) {
    row.calibration = load_calibration(row.name, context.data);
  });
  if (json) return report::write_calibrations_json(context.results, listed);
  if (listed.empty()) context.messages << "there are no calibrations in the data folders\n";
  report::write_calibrations(context.results, listed, context.style);
}

struct ListArguments {
  std::string asked;
  bool json = false;
  std::string older_than{};  ///< of prices: "90d"
  std::string today{};       ///< date for the age of prices
  std::string gpu{};         ///< models of GPUs of the platforms that are priced; empty: any
};

/// Days of `--older-than`: "90d", "90 days" or "90".
std::optional<int> days_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  constexpr int most = 36500;
  auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  auto unit = text.substr(digits.size());
  if (unit.starts_with(' ')) unit.erase(0, 1);
  const bool has_form =
      !digits.empty() && digits.size() <= 6 && (unit.empty() || unit == "d" || unit == "days");
  if (!has_form || std::stoi(digits) > most)
    refuse(fmt::format("'--older-than {}' is not a number of days", text), "write it as 90d");
  return std::stoi(digits);
}

/// The date of `--today`, else the machine's in UTC; the only place where an answer depends on the clock.
std::string date_of(const std::string& today) {
  if (const auto date = value_of("--today", today, config::date)) return *date;
  const std::chrono::year_month_day day{
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

/// The newest price of each platform in each region on each of the terms: of the platforms' files, then of
/// the files of prices.
std::vector<report::ListedPrice> newest_prices(const CommandContext& context) {
  std::map<std::tuple<std::string, std::string, std::string, Terms>, report::ListedPrice> newest;
  std::map<std::string, int> gpus;
  const auto add = [&](const std::string& platform, const std::string& list, const Price& price) {
    report::ListedPrice row{platform, list, std::max(1, gpus[platform]), price};
    const auto [place, is_new] = newest.try_emplace({platform, list, price.region, price.terms}, row);
    if (!is_new && price.date > place->second.price.date) place->second = row;
  };
  for (const auto& [name, platform] :
       one_node_of_each(list_names(DataKind::platform, context.data), context.data)) {
    if (!platform) continue;
    gpus[name] = static_cast<int>(platform->gpus.size()) / std::max(1, platform->nodes);
    for (const auto& price : platform->prices) add(name, "", price);
  }
  for (const auto& list : list_names(DataKind::prices, context.data)) {
    try {
      for (const auto& [platform, prices] : load_price_list(list, context.data))
        for (const auto& price : prices) add(platform, list, of_node(price, std::max(1, gpus[platform])));
    } catch (const ConfigError& error) {
      warn(context, fmt::format("the file of prices '{}' is invalid: {}", list, error.what()));
    }
  }
  std::vector<report::ListedPrice> listed;
  for (auto& [key, price] : newest) listed.push_back(std::move(price));
  return listed;
}

/// Warns of prices that are much older than the newest one. Those that gradway has are not compared with each
/// other: their dates are listed. No clock counts, so that the list is the same each day.
void warn_of_stale_prices(const std::vector<report::ListedPrice>& listed, const CommandContext& context) {
  if (listed.empty()) return;
  const auto place = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  const auto installed = place(context.data.roots.back());
  const auto is_own = [&](const report::ListedPrice& row) {
    const auto file = row.list.empty() ? find_name(DataKind::platform, row.platform, context.data, {}, "")
                                       : find_name(DataKind::prices, row.list, context.data, {}, "");
    return !place(file).starts_with(installed);
  };
  std::string newest;
  std::string newest_own;
  for (const auto& row : listed) {
    newest = std::max(newest, row.price.date);
    if (is_own(row)) newest_own = std::max(newest_own, row.price.date);
  }
  const auto stale = std::ranges::count_if(listed, [&](const auto& row) {
    const auto& reference = is_own(row) ? newest : newest_own;
    return !reference.empty() && days_between(row.price.date, reference) > stale_days;
  });
  if (stale > 0)
    warn(context,
         fmt::format("{} of {} prices are more than {} days older than the newest one, of {}: do not compare "
                     "them with it; '--older-than {}d --today {}' lists them",
                     stale, listed.size(), stale_days, newest, stale_days, newest));
}

/// Leaves prices of platforms with some GPUs, the cheapest GPU first. @throws ConfigError for unknown GPUs
void select_gpu(std::vector<report::ListedPrice>& listed, const std::string& gpu, const DataPath& data) {
  const auto platforms = platforms_of("", data, gpu);
  std::erase_if(
      listed, [&](const auto& row) { return std::ranges::find(platforms, row.platform) == platforms.end(); });
  std::ranges::stable_sort(listed, {}, [](const auto& row) { return row.price.per_node.value() / row.gpus; });
}

void list_prices(const ListArguments& arguments, const CommandContext& context) {
  const auto most_days = days_of(arguments.older_than);
  auto listed = newest_prices(context);
  if (!arguments.gpu.empty()) select_gpu(listed, arguments.gpu, context.data);
  if (!most_days && arguments.today.empty()) warn_of_stale_prices(listed, context);
  if (most_days || !arguments.today.empty()) {
    const auto today = date_of(arguments.today);
    for (auto& row : listed) {
      const auto& [price, foreign] = std::tie(row.price, row.price.foreign);
      row.age = days_between(foreign ? std::min(price.date, foreign->rate.date) : price.date, today);
    }
    const auto total = listed.size();
    if (most_days) {
      std::erase_if(listed, [&](const auto& row) { return *row.age <= *most_days; });
      if (listed.empty()) {
        context.messages << fmt::format("no price is older than {} days on {}\n", *most_days, today);
      } else {
        warn(context,
             fmt::format("{} of {} prices are older than {} days on {}: ask for current ones, and put "
                         "them into a file for --prices",
                         listed.size(), total, *most_days, today));
      }
    }
  }
  if (arguments.json) return report::write_prices_json(context.results, listed);
  if (!listed.empty()) report::write_prices(context.results, listed, context.style);
}

/// Data that is listed as a table or as JSON.
struct Listing {
  std::string_view name;
  void (*list)(bool json, const CommandContext&);
};
constexpr std::array listings{Listing{"platforms", list_platforms}, Listing{"gpus", list_gpus},
                              Listing{"calibrations", list_calibrations}, Listing{"keys", list_keys}};

void list_sentences(const ListedKind& kind, bool json, const CommandContext& context) {
  const auto names = list_names(kind.kind, context.data);
  if (json) {
    std::vector<report::ListedSentence> listed;
    const auto data = with_file_cache(context.data);
    for (const auto& name : names) listed.push_back({name, description(kind, name, data)});
    return report::write_sentences_json(context.results, kind.name, listed);
  }
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

Status list(const ListArguments& arguments, const CommandContext& context) {
  const auto& [asked, json, older_than, today, gpu] = arguments;
  if (asked == "prices") {
    list_prices(arguments, context);
    return Status::done;
  }
  for (const auto& [option, value] :
       {std::pair{"--older-than", older_than}, std::pair{"--today", today}, std::pair{"--gpu", gpu}})
    if (!value.empty())
      refuse(fmt::format("'gradway list {}' does not have '{}'", asked, option), "it is an option of prices");
  if (const auto listing = std::ranges::find(listings, asked, &Listing::name); listing != listings.end()) {
    listing->list(json, context);
    return Status::done;
  }
  const auto kind = std::ranges::find(described_kinds, asked, &ListedKind::name);
  if (kind == described_kinds.end())
    refuse(fmt::format("there is no list of '{}'", asked), suggestion_with_synonyms(asked, listed_kinds()));
  list_sentences(*kind, json, context);
  return Status::done;
}

}  // namespace

std::vector<std::string> listed_kinds() {
  std::vector<std::string> names;
  for (const auto& listing : listings) names.emplace_back(listing.name);
  for (const auto& kind : described_kinds) names.emplace_back(kind.name);
  names.emplace_back("prices");
  return names;
}

Action add_list(CLI::App& app) {
  const auto arguments = std::make_shared<ListArguments>();
  app.add_option("KIND", arguments->asked,
                 "platforms, gpus, models, scenarios, calibrations, prices, storage, datasets, or keys (of "
                 "scenarios)")
      ->required();
  app.add_flag("--json", arguments->json, "print one JSON document");
  app.add_option("--older-than", arguments->older_than, "prices: only those older than this, such as 90d")
      ->type_name("DAYS");
  app.add_option("--gpu", arguments->gpu,
                 "prices: only of these GPUs, such as h100 or h200,b200, cheapest first")
      ->type_name("NAME,...");
  app.add_option("--today", arguments->today, "prices: date for their age (default: the machine's)")
      ->type_name("DATE");
  return [arguments](const CommandContext& context) { return list(*arguments, context); };
}

}  // namespace gradway::cli
