// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "cli/shell/failure.hpp"
#include "sim/base/problem.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

/// Does what the arguments ask for.
using Action = std::function<Status(const CommandContext&)>;

/// A row of the table of commands: help, suggestions and the parser all read it.
struct Command {
  std::string_view name;
  std::string_view help;      ///< one line
  std::string_view examples;  ///< one per line
  Action (*add)(CLI::App&);   ///< adds the arguments, which have their values when the action runs
  std::string_view notes{};   ///< what its figures mean, or which command to choose, in lines
  bool is_shown = true;       ///< its first example is in the help of the program
};

std::span<const Command> commands();

// One function per command, each in the file of its name.
Action add_init(CLI::App& app);
Action add_capture(CLI::App& app);
Action add_run(CLI::App& app);
Action add_ui(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_sweep(CLI::App& app);
Action add_compare(CLI::App& app);
Action add_campaign(CLI::App& app);
Action add_optimize(CLI::App& app);
Action add_plan(CLI::App& app);
Action add_validate(CLI::App& app);
Action add_diagnose(CLI::App& app);
Action add_watch(CLI::App& app);
Action add_calibrate(CLI::App& app);
Action add_import(CLI::App& app);
Action add_export(CLI::App& app);
Action add_show(CLI::App& app);
Action add_list(CLI::App& app);
Action add_schema(CLI::App& app);
Action add_help(CLI::App& app);
Action add_manual(CLI::App& app);
Action add_completion(CLI::App& app);

/// Adds the argument SCENARIO, which is required.
void add_scenario(CLI::App& app, std::string& scenario);

/// Adds `--set KEY=VALUE`, which can be repeated.
void add_overrides(CLI::App& app, std::vector<std::string>& texts);

/// Parses texts such as "job.gpus=4".
/// @throws ConfigError for each text without a key or '=', and for each key that is given twice
std::vector<Override> parse_overrides(const std::vector<std::string>& texts);

/// An override whose messages name the option that it comes from.
Override given_by(std::string_view option, const std::string& key, const std::string& value);

}  // namespace gradway::cli
