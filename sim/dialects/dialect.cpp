// SPDX-License-Identifier: Apache-2.0
#include "sim/dialects/dialect.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/text.hpp"

namespace gradway {

// The `.txt` files of this folder: sim/tables.cmake.
namespace tables {
extern const std::string_view torchtitan;
extern const std::string_view megatron;
extern const std::string_view deepspeed;
extern const std::string_view finetuning;
extern const std::string_view hugging_face;
extern const std::string_view foreign_words;
}  // namespace tables

namespace {

constexpr std::array<std::string_view, 8> form_words{"own",    "ranks", "flag",     "choice",
                                                     "turned", "word",  "positive", "elements"};

Form form_of(const TextRow& row) {
  const auto word = row.value("form");
  const auto form = std::ranges::find(form_words, word.empty() ? "own" : word) - form_words.begin();
  expects(form < std::ssize(form_words), "the form of a setting is known");
  return static_cast<Form>(form);
}

void add(Dialect& dialect, const TextRow& row) {
  const auto append = [&](std::vector<std::string_view>& names) {
    names.insert(names.end(), row.words.begin(), row.words.end());
  };
  if (row.kind == "setting") {
    dialect.settings.push_back({.theirs = row.word(0),
                                .ours = row.value("ours"),
                                .form = form_of(row),
                                .before = row.value("before"),
                                .hint = row.value("hint"),
                                .words = {},
                                .standard = row.value("standard"),
                                .thing = row.value("thing"),
                                .needs = row.value("needs"),
                                .otherwise = row.value("otherwise"),
                                .shares_line = row.value("line") == "shared"});
  } else if (row.kind == "word") {
    dialect.settings.back().words.push_back({row.word(0), row.value("ours"), row.value("note")});
  } else if (row.kind == "unused") {
    const auto why = row.value("why");
    dialect.unused.push_back(
        {row.word(0), row.value("neutral"), why.empty() ? dialect.unused.back().why : why});
  } else if (row.kind == "ignored") {
    append(dialect.ignored);
  } else if (row.kind == "order") {
    append(dialect.order);
  } else if (row.kind == "trainer") {
    dialect.trainer = row.word(0);
    dialect.least_ranks = row.number("least_ranks", dialect.least_ranks);
    dialect.most_ranks = row.number("most_ranks", dialect.most_ranks);
  } else {
    dialect.others.push_back(row);
  }
}

Dialect dialect_in(std::string_view table) {
  Dialect dialect;
  for (const auto& row : rows_in(table)) add(dialect, row);
  return dialect;
}

}  // namespace

const Dialect& dialects::torchtitan() {
  static const auto dialect = dialect_in(tables::torchtitan);
  return dialect;
}

const Dialect& dialects::megatron() {
  static const auto dialect = dialect_in(tables::megatron);
  return dialect;
}

const Dialect& dialects::deepspeed() {
  static const auto dialect = dialect_in(tables::deepspeed);
  return dialect;
}

const Dialect& dialects::finetuning() {
  static const auto dialect = dialect_in(tables::finetuning);
  return dialect;
}

const Dialect& dialects::hugging_face() {
  static const auto dialect = dialect_in(tables::hugging_face);
  return dialect;
}

const std::vector<TextRow>& foreign_words() {
  static const auto rows = rows_in(tables::foreign_words);
  return rows;
}

const TrainerSetting* Dialect::find(std::string_view theirs) const {
  const auto row = std::ranges::find(settings, theirs, &TrainerSetting::theirs);
  return row == settings.end() ? nullptr : &*row;
}

std::vector<std::string> Dialect::names() const {
  std::vector<std::string> names{ignored.begin(), ignored.end()};
  for (const auto& row : unused) names.emplace_back(row.key);
  for (const auto& row : settings) names.emplace_back(row.theirs);
  return names;
}

const ForeignValue* word_for(const TrainerSetting& setting, std::string_view ours) {
  const auto row = std::ranges::find(setting.words, ours, &ForeignValue::ours);
  return row == setting.words.end() ? nullptr : &*row;
}

const ForeignValue* word_from(const TrainerSetting& setting, std::string_view theirs) {
  const auto row = std::ranges::find(setting.words, theirs, &ForeignValue::theirs);
  return row == setting.words.end() ? nullptr : &*row;
}

bool has_needed(const TrainerSetting& setting, const std::function<std::string(std::string_view)>& value_of) {
  return std::ranges::all_of(words_in(setting.needs), [&](std::string_view condition) {
    const bool is_refused = condition.starts_with('!');
    if (is_refused) condition.remove_prefix(1);
    const auto equal = std::min(condition.find('='), condition.size());
    const auto value = value_of(condition.substr(0, equal));
    return (equal == condition.size() ? !value.empty() : value == condition.substr(equal + 1)) != is_refused;
  });
}

std::string hint_for_trainer_key(std::string_view key) {
  for (const auto* dialect :
       {&dialects::torchtitan(), &dialects::megatron(), &dialects::deepspeed(), &dialects::finetuning()}) {
    const auto is_meant = [&](const TrainerSetting& setting) {
      const auto name = setting.theirs.substr(setting.theirs.rfind('.') + 1);
      return !setting.hint.empty() && name == key;
    };
    const auto row = std::ranges::find_if(dialect->settings, is_meant);
    if (row != dialect->settings.end()) return hint_sentence(row->hint);
  }
  return "";
}

std::string hint_sentence(std::string_view hint) {
  const bool is_word = hint.find(' ') == std::string_view::npos;
  return is_word ? fmt::format("did you mean '{}'?", hint) : std::string{hint};
}

}  // namespace gradway
