// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {

Action add_schema(CLI::App&) {
  return [](const Surroundings& around) {
    report::write_scenario_schema(around.results);
    return Status::done;
  };
}

}  // namespace gradway::cli
