// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/problem.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {

Action add_schema(CLI::App& app) {
  const auto kind = std::make_shared<std::string>("scenario");
  app.add_option("KIND", *kind,
                 "kind: scenario (default), another kind of file (gpu, platform, model, storage, dataset, "
                 "prices, calibration), or metrics, the figures of a report");
  return [kind](const CommandContext& context) {
    const auto files = config::file_kinds();
    const auto file = std::ranges::find(files, *kind, &config::FileKind::name);
    if (file != files.end()) {
      report::write_file_schema(context.results, *file);
    } else if (*kind == "metrics") {
      report::write(context.results, report::figures_schema());
    } else if (*kind == "scenario") {
      report::write_scenario_schema(context.results);
    } else {
      refuse(fmt::format("there is no schema of '{}'", *kind), suggestion(*kind, schema_kinds()));
    }
    return Status::done;
  };
}

std::vector<std::string> schema_kinds() {
  std::vector<std::string> kinds{"scenario", "metrics"};
  for (const auto& kind : config::file_kinds()) kinds.emplace_back(kind.name);
  return kinds;
}

}  // namespace gradway::cli
