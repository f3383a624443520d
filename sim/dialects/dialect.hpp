// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The words of other trainers for what a scenario says, as tables. Readers of trainers' files, the lists
/// from which they suggest a key, hints for those who write a trainer's key in a scenario, and the settings
/// that `gradway optimize` prints follow from them.
namespace gradway {

/// A trainer's word for a value, and ours.
struct ForeignValue {
  std::string_view theirs;
  std::string_view ours;    ///< empty: gradway's default
  std::string_view note{};  ///< behaviour of gradway that differs
};

/// How a trainer writes a value.
enum class Form : std::uint8_t {
  own,       ///< code reads and writes it, because it depends on other settings
  ranks,     ///< whole number of at least 1, gradway's default
  flag,      ///< true is ours, too; false is gradway's default
  choice,    ///< true or false, which replaces a default that depends on other settings
  word,      ///< a word of `words`
  positive,  ///< number, of which any above 0 is our true; 0 is gradway's default
  elements   ///< number of elements
};

/// Properties of a setting that differ from the usual.
struct SettingTraits {
  std::string_view before{};  ///< name in older releases
  std::string_view hint{};    ///< for who writes it in a scenario: a key, or a sentence; empty: none
  std::span<const ForeignValue> words{};
  std::string_view standard{};  ///< the trainer's value without the setting
  std::string_view thing{};     ///< what the value is, in messages: "rotate method '{}'"
  /// Our key without which the setting has no effect: "parallel.context", "strategy.stage=3".
  std::string_view needs{};
  std::string_view otherwise{};  ///< what is written for gradway's default; empty: nothing
  bool shares_line = false;      ///< among arguments: written on the line of the setting before it
};

/// A setting of a trainer, and the key of a scenario that says the same.
struct TrainerSetting {
  std::string_view theirs;  ///< today's name, with dots after the tables that it is in
  std::string_view ours{};  ///< key with dots; empty: no single key
  Form form = Form::own;
  SettingTraits traits{};
};

/// A row, whose arguments clang-format lays out as a few long lines.
constexpr TrainerSetting setting(std::string_view theirs, std::string_view ours, Form form = Form::own,
                                 SettingTraits traits = {}) {
  return {theirs, ours, form, traits};
}

/// A key of a trainer's file that gradway does not use, or not with every value.
struct UnusedKey {
  std::string_view key;  ///< With dots. A table stands for all of its keys that have no row of their own.
  std::string_view neutral{};  ///< Value with which gradway does the same.
  std::string_view why{};      ///< Behaviour of gradway instead.
};

/// All that gradway knows of a trainer's settings.
struct Dialect {
  std::string_view trainer;                  ///< "Megatron-LM"
  std::span<const TrainerSetting> settings;  ///< in the order in which they are written
  std::span<const UnusedKey> unused;
  // Names that are separated by blanks.
  std::string_view used;     ///< Keys that only code knows.
  std::string_view ignored;  ///< Keys and tables that do not affect a step.
  std::string_view order{};  ///< Keys of a scenario in the order of drafts.
  int least_ranks = 1;
  int most_ranks = 1 << 20;

  /// The row of a setting by its name of today; null: none.
  const TrainerSetting* find(std::string_view theirs) const;
  bool has_below(std::string_view table) const;  ///< Whether there are known keys in this table.
  std::string nearest_to(const std::string& key) const;
};

namespace dialects {
extern const Dialect torchtitan;
extern const Dialect megatron;
extern const Dialect deepspeed;
extern const Dialect hugging_face;
}  // namespace dialects

/// Their word for our value; null: there is none.
const ForeignValue* word_for(const TrainerSetting& setting, std::string_view ours);

/// Whether a scenario has what a setting needs. @param value_of value of a key of ours; "": its default
bool has_needed(const TrainerSetting& setting, const std::function<std::string(std::string_view)>& value_of);

/// Hint for who writes a trainer's key in a scenario; empty: no trainer has such a key.
/// @param key without tables, in lower case with '_'
std::string hint_for_trainer_key(std::string_view key);

/// "did you mean 'x'?" for a key or a word; a sentence is itself.
std::string hint_sentence(std::string_view hint);

/// Names that are separated by blanks.
std::vector<std::string_view> names_in(std::string_view text);

}  // namespace gradway
