// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/usage.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/shell/argument_words.hpp"
#include "cli/shell/help.hpp"
#include "cli/shell/program_digest.hpp"
#include "cli/shell/topics.hpp"
#include "sim/base/nearest.hpp"

namespace gradway::cli {
namespace {

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& command : commands()) names.emplace_back(command.name);
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// "gradway" or "gradway run".
std::string typed_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? "gradway" : fmt::format("gradway {}", app.get_name());
}

std::string see_help(const CLI::App& app) {
  return fmt::format("see '{} --help'", typed_name(app));
}

/// Hint for an option that the command does not have.
std::string hint_for_option(const CLI::App& app, std::string_view name) {
  const auto names = option_names(app);
  const auto rows = typed_words("option", name);
  const bool sets = std::ranges::find(names, "--set") != names.end();
  if (rows.empty() || !sets) return suggestion(name, names);
  const auto key = rows.front().word(1);
  const auto short_hand = fmt::format("--{}", key.substr(key.find('.') + 1));
  const bool is_short = std::ranges::find(names, short_hand) != names.end();
  return fmt::format("write '{}'{}", is_short ? short_hand + " N" : fmt::format("--set {}=VALUE", key),
                     rows.front().value("remark"));
}

/// Hint for a word that no argument takes: a name without its option, or values after a space.
std::string hint_for_word(const CLI::App& app, const std::string& word) {
  const auto names = option_names(app);
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const auto is_first = [](const CLI::Option* option) { return option->get_positional(); };
  const bool is_value =
      word.find(',') != std::string::npos || std::isdigit(static_cast<unsigned char>(word.front())) != 0;
  if (has("--vary") && is_value)
    return fmt::format("write 'KEY=V1,V2,...' after --vary, with '=' ({})", see_help(app));
  if (has("--model") && std::ranges::none_of(app.get_options(), is_first))
    return fmt::format("write '--model {}' ({})", word, see_help(app));
  return see_help(app);
}

/// Reports arguments that the command does not have. The arguments of another program may follow those of a
/// prefix command.
void check_words(const CLI::App& app) {
  for (const auto& word : app.remaining(false)) {
    if (word == "--") continue;
    if (app.get_prefix_command() && !word.starts_with('-')) return;
    if (word.starts_with('-')) {
      const auto name = word.substr(0, word.find('='));
      refuse(fmt::format("'{}' has no option '{}'", typed_name(app), name),
             fmt::format("{} ({})", hint_for_option(app, name), see_help(app)));
    }
    if (app.get_parent() == nullptr) {
      refuse(fmt::format("'gradway' has no command '{}'", word),
             fmt::format("{} ({})", suggestion_with_synonyms(word, command_names()), see_help(app)));
    }
    refuse(fmt::format("unexpected argument '{}' of '{}'", word, typed_name(app)), hint_for_word(app, word));
  }
}

/// Refuses empty values. An empty variable of a script must not have the effect of a missing option.
void check_values(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const auto values = option->results();
    if (std::ranges::find(values, "") != values.end())
      refuse(fmt::format("'--{}' has an empty value", option->get_lnames().front()),
             fmt::format("{} ({})", summary_of(*option), see_help(app)));
  }
}

void check_required(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    if (option->get_required() && option->count() == 0) {
      refuse(fmt::format("'{}' needs {}", typed_name(app), argument_name(*option)),
             fmt::format("{} ({})", summary_of(*option), see_help(app)));
    }
  }
}

/// Part of CLI11's message on too many or too few values, and our text for it.
struct Mismatch {
  std::string_view theirs;
  std::string_view ours;
};
constexpr std::array mismatches{Mismatch{"flag override", "takes no value"},
                                Mismatch{"missing", "needs a value"},
                                Mismatch{"received", "can be given only once"}};

[[noreturn]] void refuse_mismatch(const CLI::App& app, const std::string& text) {
  for (const auto& [theirs, ours] : mismatches) {
    if (text.find(theirs) == std::string::npos) continue;
    const auto name = text.substr(0, text.find_first_of(": "));
    refuse(fmt::format("'{}{}' {}", name.starts_with('-') ? "" : "--", name, ours), see_help(app));
  }
  refuse(text, see_help(app));
}

Action print_text(std::string text) {
  return [text = std::move(text)](const CommandContext& context) {
    context.results << text;
    return Status::done;
  };
}

/// Prints the help if there is no command. The status shows scripts that this is an error.
Status print_program_help(const CommandContext& context) {
  context.messages << program_help();
  return Status::wrong_input;
}

Status print_version(const CommandContext& context) {
  context.results << fmt::format("gradway {} ({}, build {}, data {})\n", GRADWAY_VERSION, built_from(),
                                 program_digest(), data_digest(context.data));
  return Status::done;
}

/// The first argument of calls by the completion scripts of shells. It is not an option for users.
constexpr std::string_view complete_mark = "--complete";

/// Commands that print the arguments of others.
constexpr std::array describing_commands{"help", "manual"};

/// Whether a command line may call or describe a command: that of `gradway run` only `run`. To add all
/// commands takes a fifth of the time of a small run from Python.
bool needs(std::string_view command, std::span<const char* const> words) {
  const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  const bool needs_all = words.empty() ||
                         std::ranges::find(commands(), words.front(), &Command::name) == commands().end() ||
                         std::ranges::any_of(describing_commands, has);
  return needs_all || has(command);
}

}  // namespace

std::string suggestion_with_synonyms(const std::string& word, const std::vector<std::string>& known) {
  for (const auto& row : typed_words("synonym", word))
    if (std::ranges::find(known, row.word(1)) != known.end())
      return fmt::format("did you mean '{}'?", row.word(1));
  return suggestion(word, known);
}

Action parse_command_line(int argc, const char* const* argv) {
  // Shared, because the actions read the parsed values.
  const auto program = std::make_shared<CLI::App>("", "gradway");
  program->set_help_flag("--help,-h", "print this help");
  const auto words = std::span{argv, static_cast<std::size_t>(argc)}.subspan(argc > 0 ? 1 : 0);
  bool wants_version = false;
  program->add_flag("--version", wants_version, "print the version")->disable_flag_override();
  std::map<const CLI::App*, std::pair<const Command*, Action>> actions;
  for (const auto& command : commands()) {
    if (!needs(command.name, words)) continue;
    auto* app = program->add_subcommand(std::string{command.name}, std::string{command.help});
    app->set_help_flag("--help,-h", "print this help");
    actions[app] = {&command, command.add(*app)};
  }
  if (argc > 1 && argv[1] == complete_mark) {
    return [program,
            typed_words = std::vector<std::string>(argv + 2, argv + argc)](const CommandContext& context) {
      write_completions(*program, typed_words, context);
      return Status::done;
    };
  }
  if (argc == 2 && argv[1] == std::string_view{"help"}) return print_text(program_help());
  const auto chosen = [&]() -> const CLI::App& {
    return program->get_subcommands().empty() ? *program : *program->get_subcommands().front();
  };
  try {
    program->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print_text(&chosen() == program.get() ? program_help()
                                                 : command_help(chosen(), *actions[&chosen()].first));
  } catch (const CLI::ArgumentMismatch& error) {
    refuse_mismatch(chosen(), error.what());
  } catch (const CLI::ParseError& error) {
    check_words(chosen());
    check_words(*program);
    check_required(chosen());
    refuse(error.what(), see_help(chosen()));
  }
  check_words(chosen());
  check_values(chosen());
  if (wants_version) return print_version;
  if (&chosen() == program.get()) return print_program_help;
  return [program, action = actions[&chosen()].second](const CommandContext& context) {
    return action(context);
  };
}

}  // namespace gradway::cli
