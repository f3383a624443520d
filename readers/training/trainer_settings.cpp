// SPDX-License-Identifier: Apache-2.0
#include "readers/training/trainer_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/number.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

using Kind = FileSetting::Kind;

constexpr std::string_view automatic = "auto";
constexpr std::size_t longest_shown = 60;  // Characters of a value.
constexpr std::size_t longest_key = 150;
constexpr std::size_t most_notes = 200;
constexpr double least_elements = 1;
constexpr double most_elements = 1e15;

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = read_number(text.data(), end, value);
  if (error != std::errc{} || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The number of a setting, or the one that a list has for each layer.
std::optional<double> single_number(const FileSetting& setting) {
  if (setting.kind == FileSetting::Kind::number) return number_of(setting.text);
  if (setting.kind != FileSetting::Kind::list || setting.entries.empty()) return std::nullopt;
  const auto& first = setting.entries.front();
  const bool are_same = std::ranges::all_of(setting.entries, [&](const FileSetting& entry) {
    return entry.kind == FileSetting::Kind::number && entry.text == first.text;
  });
  return are_same ? number_of(first.text) : std::nullopt;
}

bool same(std::string_view a, std::string_view b) {
  const auto x = number_of(a);
  return a == b || (x && x == number_of(b));
}

/// Value as shown in messages.
std::string shown(const FileSetting& setting) {
  switch (setting.kind) {
    case Kind::text: {
      auto text = setting.text;
      for (const auto& word : setting.entries) text += " " + word.text;
      return fmt::format("\"{}\"", shortened(text, longest_shown));
    }
    case Kind::number:
    case Kind::boolean:
      return shortened(setting.text, longest_shown);
    case Kind::null:
      return "null";
    case Kind::list:
      return setting.entries.empty() ? "[]" : "[...]";
    case Kind::table:
      break;
  }
  return setting.entries.empty() ? "{}" : "{...}";
}

bool is_automatic(const FileSetting& setting) {
  return setting.kind == Kind::text && setting.text == automatic;
}

const UnusedKey* find_row(std::span<const UnusedKey> known, std::string_view key) {
  const auto row = std::ranges::find(known, key, &UnusedKey::key);
  return row == known.end() ? nullptr : &*row;
}

}  // namespace

const FileSetting* TrainerSettings::at(std::string_view key) const {
  const auto* setting = &file_.root;
  while (setting != nullptr && !key.empty()) {
    const auto dot = std::min(key.find('.'), key.size());
    setting = setting->find(key.substr(0, dot));
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return setting;
}

std::vector<std::string_view> TrainerSettings::names(std::string_view keys) const {
  auto names = words_in(keys);
  asked_.insert(names.begin(), names.end());
  const auto* row = dialect_.find(keys.substr(0, keys.find(' ')));
  if (row != nullptr && !row->before.empty()) names.push_back(row->before);
  return names;
}

bool TrainerSettings::is_table(std::string_view key) const {
  const auto is_below = [&](std::string_view name) {
    return name.size() > key.size() && name.starts_with(key) && name[key.size()] == '.';
  };
  return std::ranges::any_of(dialect_.names(), is_below) || std::ranges::any_of(asked_, is_below) ||
         std::ranges::any_of(dialect_.settings, is_below, [](const auto& row) { return row.before; });
}

std::string TrainerSettings::nearest_to(const std::string& key) const {
  auto names = dialect_.names();
  names.insert(names.end(), asked_.begin(), asked_.end());
  return nearest(key, names);
}

const FileSetting* TrainerSettings::find(std::string_view keys) {
  for (const auto key : names(keys)) {
    const auto* setting = at(key);
    if (setting == nullptr) continue;
    if (gradway::is_automatic(*setting)) return nullptr;  // Listed by `note_unused`.
    used_.insert(setting);
    if (setting->kind != Kind::null) return setting;
  }
  return nullptr;
}

Where TrainerSettings::where(std::string_view keys) const {
  for (const auto key : names(keys)) {
    if (const auto* setting = at(key)) return place(*setting);
  }
  return whole();
}

bool TrainerSettings::has(std::string_view keys) const {
  return std::ranges::any_of(names(keys), [&](auto key) {
    const auto* setting = at(key);
    return setting != nullptr && setting->kind != Kind::null;
  });
}

bool TrainerSettings::is_null(std::string_view keys) const {
  return !has(keys) && std::ranges::any_of(names(keys), [&](auto key) { return at(key) != nullptr; });
}

bool TrainerSettings::is_automatic(std::string_view keys) const {
  return std::ranges::any_of(names(keys), [&](auto key) {
    const auto* setting = at(key);
    return setting != nullptr && gradway::is_automatic(*setting);
  });
}

std::optional<int> TrainerSettings::whole_number(std::string_view keys, int least, int most) {
  const auto* setting = find(keys);
  if (setting == nullptr) return std::nullopt;
  const auto value = single_number(*setting);
  if (value && *value >= least && *value <= most && *value == std::floor(*value))
    return static_cast<int>(*value);
  problem(place(*setting), fmt::format("invalid value {1} for '{0}'", setting->key, shown(*setting)),
          fmt::format("expected a whole number from {} to {}", least, most));
  return std::nullopt;
}

std::optional<double> TrainerSettings::number(std::string_view keys, double least) {
  const auto* setting = find(keys);
  if (setting == nullptr) return std::nullopt;
  const auto value = single_number(*setting);
  if (value && *value >= least) return value;
  problem(place(*setting), fmt::format("invalid value {1} for '{0}'", setting->key, shown(*setting)),
          fmt::format("expected a number of at least {}", least));
  return std::nullopt;
}

std::optional<bool> TrainerSettings::boolean(std::string_view keys) {
  const auto* setting = find(keys);
  if (setting == nullptr) return std::nullopt;
  if (setting->kind == Kind::boolean) return setting->text == "true";
  const bool is_digit = setting->kind == Kind::number && (setting->text == "0" || setting->text == "1");
  if (is_digit) return setting->text == "1";
  problem(place(*setting), fmt::format("invalid value {1} for '{0}'", setting->key, shown(*setting)),
          "expected true or false, without quotes");
  return std::nullopt;
}

std::optional<std::string> TrainerSettings::text(std::string_view keys) {
  const auto* setting = find(keys);
  if (setting == nullptr) return std::nullopt;
  if (setting->kind == Kind::text) return setting->text;
  problem(place(*setting), fmt::format("invalid value {1} for '{0}'", setting->key, shown(*setting)),
          "expected a text in quotes");
  return std::nullopt;
}

std::string TrainerSettings::word(const TrainerSetting& setting, const std::string& theirs) {
  const auto* row = word_from(setting, theirs);
  if (row == nullptr) {
    std::vector<std::string> known;
    for (const auto& word : setting.words) known.emplace_back(word.theirs);
    problem(setting.theirs, "invalid " + fmt::format(fmt::runtime(setting.thing), theirs),
            suggestion(theirs, known));
    return {};
  }
  if (!row->note.empty()) note(setting.theirs, std::string{row->note});
  return std::string{row->ours};
}

std::string TrainerSettings::word(std::string_view key, std::string_view standard) {
  const auto* setting = dialect_.find(key);
  expects(setting != nullptr, "the dialect has the setting");
  return word(*setting, text(key).value_or(std::string{standard.empty() ? setting->standard : standard}));
}

std::string TrainerSettings::value(const TrainerSetting& setting, bool has_effect) {
  const std::string_view key = setting.theirs;
  const std::string standard{setting.standard};
  std::string ours;
  switch (setting.form) {
    case Form::own:
      break;
    case Form::ranks: {
      const auto count = whole_number(key, dialect_.least_ranks, dialect_.most_ranks).value_or(1);
      if (count > 1) ours = std::to_string(count);
      break;
    }
    case Form::flag:
      ours = boolean(key).value_or(false) ? "true" : "";
      break;
    case Form::choice:
      if (const auto choice = boolean(key)) ours = *choice ? "true" : "false";
      break;
    case Form::turned:
      if (!has_effect && find_row(dialect_.unused, key) != nullptr) break;  // so that it is listed
      if (const auto choice = boolean(key); choice || !standard.empty()) {
        const auto* row = word_from(setting, choice ? (*choice ? "true" : "false") : standard);
        if (row != nullptr) ours = row->ours;
      }
      break;
    case Form::word: {
      const auto theirs = text(key).value_or(standard);
      if (has_effect) ours = word(setting, theirs);
      break;
    }
    case Form::positive:
      ours = number(key, 0).value_or(number_of(standard).value_or(0)) > 0 ? "true" : "";
      break;
    case Form::elements:
      if (const auto count = number(key, 0)) {
        const auto clamped = std::clamp(*count, least_elements, most_elements);
        ours = elements_text(clamped);
        if (has_effect && clamped != *count)
          note(key, fmt::format("a scenario allows 1 to 1e15, so {} is used", ours));
      }
      break;
  }
  return has_effect ? ours : std::string{};
}

std::vector<FileSetting> TrainerSettings::words(std::string_view keys) {
  const auto* setting = find(keys);
  if (setting == nullptr) return {};
  auto entries = setting->entries;
  if (setting->kind != Kind::list) entries.insert(entries.begin(), *setting);
  std::vector<FileSetting> words;
  for (const auto& entry : entries) {
    auto remaining = std::string_view{entry.text};
    auto position = entry.span.at;
    while (!remaining.empty()) {
      const auto end = std::min(remaining.find(','), remaining.size());
      if (end > 0)
        words.push_back({.kind = Kind::text,
                         .key = {},
                         .text = std::string{remaining.substr(0, end)},
                         .span = {position, end}});
      position += end + 1;
      remaining.remove_prefix(std::min(end + 1, remaining.size()));
    }
  }
  return words;
}

void TrainerSettings::problem(Where where, std::string message, std::string hint, std::vector<Note> notes) {
  problems_.push_back({std::move(where), std::move(message), std::move(notes), std::move(hint)});
}

void TrainerSettings::note(std::string_view keys, const std::string& text) {
  for (const auto key : names(keys)) {
    if (const auto* setting = at(key))
      return notes_.push_back({key_place(*setting), fmt::format("{} {}: {}", key, shown(*setting), text)});
  }
}

void TrainerSettings::note_at(const FileSetting& setting, const std::string& text) {
  notes_.push_back({key_place(setting),
                    fmt::format("{} {} {}", shortened(setting.key, longest_key), shown(setting), text)});
}

void TrainerSettings::note_missing(std::string text) {
  missing_.push_back({whole(), std::move(text)});
}

void TrainerSettings::refuse_unknown(const std::string& hint) {
  constexpr std::array endings{"_token_id", "_token_ids", "_token_index", "_eps",
                               "_coef",     "_coeff",     "_range"};
  const auto& ignored = dialect_.ignored;
  std::vector<std::string> names;
  const FileSetting* first = nullptr;
  for (const auto& entry : file_.root.entries) {
    const bool is_off = entry.kind == Kind::null || entry.text == "false" || same(entry.text, "0") ||
                        (entry.kind == Kind::list && entry.entries.empty());
    const bool is_minor =
        std::ranges::any_of(endings, [&](std::string_view end) { return entry.key.ends_with(end); });
    if (used_.contains(&entry) || is_off || is_minor || entry.kind == Kind::table ||
        find_row(dialect_.unused, entry.key) != nullptr ||
        std::ranges::find(ignored, entry.key) != ignored.end())
      continue;
    if (first == nullptr) first = &entry;
    names.push_back(fmt::format("'{}'", shortened(entry.key, longest_key)));
    used_.insert(&entry);
  }
  if (first == nullptr) return;
  problem(key_place(*first),
          fmt::format("gradway does not understand {}, which may change what a step computes",
                      fmt::join(names, ", ")),
          hint);
}

void TrainerSettings::note_unused() {
  for (const auto& entry : file_.root.entries) list(entry, entry.key, false);
}

void TrainerSettings::list(const FileSetting& setting, const std::string& key, bool idle) {
  const auto* row = find_row(dialect_.unused, key);
  const auto& ignored = dialect_.ignored;
  const bool is_ignored = std::ranges::find(ignored, key) != ignored.end();
  idle = is_ignored || (row == nullptr && idle);
  if (setting.kind == Kind::table && is_table(key) && row == nullptr) {
    for (const auto& entry : setting.entries) list(entry, key + "." + entry.key, idle);
    return;
  }
  if (used_.contains(&setting) || setting.kind == Kind::null) return;
  const auto name = shortened(key, longest_key);
  const auto value = setting.kind == Kind::list ? shown(setting) : setting.text;
  if (idle || (row != nullptr && !row->neutral.empty() && same(value, row->neutral))) return;
  if (gradway::is_automatic(setting)) {
    notes_.push_back(
        {key_place(setting),
         fmt::format(
             "{} \"auto\": the trainer's own code sets the value; gradway uses an option or the default",
             name)});
  } else if (row != nullptr) {
    notes_.push_back({key_place(setting), fmt::format("{} {}: {}", name, shown(setting), row->why)});
  } else {
    const auto near = nearest_to(name);
    notes_.push_back(
        {key_place(setting),
         fmt::format("{} {}: unknown key, which gradway ignores{}", name, shown(setting),
                     near.empty() || near == name ? "" : fmt::format("; did you mean '{}'?", near))});
  }
}

void TrainerSettings::raise() const {
  if (problems_.empty()) return;
  auto sorted = problems_;
  std::ranges::stable_sort(sorted, [](const Problem& a, const Problem& b) {
    return std::tuple{a.where.line == 0, a.where.line, a.where.column} <
           std::tuple{b.where.line == 0, b.where.line, b.where.column};
  });
  throw ConfigError{sorted};
}

std::vector<DraftNote> TrainerSettings::notes() const {
  auto sorted = notes_;
  std::ranges::stable_sort(sorted, [](const DraftNote& a, const DraftNote& b) {
    return std::tuple{a.where.line, a.where.column} < std::tuple{b.where.line, b.where.column};
  });
  if (sorted.size() > most_notes) {
    const auto remaining = sorted.size() - most_notes;
    sorted.resize(most_notes);
    sorted.push_back({whole(), fmt::format("{} more keys that gradway does not use", remaining)});
  }
  sorted.insert(sorted.end(), missing_.begin(), missing_.end());
  return sorted;
}

}  // namespace gradway
