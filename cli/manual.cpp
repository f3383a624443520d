// SPDX-License-Identifier: Apache-2.0
// The manual page, in the macros of man(7), from the tables that the help and the parser read.
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/help.hpp"
#include "cli/shell/topics.hpp"

namespace gradway::cli {
namespace {

/// Text with roff's special characters escaped.
std::string plain(std::string_view text) {
  std::string result;
  bool begins = true;
  for (const auto c : text) {
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '`') {
      result += "\\(ga";
    } else if (c == '^') {
      result += "\\(ha";
    } else if (c == '~') {
      result += "\\(ti";
    } else {
      result += c;
    }
    begins = c == '\n';
  }
  return result;
}

/// Lines that are not filled.
std::string example(std::string_view lines) {
  return fmt::format(".PP\n.nf\n.RS 4\n{}\n.RE\n.fi\n", plain(lines));
}

/// A sentence with a capital first letter and a full stop.
std::string sentence(std::string_view text) {
  auto result = plain(text) + ".\n";
  if (result.front() >= 'a' && result.front() <= 'z')
    result.front() = static_cast<char>(result.front() - 'a' + 'A');
  return result;
}

void write_command(std::ostream& out, const CLI::App& app, const Command& command) {
  out << fmt::format(".SS gradway {}\n", plain(command.name)) << sentence(command.help)
      << fmt::format(".PP\n.B {}\n", plain(usage_line(app, command)));
  for (const auto* option : app.get_options()) {
    if (option == app.get_help_ptr()) continue;
    auto description = plain(option->get_description());
    for (std::size_t line_end = 0; (line_end = description.find('\n', line_end)) != std::string::npos;
         line_end += 5)
      description.insert(line_end + 1, ".br\n");
    out << fmt::format(".TP\n.B {}\n{}\n", plain(argument_name(*option)), description);
  }
  if (!command.notes.empty()) out << ".PP\nFigures:\n" << example(command.notes);
  out << ".PP\nExamples:\n" << example(command.examples);
}

void write_topic(std::ostream& out, const Topic& topic) {
  std::ostringstream text;
  topic.write(text, report::Style{});
  auto lines = text.str();
  while (lines.ends_with('\n')) lines.pop_back();
  out << fmt::format(".SS {}\n", plain(topic.name)) << sentence(topic.help) << example(lines);
}

void write_manual(std::ostream& out, const CLI::App& program) {
  out << fmt::format(
      ".TH GRADWAY 1 \"\" \"gradway {}\" \"User Commands\"\n"
      ".SH NAME\n"
      "gradway \\- predict how long a distributed training step takes\n"
      ".SH SYNOPSIS\n"
      ".B gradway\n"
      ".I COMMAND\n"
      "[\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\n"
      "gradway predicts how long a distributed training step takes on hardware that you do not have yet,\n"
      "where the time goes, and what it costs. It simulates the kernels of the step, and its data on PCIe,\n"
      "NVLink, InfiniBand and Ethernet, as discrete events.\n"
      ".SH COMMANDS\n",
      GRADWAY_VERSION);
  for (const auto& command : commands())
    write_command(out, *program.get_subcommand(std::string{command.name}), command);
  out << ".SH TOPICS\nThe topics of\n.BR \"gradway help\" .\n";
  for (const auto& topic : topics()) write_topic(out, topic);
  out << ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : exit_statuses())
    out << fmt::format(".TP\n.B {}\n{}\n", static_cast<int>(status), sentence(meaning));
  out << ".SH ENVIRONMENT\n"
         ".TP\n.B GRADWAY_PATH\n"
         "Folders with your own data, separated by \\(aq:\\(aq, each with\n"
         ".IR models/ ,\n.IR platforms/ ,\n.I calibration/results/\nor\n.IR scenarios/ .\n"
         "Names are looked up in the scenario\\(aqs folder, in the working folder, there, and in\n"
         "gradway\\(aqs own data.\n"
         ".TP\n.B NO_COLOR\nIf it is set, the output has no colours.\n"
         ".SH FILES\n"
         ".TP\n.I ../share/gradway\n"
         "Gradway\\(aqs own data, relative to the folder of the program.\n"
         ".SH SEE ALSO\n"
         ".BR nvidia\\-smi (1)\n";
}

}  // namespace

Action add_manual(CLI::App& app) {
  return [&app](const CommandContext& context) {
    write_manual(context.results, *app.get_parent());
    return Status::done;
  };
}

}  // namespace gradway::cli
