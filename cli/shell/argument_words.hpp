// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/shell/command_context.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/problem.hpp"

namespace CLI {
class App;
}

namespace gradway::cli {

// The words that an argument can be, each from the table that its command reads.

std::vector<std::string> listed_kinds();                      ///< of `list`
std::vector<std::string> schema_kinds();                      ///< of `schema`
std::vector<std::string> shown_kinds();                       ///< of `show`
std::optional<DataKind> data_shown(const std::string& kind);  ///< whose names `show` takes with this kind
std::vector<std::string> import_formats();                    ///< of `import`
std::vector<std::string> export_formats();                    ///< of `export`
std::vector<std::string> calibrate_actions();                 ///< of `calibrate`
std::vector<std::string> help_topics();             ///< of `help`: topics, commands, then codes of warnings
std::vector<std::string> shells();                  ///< of `completion`
std::vector<std::string> engine_names();            ///< of `--engine`
std::vector<std::string> strategies_of_training();  ///< of `init --strategy`
std::vector<std::string> all_payment_terms();       ///< of `--terms`

/// The names of the rows of a table.
template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

/// The row of a table with this name. @throws ConfigError with the problem, and with near names, for none
template <class Rows>
const auto& row_named(const Rows& rows, const std::string& name, std::string problem) {
  for (const auto& row : rows)
    if (row.name == name) return row;
  refuse(std::move(problem), suggestion(name, names_of(rows)));
}

/// `suggestion` of one of these words, which also knows synonyms, such as 'run' for "simulate".
std::string suggestion_with_synonyms(const std::string& word, const std::vector<std::string>& known);

/// Writes the completions of the last of the words that follow "gradway" on a command line, one per line.
/// Options and commands are followed by a tab and their help. Names are those of the data folders. Writes
/// nothing where any text or file can follow.
void write_completions(const CLI::App& program, std::span<const std::string> words,
                       const CommandContext& context);

}  // namespace gradway::cli
