// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "cli/shell/help.hpp"
#include "cli/shell/topics.hpp"
#include "sim/base/nearest.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::cli {
namespace {

std::vector<std::string> topics_and_commands() {
  std::vector<std::string> names;
  for (const auto& topic : topics()) names.emplace_back(topic.name);
  for (const auto& command : commands()) {  // "sweep" is both
    if (std::ranges::find(names, command.name) == names.end()) names.emplace_back(command.name);
  }
  return names;
}

/// Near names, else all topics and commands: the codes of warnings are too many to list.
std::string topic_hint(const std::string& asked) {
  const auto names = help_topics();
  return suggestion_with_synonyms(asked, near_names(asked, names).empty() ? topics_and_commands() : names);
}

Status help(const std::string& asked, const CLI::App& program, const CommandContext& context) {
  const auto known_topics = topics();
  if (const auto topic = std::ranges::find(known_topics, asked, &Topic::name); topic != known_topics.end()) {
    topic->write(context.results, context.style);
    return Status::done;
  }
  if (const auto row = std::ranges::find(warning_table::rows, asked, &WarningRow::code);
      row != warning_table::rows.end()) {
    write_warning(context.results, *row, context.style);
    return Status::done;
  }
  if (const auto rows = typed_words("term", asked); !rows.empty()) {
    for (const auto& line : report::wrap(rows.front().value("meaning"), context.style.width))
      context.results << line << '\n';
    return Status::done;
  }
  const auto known = commands();
  const auto command = std::ranges::find(known, asked, &Command::name);
  if (command == known.end())
    refuse(fmt::format("there is no topic or command '{}'", asked), topic_hint(asked));
  context.results << command_help(*program.get_subcommand(asked), *command);
  return Status::done;
}

}  // namespace

std::vector<std::string> help_topics() {
  auto names = topics_and_commands();
  for (const auto& warning : warning_table::rows) names.emplace_back(warning.code);
  for (const auto& row : typed_words("term")) names.emplace_back(row.word(0));
  return names;
}

Action add_help(CLI::App& app) {
  const auto topic = std::make_shared<std::string>();
  // Required, because the parser would otherwise run a command of this name.
  app.add_option("TOPIC", *topic,
                 "topic, command, or code of a warning; 'gradway help' lists topics and commands")
      ->required();
  return [topic, &app](const CommandContext& context) { return help(*topic, *app.get_parent(), context); };
}

}  // namespace gradway::cli
