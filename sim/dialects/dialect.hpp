// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/rows.hpp"

/// The words of other trainers for what a scenario says, as tables: the `.txt` files of this folder. Readers
/// of trainers' files, the lists from which they suggest a key, hints for those who write a trainer's key in
/// a scenario, and the settings that `gradway optimize` prints follow from them.
namespace gradway {

/// A trainer's word for a value, and ours.
struct ForeignValue {
  std::string_view theirs;
  std::string_view ours;  ///< empty: gradway's default
  std::string_view note;  ///< behaviour of gradway that differs
};

/// How a trainer writes a value.
enum class Form : std::uint8_t {
  own,       ///< code reads and writes it, because it depends on other settings
  ranks,     ///< whole number of at least 1, gradway's default
  flag,      ///< true is ours, too; false is gradway's default
  choice,    ///< true or false, which replaces a default that depends on other settings
  turned,    ///< true or false, each of which `words` may have a word of ours for
  word,      ///< a word of `words`
  positive,  ///< number, of which any above 0 is our true; 0 is gradway's default
  elements   ///< number of elements
};

/// A setting of a trainer, and the key of a scenario that says the same.
struct TrainerSetting {
  std::string_view theirs;  ///< today's name, with dots after the tables that it is in
  std::string_view ours;    ///< key with dots; empty: no single key
  Form form = Form::own;
  std::string_view before;  ///< name in older releases
  std::string_view hint;    ///< for who writes it in a scenario: a key, or a sentence; empty: none
  std::vector<ForeignValue> words;
  std::string_view standard;  ///< the trainer's value without the setting
  std::string_view thing;     ///< what the value is, in messages: "rotate method '{}'"
  /// What a scenario has if the setting has an effect, separated by blanks: "parallel.context",
  /// "strategy.stage=3", "!parallel.sequence" (it must not have that).
  std::string_view needs;
  std::string_view otherwise;  ///< what is written for gradway's default; empty: nothing
  bool shares_line = false;    ///< among arguments: written on the line of the setting before it
};

/// A key of a trainer's file that gradway does not use, or not with every value.
struct UnusedKey {
  std::string_view key;      ///< With dots. A table stands for all of its keys that have no row of their own.
  std::string_view neutral;  ///< Value with which gradway does the same.
  std::string_view why;      ///< Behaviour of gradway instead.
};

/// All that gradway knows of a trainer's settings.
struct Dialect {
  std::string_view trainer;              ///< "Megatron-LM"
  std::vector<TrainerSetting> settings;  ///< in the order in which they are written
  std::vector<UnusedKey> unused;
  std::vector<std::string_view> ignored;  ///< Keys and tables that do not affect a step.
  std::vector<std::string_view> order;    ///< Keys of a scenario in the order of drafts.
  std::vector<TextRow> others;            ///< rows that only this trainer has
  int least_ranks = 1;
  int most_ranks = 1 << 20;

  /// The row of a setting by its name of today; null: none.
  const TrainerSetting* find(std::string_view theirs) const;
  /// The names of today of all keys that a table has.
  std::vector<std::string> names() const;
};

// Read from their tables at the first call.
namespace dialects {
const Dialect& torchtitan();
const Dialect& megatron();
const Dialect& deepspeed();
const Dialect& finetuning();
const Dialect& hugging_face();
}  // namespace dialects

/// Common words for keys and values of scenarios that are no trainer's settings.
const std::vector<TextRow>& foreign_words();

// The row of our value, and of theirs; null: there is none.
const ForeignValue* word_for(const TrainerSetting& setting, std::string_view ours);
const ForeignValue* word_from(const TrainerSetting& setting, std::string_view theirs);

/// Whether a scenario has what a setting needs. @param value_of value of a key of ours; "": its default
bool has_needed(const TrainerSetting& setting, const std::function<std::string(std::string_view)>& value_of);

/// Hint for who writes a trainer's key in a scenario; empty: no trainer has such a key.
/// @param key without tables, in lower case with '_'
std::string hint_for_trainer_key(std::string_view key);

/// "did you mean 'x'?" for a key or a word; a sentence is itself.
std::string hint_sentence(std::string_view hint);

}  // namespace gradway
