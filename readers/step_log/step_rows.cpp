// SPDX-License-Identifier: Apache-2.0
#include "readers/step_log/step_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/text.hpp"

namespace gradway {

namespace tables {
extern const std::string_view step_log;
}

namespace {

constexpr std::string_view spaces = " \t\r";

std::optional<StepFormat> format_of(const TextRow& row) {
  using enum StepFormat::Counts;
  if (row.words.empty()) return std::nullopt;
  StepFormat format;
  format.name = lower_case(row.word(0));
  format.unit = row.value("unit").empty() ? std::nullopt : unit_at(row.value("unit"));
  format.needs_unit = row.value("needs") == "unit";
  format.is_before = row.value("place") == "before";
  format.is_per_gpu = row.value("per") == "gpu";
  format.with = lower_case(row.value("with"));
  const auto amount = row.value("of");
  if (row.kind == "time") {
    format.counts = time;
  } else if (row.kind == "total") {
    format.counts = total;
  } else if (row.kind == "rate" && (amount == "steps" || amount == "samples" || amount == "tokens")) {
    format.counts = amount == "steps" ? steps : amount == "samples" ? samples : tokens;
  } else {
    return std::nullopt;
  }
  return format;
}

}  // namespace

std::vector<TextRow> step_rows(std::string_view kind) {
  auto rows = rows_in(tables::step_log);
  std::erase_if(rows, [&](const TextRow& row) { return row.kind != kind; });
  return rows;
}

std::vector<StepFormat> step_formats(const std::vector<std::string>& own) {
  std::vector<StepFormat> formats;
  for (const auto& text : own) {
    const bool is_closed = std::ranges::count(text, '"') % 2 == 0;
    const auto rows = is_closed ? rows_in(text) : std::vector<TextRow>{};
    const auto format = rows.size() == 1 ? format_of(rows.front()) : std::nullopt;
    if (!format)
      refuse(fmt::format("'--row {}' is no row of a log's format", printable(text)),
             "write time NAME, total NAME or rate NAME of=steps, samples or tokens, such as 'rate \"tok/s\" "
             "of=tokens'");
    formats.push_back(*format);
  }
  for (const auto& row : rows_in(tables::step_log))
    if (const auto format = format_of(row)) formats.push_back(*format);
  return formats;
}

std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  // Groups of three digits: "7,123", not the comma of a list.
  constexpr std::size_t group = 4;
  while (std::abs(value) >= 1 && text.size() >= group && text.front() == ',' &&
         is_digits(text.substr(1, 3)) && (text.size() == group || !is_digits(text.substr(group, 1)))) {
    constexpr double thousand = 1000;
    value = value * thousand + leading_number(text.substr(1, 3)).value_or(0);
    text.remove_prefix(group);
  }
  if (!text.empty() && (text.size() == 1 || !is_letter(text[1]))) {
    const auto factor = text.front() == 'K' || text.front() == 'k' ? 1e3 : text.front() == 'M' ? 1e6 : 0;
    if (factor > 0 && (text.size() == 1 || text[1] != '/')) {
      value *= factor;
      text.remove_prefix(1);
    }
  }
  return value;
}

std::optional<Seconds> unit_at(std::string_view text) {
  static const auto units = step_rows("unit");
  for (const auto& unit : units) {
    const auto name = unit.word(0);
    if (text.starts_with(name) && (text.size() == name.size() || !is_letter(text[name.size()])))
      return Seconds{std::stod(std::string{unit.word(1)})};
  }
  return std::nullopt;
}

std::optional<Seconds> unit_in_name(std::string_view name) {
  const auto last = name.find_last_of("_ /");
  return last == std::string_view::npos ? std::nullopt : unit_at(name.substr(last + 1));
}

std::optional<StepNumber> number_behind(std::string_view text, std::string_view word, bool is_whole) {
  for (auto position = text.find(word); position != std::string_view::npos;
       position = text.find(word, position + 1)) {
    const auto before = position == 0 ? ' ' : text[position - 1];
    if (is_letter(before) || (is_whole && before == '_')) continue;
    auto remainder = text.substr(position + word.size());
    std::optional<Seconds> unit;
    if (!remainder.empty() && remainder.front() == '_') unit = unit_at(remainder.substr(1));
    if (unit) remainder.remove_prefix(std::min(remainder.find_first_of(" =:\""), remainder.size()));
    remainder.remove_prefix(std::min(remainder.find_first_not_of(spaces), remainder.size()));
    if (remainder.starts_with('(') || remainder.starts_with('[')) {
      unit = unit_at(remainder.substr(1));
      remainder.remove_prefix(std::min(remainder.find_first_of(")]") + 1, remainder.size()));
    }
    remainder.remove_prefix(std::min(remainder.find_first_not_of(" \t:=\"'|"), remainder.size()));
    const auto value = take_number(remainder);
    if (!value) continue;
    remainder.remove_prefix(std::min(remainder.find_first_not_of(spaces), remainder.size()));
    return StepNumber{*value, unit ? unit : unit_at(remainder)};
  }
  return std::nullopt;
}

namespace {

/// The number right before a name: "2.31s/it", "812.3 img/sec".
std::optional<StepNumber> number_before(std::string_view text, std::string_view word) {
  for (auto position = text.find(word); position != std::string_view::npos;
       position = text.find(word, position + 1)) {
    const auto after_word = position + word.size();
    if (after_word < text.size() && is_letter(text[after_word])) continue;
    auto end = position;
    while (end > 0 && text[end - 1] == ' ') --end;
    auto begin = end;
    while (begin > 0 && contains("0123456789.,", text.substr(begin - 1, 1))) --begin;
    auto number = text.substr(begin, end - begin);
    while (!number.empty() && !is_digits(number.substr(0, 1))) number.remove_prefix(1);
    const auto value = take_number(number);
    if (value && number.empty()) return StepNumber{*value, std::nullopt};
  }
  return std::nullopt;
}

}  // namespace

std::optional<StepNumber> number_of(const StepFormat& format, std::string_view text) {
  if (!format.with.empty() && !contains(text, format.with)) return std::nullopt;
  // Of names of one word, "data_time" is another than "time".
  const bool is_whole = !format.is_key && format.name.find_first_of(" _") == std::string::npos;
  auto number =
      format.is_before ? number_before(text, format.name) : number_behind(text, format.name, is_whole);
  if (!number && format.needs_batch()) number = number_before(text, format.name);
  if (!number || (format.needs_unit && !number->unit)) return std::nullopt;
  if (format.is_rate()) number->unit.reset();
  if (!number->unit) number->unit = format.unit;
  return number;
}

bool names_value(const StepFormat& format, std::string_view name) {
  if (format.is_key) return name == format.name;
  if (format.needs_unit || format.is_before || !format.with.empty()) return false;
  auto word = lower_case(name);
  if (const auto run = word.rfind(" - "); run != std::string::npos) word.erase(0, run + 3);
  for (;;) {
    if (word.starts_with(format.name)) {
      const std::string_view ending = std::string_view{word}.substr(format.name.size());
      if (ending.empty() ||
          (!format.is_rate() && (ending.front() == '_' || ending.front() == ' ') && unit_in_name(word)) ||
          ending == "(s)" || ending == " (s)")
        return true;
    }
    const auto slash = word.find('/');
    if (slash == std::string::npos) return false;
    word.erase(0, slash + 1);
  }
}

}  // namespace gradway
