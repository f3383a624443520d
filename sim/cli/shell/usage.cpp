// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/shell/usage.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/shell/complete.hpp"
#include "sim/cli/shell/help.hpp"
#include "sim/cli/shell/program_digest.hpp"
#include "sim/cli/shell/version.hpp"

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

/// An option that other programs have, and the key that stands for it here.
struct ForeignOption {
  std::string_view name;
  std::string_view key;
  std::string_view remark{};
};
constexpr std::array foreign_options{
    ForeignOption{"--gpus", "job.gpus"},
    ForeignOption{"--num-gpus", "job.gpus"},
    ForeignOption{"--world-size", "job.gpus"},
    ForeignOption{"--nodes", "job.gpus", "; nodes follow from it and the platform"},
    ForeignOption{"--nnodes", "job.gpus", "; nodes follow from it and the platform"},
    ForeignOption{"--num-nodes", "job.gpus", "; nodes follow from it and the platform"},
    ForeignOption{"--batch", "job.batch_per_gpu"},
    ForeignOption{"--batch-size", "job.batch_per_gpu"},
    ForeignOption{"--micro-batch-size", "job.batch_per_gpu"},
    ForeignOption{"--global-batch", "job.global_batch"},
    ForeignOption{"--global-batch-size", "job.global_batch"},
    ForeignOption{"--accumulate", "job.accumulate"},
    ForeignOption{"--gradient-accumulation-steps", "job.accumulate"},
    ForeignOption{"--sequence", "job.sequence"},
    ForeignOption{"--seq-len", "job.sequence"},
    ForeignOption{"--seq-length", "job.sequence"},
    ForeignOption{"--precision", "job.precision"},
    ForeignOption{"--compile", "job.compile"},
    ForeignOption{"--recompute", "job.recompute"},
    ForeignOption{"--strategy", "strategy.kind"},
    ForeignOption{"--framework", "job.framework"},
    ForeignOption{"--optimizer", "optimizer"},
    ForeignOption{"--tp", "parallel.tensor"},
    ForeignOption{"--pp", "parallel.pipeline"},
    ForeignOption{"--cp", "parallel.context"},
    ForeignOption{"--ep", "parallel.expert"}};

/// What to write for an option that the command does not have.
std::string hint_for_option(const CLI::App& app, std::string_view name) {
  const auto names = option_names(app);
  const auto found = std::ranges::find(foreign_options, name, &ForeignOption::name);
  const bool sets = std::ranges::find(names, "--set") != names.end();
  if (found == foreign_options.end() || !sets) return suggestion(name, names);
  const auto short_hand = fmt::format("--{}", found->key.substr(found->key.find('.') + 1));
  const bool is_short = std::ranges::find(names, short_hand) != names.end();
  return fmt::format("write '{}'{}", is_short ? short_hand + " N" : fmt::format("--set {}=VALUE", found->key),
                     found->remark);
}

/// Says what is wrong with words that nothing took.
void check_words(const CLI::App& app) {
  for (const auto& word : app.remaining(false)) {
    if (word == "--") continue;
    if (word.starts_with('-')) {
      const auto name = word.substr(0, word.find('='));
      refuse(fmt::format("'{}' has no option '{}'", typed_name(app), name),
             fmt::format("{} ({})", hint_for_option(app, name), see_help(app)));
    }
    if (app.get_parent() == nullptr) {
      refuse(fmt::format("'gradway' has no command '{}'", word),
             fmt::format("{} ({})", suggestion(word, command_names()), see_help(app)));
    }
    refuse(fmt::format("'{}' has no use for '{}'", typed_name(app), word), see_help(app));
  }
}

/// No option means anything by an empty value; as if it were not given is what a script's empty variable must
/// not become.
void check_values(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const auto values = option->results();
    if (std::ranges::find(values, "") != values.end())
      refuse(fmt::format("'--{}' has an empty value", option->get_lnames().front()),
             fmt::format("{} ({})", option->get_description(), see_help(app)));
  }
}

void check_required(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    if (option->get_required() && option->count() == 0) {
      refuse(fmt::format("'{}' needs {}", typed_name(app), argument_name(*option)),
             fmt::format("{} ({})", option->get_description(), see_help(app)));
    }
  }
}

/// What CLI11 says of an option with too many values or too few, in our words.
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

Action say(std::string text) {
  return [text = std::move(text)](const CommandContext& context) {
    context.results << text;
    return Status::done;
  };
}

/// Nothing was asked for: that is no success for a script, but a person wants the help.
Status say_no_command(const CommandContext& context) {
  context.messages << program_help();
  return Status::wrong_input;
}

Status say_version(const CommandContext& context) {
  context.results << fmt::format("gradway {} ({}, build {}, data {})\n", GRADWAY_VERSION, built_from(),
                                 program_digest(), data_digest(context.data));
  return Status::done;
}

/// What completions of shells ask with. No option: nobody types it.
constexpr std::string_view complete_mark = "--complete";

}  // namespace

Action parse_command_line(int argc, const char* const* argv) {
  // Shared, because the actions read the values that the parser keeps.
  const auto program = std::make_shared<CLI::App>("", "gradway");
  program->set_help_flag("--help,-h", "this text");
  bool wants_version = false;
  program->add_flag("--version", wants_version, "the version")->disable_flag_override();
  std::map<const CLI::App*, std::pair<const Command*, Action>> actions;
  for (const auto& command : commands()) {
    auto* app = program->add_subcommand(std::string{command.name}, std::string{command.help});
    app->set_help_flag("--help,-h", "this text");
    actions[app] = {&command, command.add(*app)};
  }
  if (argc > 1 && argv[1] == complete_mark) {
    return [program, words = std::vector<std::string>(argv + 2, argv + argc)](const CommandContext& context) {
      write_completions(*program, words, context);
      return Status::done;
    };
  }
  if (argc == 2 && argv[1] == std::string_view{"help"}) return say(program_help());
  const auto chosen = [&]() -> const CLI::App& {
    return program->get_subcommands().empty() ? *program : *program->get_subcommands().front();
  };
  try {
    program->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return say(&chosen() == program.get() ? program_help()
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
  if (wants_version) return say_version;
  if (&chosen() == program.get()) return say_no_command;
  return [program, action = actions[&chosen()].second](const CommandContext& context) {
    return action(context);
  };
}

}  // namespace gradway::cli
