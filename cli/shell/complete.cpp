// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "cli/shell/help.hpp"
#include "sim/config/find/scenario_keys.hpp"

namespace gradway::cli {
namespace {

using Words = std::vector<std::string>;

template <DataKind kind>
Words names(const DataPath& data) {
  return list_names(kind, data);
}

template <Words (*words)()>
Words fixed(const DataPath&) {
  return words();
}

Words words_of_key(std::string_view key) {
  Words words;
  for (const auto& row : config::described_keys()) {
    if (row.name != key) continue;
    for (const auto word : words_of(row.kind))
      if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
  }
  return words;
}

Words values_of_key(const std::string& key, const DataPath& data) {
  if (key == "model") return list_names(DataKind::model, data);
  if (key == "platform") return list_names(DataKind::platform, data);
  if (key == "input.storage" || key == "input.staged_from") return list_names(DataKind::storage, data);
  if (key == "input.dataset") return list_names(DataKind::dataset, data);
  return words_of_key(key);
}

/// An argument whose words are known.
struct CompletedArgument {
  std::string_view command;   ///< empty: any
  std::string_view argument;  ///< "--engine" or "KIND"
  Words (*words)(const DataPath&);
};
constexpr std::array completed{CompletedArgument{"", "SCENARIO", names<DataKind::scenario>},
                               CompletedArgument{"", "--model", names<DataKind::model>},
                               CompletedArgument{"", "--platform", names<DataKind::platform>},
                               CompletedArgument{"", "--platforms", names<DataKind::platform>},
                               CompletedArgument{"", "--gpu", names<DataKind::gpu>},
                               CompletedArgument{"", "--calibration", names<DataKind::calibration>},
                               CompletedArgument{"", "--prices", names<DataKind::prices>},
                               CompletedArgument{"", "--terms", fixed<all_payment_terms>},
                               CompletedArgument{"", "--engine", fixed<engine_names>},
                               CompletedArgument{"init", "--strategy", fixed<strategies_of_training>},
                               CompletedArgument{"list", "KIND", fixed<listed_kinds>},
                               CompletedArgument{"show", "KIND", fixed<shown_kinds>},
                               CompletedArgument{"schema", "KIND", fixed<schema_kinds>},
                               CompletedArgument{"import", "FORMAT", fixed<import_formats>},
                               CompletedArgument{"export", "FORMAT", fixed<export_formats>},
                               CompletedArgument{"calibrate", "ACTION", fixed<calibrate_actions>},
                               CompletedArgument{"help", "TOPIC", fixed<help_topics>},
                               CompletedArgument{"completion", "SHELL", fixed<shells>}};

bool takes_keys(std::string_view option) {
  return option == "--set" || option == "--vary" || option == "--over";
}

class Completion {
 public:
  Completion(const CLI::App& program, std::span<const std::string> words, const CommandContext& context)
      : app_{&program}, current_{words.back()}, context_{context} {
    for (const auto& word : words.first(words.size() - 1)) take(word);
  }

  void write() {
    if (open_ != nullptr) return write_values(option_name(*open_), "", current_);
    if (const auto equals = current_.find('='); current_.starts_with("--") && equals != std::string::npos)
      return write_values(current_.substr(0, equals), current_.substr(0, equals + 1),
                          current_.substr(equals + 1));
    if (current_.starts_with('-')) return write_options();
    if (app_->get_parent() == nullptr) return write_commands();
    write_positional();
  }

 private:
  static std::string option_name(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

  /// The option of a word if its value is the next word.
  const CLI::Option* waiting_option(const std::string& word) const {
    for (const auto* option : app_->get_options()) {
      const bool is_named = option->check_name(word) && !option->get_positional();
      if (is_named && option->get_items_expected_max() > 0) return option;
    }
    return nullptr;
  }

  void take(const std::string& word) {
    if (open_ != nullptr) {
      open_ = nullptr;
    } else if (word.starts_with('-')) {
      open_ = waiting_option(word);
    } else if (app_->get_parent() == nullptr) {
      const auto known = commands();
      if (std::ranges::find(known, word, &Command::name) != known.end()) app_ = app_->get_subcommand(word);
    } else {
      positionals_.push_back(word);
    }
  }

  void write_line(const std::string& word, std::string_view help = {}) {
    if (word.starts_with(current_))
      context_.results << word << (help.empty() ? "" : fmt::format("\t{}", help)) << '\n';
  }

  void write_commands() {
    for (const auto& command : commands()) write_line(std::string{command.name}, command.help);
  }

  void write_options() {
    for (const auto* option : app_->get_options()) {
      if (!option->get_lnames().empty()) write_line(option_name(*option), summary_of(*option));
    }
  }

  void write_positional() {
    std::vector<const CLI::Option*> positional_options;
    for (const auto* option : app_->get_options()) {
      if (option->get_positional()) positional_options.push_back(option);
    }
    if (positionals_.size() >= positional_options.size()) return;
    const auto name = positional_options[positionals_.size()]->get_name(true);
    if (app_->get_name() == "show" && name == "NAME") {
      if (const auto kind = data_shown(positionals_.front()))
        write_words(list_names(*kind, context_.data), "");
      return;
    }
    write_values(name, "", current_);
  }

  void write_words(const Words& words, const std::string& before) {
    for (const auto& word : words) write_line(before + word);
  }

  /// @param before the part of the word before the value
  void write_values(const std::string& argument, const std::string& before, const std::string& value) {
    if (takes_keys(argument)) return write_keys(before, value);
    for (const auto& row : completed) {
      if (row.argument != argument || (!row.command.empty() && row.command != app_->get_name())) continue;
      const auto comma =
          argument == "--platforms" || argument == "--gpu" ? value.rfind(',') + 1 : 0;  // npos + 1 is 0
      return write_words(row.words(context_.data), before + value.substr(0, comma));
    }
  }

  /// Writes keys such as "job.precision=", or the values of a key; those of --vary are separated by commas.
  void write_keys(const std::string& before, const std::string& value) {
    const auto equals = value.find('=');
    if (equals == std::string::npos) {
      for (const auto& key : config::described_keys()) {
        if (key.is_settable && !key.is_group()) write_line(before + key.name + "=", key.help());
      }
      return;
    }
    const auto last = std::max(equals, value.rfind(',') == std::string::npos ? 0 : value.rfind(','));
    write_words(values_of_key(value.substr(0, equals), context_.data), before + value.substr(0, last + 1));
  }

  const CLI::App* app_;
  std::string current_;
  const CommandContext& context_;
  const CLI::Option* open_ = nullptr;  ///< option whose value is the next word
  Words positionals_;
};

}  // namespace

Words all_payment_terms() {
  return {terms_words.begin(), terms_words.end()};
}

Words strategies_of_training() {
  auto kinds = words_of_key("strategy.kind");
  std::erase(kinds, "collective");
  return kinds;
}

void write_completions(const CLI::App& program, std::span<const std::string> words,
                       const CommandContext& context) {
  if (!words.empty()) Completion{program, words, context}.write();
}

}  // namespace gradway::cli
