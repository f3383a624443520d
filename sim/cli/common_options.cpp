// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/common_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/commands.hpp"
#include "sim/engine/engine.hpp"

namespace gradway::cli {
namespace {

std::vector<std::string> engine_names() {
  std::vector<std::string> names{"auto"};
  for (const auto& entry : engines()) names.emplace_back(entry.name);
  return names;
}

}  // namespace

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

void add_price_choice(CLI::App& app, PriceChoice& choice) {
  app.add_option("--prices", choice.file, "prices instead of the platforms' own; a name of 'list prices' too")
      ->type_name("FILE");
  app.add_option("--price-date", choice.date, "the day whose prices count; the newest if not given")
      ->type_name("DATE");
  app.add_option("--region", choice.region, "whose prices count; a platform's first if not given")
      ->type_name("NAME");
}

}  // namespace gradway::cli
