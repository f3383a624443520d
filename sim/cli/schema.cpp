// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {

Action add_schema(CLI::App&) {
  return [](const CommandContext& context) {
    report::write_scenario_schema(context.results);
    return Status::done;
  };
}

}  // namespace gradway::cli
