// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/help.hpp"

#include <array>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/shell/topics.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::cli {
namespace {

constexpr std::size_t width = 100;
constexpr std::size_t column = 24;  // in which descriptions begin

/// An argument and its description, wrapped and indented.
std::string argument_rows(const CLI::Option& option) {
  const auto& letters = option.get_snames();
  const auto name = fmt::format("  {}{}", letters.empty() ? "" : fmt::format("-{}, ", letters.front()),
                                argument_name(option));
  auto rows = name;
  if (name.size() + 2 > column) rows += '\n';
  std::istringstream lines{option.get_description()};
  for (std::string line; std::getline(lines, line);) {
    for (const auto& wrapped : report::wrap(line, width - column)) {
      const auto used = rows.size() - (rows.rfind('\n') + 1);  // npos + 1 is 0
      rows += std::string(column - used, ' ') + wrapped + '\n';
    }
  }
  return rows;
}

/// The usage line, wrapped between arguments.
std::string wrapped_usage(const CLI::App& app, const Command& command) {
  constexpr std::size_t indent = 7;  // of "usage: "
  std::string text;
  std::size_t columns = indent;
  std::istringstream words{usage_line(app, command)};
  for (std::string word, next_word; words >> word;) {
    while (word.front() == '[' && word.back() != ']' && words >> next_word) word += ' ' + next_word;
    if (columns + 1 + word.size() > width) {
      text += '\n' + std::string(indent, ' ') + word;
      columns = indent + word.size();
    } else {
      text += (text.empty() ? "" : " ") + word;
      columns += 1 + word.size();
    }
  }
  return text;
}

std::string indented(std::string_view lines) {
  std::string text = "  ";
  for (const auto c : lines) text += c == '\n' ? std::string{"\n  "} : std::string{c};
  return text + "\n";
}

}  // namespace

std::span<const ExitStatus> exit_statuses() {
  static constexpr std::array statuses{ExitStatus{Status::done, "done"},
                                       ExitStatus{Status::bug, "a bug in gradway"},
                                       ExitStatus{Status::wrong_input, "wrong input"},
                                       ExitStatus{Status::unfinished, "the simulation could not finish"},
                                       ExitStatus{Status::limit_passed, "a limit that was given is passed"}};
  return statuses;
}

std::string program_help() {
  std::string rows;
  std::string examples;
  std::string explained;
  for (const auto& topic : topics()) explained += fmt::format("  {:<14}{}\n", topic.name, topic.help);
  std::string statuses = "exit status: ";
  for (const auto& [status, meaning] : exit_statuses())
    statuses += fmt::format("{}{} {}", status == Status::done ? "" : ", ", static_cast<int>(status), meaning);
  for (const auto& command : commands()) {
    rows += fmt::format("  {:<12}{}\n", command.name, command.help);
    if (command.is_shown) examples += indented(command.examples.substr(0, command.examples.find('\n')));
  }
  return fmt::format(
      "gradway predicts how long a distributed training step takes, where the time goes\n"
      "and what it costs.\n\n"
      "usage: gradway COMMAND [OPTIONS]\n\n"
      "commands:\n{}\n"
      "options:\n"
      "  --help     print this help, or that of a command\n"
      "  --version  print the version\n\n"
      "examples:\n{}\n"
      "topics of 'gradway help':\n{}\n"
      "{}\n",
      rows, examples, explained, fmt::join(report::wrap(statuses, report::Style{}.width), "\n"));
}

std::string command_help(const CLI::App& app, const Command& command) {
  std::string rows;
  for (const auto* option : app.get_options()) rows += argument_rows(*option);
  const auto notes = command.notes.empty() ? "" : fmt::format("figures:\n{}\n", indented(command.notes));
  return fmt::format("usage: {}\n\n{}\n\narguments:\n{}\n{}examples:\n{}", wrapped_usage(app, command),
                     command.help, rows, notes, indented(command.examples));
}

std::string usage_line(const CLI::App& app, const Command& command) {
  auto usage = fmt::format("gradway {}", command.name);
  for (const auto* option : app.get_options()) {
    if (option == app.get_help_ptr()) continue;
    const auto name = argument_name(*option);
    usage += option->get_required() ? " " + name : fmt::format(" [{}]", name);
  }
  return usage;
}

std::string argument_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const bool is_flag = option.get_items_expected_max() == 0;
  const auto type = option.get_type_name();  // with the range of the value after a colon
  return is_flag ? option.get_name()
                 : fmt::format("{} {}", option.get_name(), type.substr(0, type.find(':')));
}

std::string summary_of(const CLI::Option& option) {
  const auto& description = option.get_description();
  return description.substr(0, description.find('\n'));
}

}  // namespace gradway::cli
