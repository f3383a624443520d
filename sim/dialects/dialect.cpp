// SPDX-License-Identifier: Apache-2.0
#include "sim/dialects/dialect.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/nearest.hpp"

namespace gradway {

const TrainerSetting* Dialect::find(std::string_view theirs) const {
  const auto row = std::ranges::find(settings, theirs, &TrainerSetting::theirs);
  return row == settings.end() ? nullptr : &*row;
}

bool Dialect::has_below(std::string_view table) const {
  const auto is_below = [&](std::string_view name) {
    return name.size() > table.size() && name.starts_with(table) && name[table.size()] == '.';
  };
  return std::ranges::any_of(names_in(ignored), is_below) || std::ranges::any_of(names_in(used), is_below) ||
         std::ranges::any_of(settings, is_below, &TrainerSetting::theirs) ||
         std::ranges::any_of(unused, is_below, &UnusedKey::key);
}

std::string Dialect::nearest_to(const std::string& key) const {
  std::vector<std::string> names;
  for (const auto name : names_in(ignored)) names.emplace_back(name);
  for (const auto& row : unused) names.emplace_back(row.key);
  for (const auto name : names_in(used)) names.emplace_back(name);
  for (const auto& row : settings) names.emplace_back(row.theirs);
  return nearest(key, names);
}

const ForeignValue* word_for(const TrainerSetting& setting, std::string_view ours) {
  const auto row = std::ranges::find(setting.traits.words, ours, &ForeignValue::ours);
  return row == setting.traits.words.end() ? nullptr : &*row;
}

bool has_needed(const TrainerSetting& setting, const std::function<std::string(std::string_view)>& value_of) {
  const auto needs = setting.traits.needs;
  const auto equal = std::min(needs.find('='), needs.size());
  if (equal < needs.size()) return value_of(needs.substr(0, equal)) == needs.substr(equal + 1);
  return needs.empty() || !value_of(needs).empty();
}

std::string hint_for_trainer_key(std::string_view key) {
  for (const auto* dialect : {&dialects::torchtitan, &dialects::megatron, &dialects::deepspeed}) {
    const auto is_meant = [&](const TrainerSetting& setting) {
      const auto name = setting.theirs.substr(setting.theirs.rfind('.') + 1);
      return !setting.traits.hint.empty() && name == key;
    };
    const auto row = std::ranges::find_if(dialect->settings, is_meant);
    if (row != dialect->settings.end()) return hint_sentence(row->traits.hint);
  }
  return "";
}

std::string hint_sentence(std::string_view hint) {
  const bool is_word = hint.find(' ') == std::string_view::npos;
  return is_word ? fmt::format("did you mean '{}'?", hint) : std::string{hint};
}

std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    names.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace gradway
