// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/base/problem.hpp"
#include "sim/cli/commands.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {

Action add_schema(CLI::App& app) {
  const auto kind = std::make_shared<std::string>("scenario");
  app.add_option("KIND", *kind, "kind: scenario (default) or metrics, the figures of a report");
  return [kind](const CommandContext& context) {
    if (*kind == "metrics")
      report::write(context.results, report::figures_schema());
    else if (*kind == "scenario")
      report::write_scenario_schema(context.results);
    else
      refuse(fmt::format("there is no schema of '{}'", *kind), suggestion(*kind, {"scenario", "metrics"}));
    return Status::done;
  };
}

}  // namespace gradway::cli
