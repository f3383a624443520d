// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/trainer_text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/search/snippet_parts.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway::report {

void TrainerText::put(std::string_view setting, std::string value) {
  expects(dialect_.find(setting) != nullptr, "the dialect has the setting");
  values_[setting] = std::move(value);
}

void TrainerText::put(std::string_view setting, std::int64_t number) {
  put(setting, std::to_string(number));
}

std::string TrainerText::put_rows() {
  const auto text_of = [&](std::string_view key) { return setting_text(job_, key); };
  std::set<std::string_view> written;
  std::map<std::string_view, std::string> lacking;
  for (const auto& setting : dialect_.settings) {
    if (setting.form == Form::own || values_.contains(setting.theirs) || !has_needed(setting, text_of))
      continue;
    const auto ours = text_of(setting.ours);
    std::string value{ours.empty() ? setting.otherwise : ours};
    if (!ours.empty() && setting.form == Form::positive) value = "1.0";
    const bool has_words = setting.form == Form::turned || (setting.form == Form::word && !ours.empty());
    if (has_words) {
      const auto* word = word_for(setting, ours);
      value = word != nullptr ? word->theirs : "";
      if (word != nullptr) written.insert(setting.ours);
      lacking[setting.ours] = ours;
    }
    if (setting.form == Form::elements && !value.empty()) value = fmt::format("{:.0f}", std::stod(value));
    if (!value.empty()) values_[setting.theirs] = setting.form == Form::word ? in_quotes(value) : value;
  }
  std::string notes;
  for (const auto& [key, value] : lacking)
    if (!written.contains(key)) notes += unsupported_note(key, value);
  return notes;
}

std::vector<std::pair<const TrainerSetting*, std::string>> TrainerText::in_order() const {
  std::vector<std::pair<const TrainerSetting*, std::string>> settings;
  for (const auto& setting : dialect_.settings)
    if (const auto value = values_.find(setting.theirs); value != values_.end())
      settings.emplace_back(&setting, value->second);
  return settings;
}

std::string TrainerText::toml() const {
  std::string text;
  std::string_view open_table;
  for (const auto& [setting, value] : in_order()) {
    const auto dot = setting->theirs.rfind('.');
    const auto table = setting->theirs.substr(0, dot);
    if (table != open_table) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    open_table = table;
    text += fmt::format("{} = {}\n", setting->theirs.substr(dot + 1), value);
  }
  return text;
}

std::string TrainerText::arguments() const {
  std::string text;
  for (const auto& [setting, value] : in_order()) {
    if (value == "false") continue;  // a switch that is left out
    std::string argument{setting->theirs};
    std::ranges::replace(argument, '_', '-');
    if (value != "true") argument += " " + value;
    std::erase(argument, '"');
    text += (text.empty() ? "" : setting->shares_line ? " " : " \\\n") + ("--" + argument);
  }
  return text + "\n";
}

std::string TrainerText::json() const {
  nlohmann::ordered_json document;
  for (const auto& [setting, value] : in_order()) {
    auto path = "/" + std::string{setting->theirs};
    std::ranges::replace(path, '.', '/');
    document[nlohmann::ordered_json::json_pointer{path}] = nlohmann::ordered_json::parse(value);
  }
  return serialized(document, 2) + "\n";
}

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}\"", text);
}

namespace {

std::string member_text(const Record& settings, std::string_view key) {
  const auto field = std::ranges::find(settings.fields(), key, &Field::key);
  if (field == settings.fields().end() || field->is_custom || settings.has_default(*field)) return "";
  return gradway::value_text(field->kind, settings.value(*field));
}

}  // namespace

std::string setting_text(const Job& job, std::string_view key) {
  const auto dot = key.find('.') + 1;  // 0 without one
  const auto group = key.substr(0, dot);
  key.remove_prefix(dot);
  if (group == "job.") return member_text(job, key);
  if (group == "parallel.") return member_text(job.layout, key);
  if (group != "strategy.") return "";
  if (key == "kind") return std::string{name_of(job.strategy)};
  return member_text(record_of(job.strategy), key);
}

}  // namespace gradway::report
