// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/engine_choice.hpp"

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

}  // namespace gradway::cli
