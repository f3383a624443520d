// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/help.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace gradway::cli {
namespace {

std::string indented(std::string_view lines) {
  std::string text = "  ";
  for (const auto c : lines) text += c == '\n' ? std::string{"\n  "} : std::string{c};
  return text + "\n";
}

}  // namespace

std::string program_help() {
  std::string rows;
  std::string examples;
  for (const auto& command : commands()) {
    rows += fmt::format("  {:<10}{}\n", command.name, command.help);
    examples += indented(command.examples.substr(0, command.examples.find('\n')));
  }
  return fmt::format(
      "gradway predicts how long a distributed training step takes, where the time goes\n"
      "and what it costs.\n\n"
      "usage: gradway COMMAND [OPTIONS]\n\n"
      "commands:\n{}\n"
      "options:\n"
      "  --help     this text, or that of a command\n"
      "  --version  the version\n\n"
      "examples:\n{}\n"
      "exit status: 0 done, 1 a bug in gradway, 2 the input is wrong, 3 the simulation\n"
      "could not finish, 4 a limit of a validation was passed\n",
      rows, examples);
}

std::string command_help(const CLI::App& app, const Command& command) {
  auto usage = fmt::format("usage: gradway {}", command.name);
  std::string rows;
  for (const auto* option : app.get_options()) {
    const auto name = argument_name(*option);
    rows += fmt::format("  {:<20}  {}\n", name, option->get_description());
    if (option != app.get_help_ptr())
      usage += option->get_required() ? " " + name : fmt::format(" [{}]", name);
  }
  const auto notes = command.notes.empty() ? "" : fmt::format("figures:\n{}\n", indented(command.notes));
  return fmt::format("{}\n\n{}\n\narguments:\n{}\n{}examples:\n{}", usage, command.help, rows, notes,
                     indented(command.examples));
}

std::string argument_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const bool is_flag = option.get_items_expected_max() == 0;
  return is_flag ? option.get_name() : fmt::format("{} {}", option.get_name(), option.get_type_name());
}

}  // namespace gradway::cli
