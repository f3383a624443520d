// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shell/common_options.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/shell/argument_words.hpp"
#include "sim/engine/engine.hpp"

namespace gradway::cli {
namespace {

/// An option, and the key that it changes.
struct ShortHand {
  std::string_view option;
  std::string_view key;
  std::string_view type;
  std::string ShortHands::*value;
};
constexpr std::array short_hands{ShortHand{"--model", "model", "NAME", &ShortHands::model},
                                 ShortHand{"--platform", "platform", "NAME", &ShortHands::platform},
                                 ShortHand{"--gpus", "job.gpus", "N", &ShortHands::gpus}};

}  // namespace

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"auto"};
  for (const auto& entry : engines()) names.emplace_back(entry.name);
  return names;
}

void add_short_hands(CLI::App& app, ShortHands& given) {
  for (const auto& one : short_hands) {
    app.add_option(std::string{one.option}, given.*one.value,
                   fmt::format("short for --set {}={}", one.key, one.type))
        ->type_name(std::string{one.type});
  }
}

std::vector<Override> overrides_of(const std::vector<std::string>& set, const ShortHands& given) {
  auto overrides = parse_overrides(set);
  for (const auto& one : short_hands) {
    const std::string key{one.key};
    const auto& value = given.*one.value;
    if (value.empty()) continue;
    if (std::ranges::find(overrides, key, &Override::key) != overrides.end())
      refuse(fmt::format("'{}' is given by '--set' and by '{}'", key, one.option), "leave one of them out");
    overrides.push_back(given_by(one.option, key, value));
  }
  return overrides;
}

void add_engine(CLI::App& app, std::string& name) {
  app.add_option(
         "--engine", name,
         fmt::format("{}; auto is the fastest; {} if not given", fmt::join(engine_names(), ", "), name))
      ->type_name("NAME");
}

void check_engine(const std::string& name) {
  const auto names = engine_names();
  if (std::ranges::find(names, name) != names.end()) return;
  refuse(fmt::format("there is no engine '{}'", name), suggestion(name, names));
}

void check_known(const std::string& option, const std::string& name, std::string_view noun,
                 const std::vector<std::string>& known) {
  if (!name.empty() && std::ranges::find(known, name) == known.end())
    refuse(fmt::format("'{} {}': there is no {} of this name", option, name, noun), suggestion(name, known));
}

void add_price_choice(CLI::App& app, PriceChoice& choice) {
  app.add_option("--prices", choice.file, "prices instead of the platforms' own; a name of 'list prices' too")
      ->type_name("FILE");
  app.add_option("--price-date", choice.date, "the day whose prices count; the newest if not given")
      ->type_name("DATE");
  app.add_option("--region", choice.region, "whose prices count; a platform's first if not given")
      ->type_name("NAME");
}

}  // namespace gradway::cli
