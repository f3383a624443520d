// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/scalars.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/number.hpp"
#include "sim/platform/with_speeds.hpp"
#include "sim/scenario/value_kind.hpp"

namespace gradway::config {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The whole text as a number; empty if it contains anything else.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = read_number(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double plain_number(const Node& node, std::string_view thing) {
  const auto& word = scalar(node, thing);
  const auto value = number_of<double>(word);
  if (!value || !std::isfinite(*value) || node.quoted) {
    fail(node.where, fmt::format("'{}' is not {}", word, thing), "write a number such as 0.8");
  }
  return *value;
}

struct BooleanMisspelling {
  std::string_view written, meant;
};

constexpr BooleanMisspelling boolean_misspellings[] = {
    {"yes", "true"},  {"on", "true"}, {"1", "true"},  {"y", "true"},    {"no", "false"},
    {"off", "false"}, {"0", "false"}, {"n", "false"}, {"true", "true"}, {"false", "false"}};

}  // namespace

const std::string& scalar(const Node& node, std::string_view thing) {
  if (node.kind != Node::Kind::scalar)
    fail(node.where, fmt::format("expected {}, found {}", thing, describe(node)));
  return node.text;
}

std::string text(const Node& node) {
  const auto& word = scalar(node, "text");
  if (word.find_first_not_of(" \t\n") == std::string::npos) fail(node.where, "the value is empty");
  return word;
}

std::string date(const Node& node) {
  const auto& word = scalar(node, "a date");
  const std::string_view digits{word};
  const bool has_form = digits.size() == 10 && digits[4] == '-' && digits[7] == '-' &&
                        is_digits(digits.substr(0, 4)) && is_digits(digits.substr(5, 2)) &&
                        is_digits(digits.substr(8, 2));
  if (has_form) {
    const std::chrono::year_month_day day{std::chrono::year{*number_of<int>(digits.substr(0, 4))},
                                          std::chrono::month{*number_of<unsigned>(digits.substr(5, 2))},
                                          std::chrono::day{*number_of<unsigned>(digits.substr(8, 2))}};
    if (day.ok()) return word;
  }
  fail(node.where, fmt::format("'{}' is not a date", word), "write year-month-day, for example 2026-01-24");
}

bool boolean(const Node& node) {
  const auto& word = scalar(node, "true or false");
  if (!node.quoted && word == "true") return true;
  if (!node.quoted && word == "false") return false;
  const auto misspelling =
      std::ranges::find(boolean_misspellings, lower_case(word), &BooleanMisspelling::written);
  fail(node.where, fmt::format("expected true or false, found '{}'", word),
       misspelling == std::end(boolean_misspellings) ? "" : fmt::format("write {}", misspelling->meant));
}

int compute_capability(const Node& node) {
  const auto& word = scalar(node, "a compute capability");
  const auto dot = word.find('.');
  const std::string_view major = std::string_view{word}.substr(0, dot);
  const std::string_view minor = dot == std::string::npos ? "" : std::string_view{word}.substr(dot + 1);
  const bool has_form = is_digits(major) && is_digits(minor) && major.size() <= 2 && minor.size() == 1;
  if (!has_form || major.front() == '0') {
    fail(node.where, fmt::format("'{}' is not a compute capability", word),
         "write it with one dot, for example 8.9");
  }
  return *number_of<int>(major) * 10 + *number_of<int>(minor);
}

std::string amd_architecture(const Node& node) {
  constexpr std::string_view start = "gfx";
  const auto& word = scalar(node, "an architecture");
  const auto digits = std::string_view{word}.substr(std::min(word.size(), start.size()));
  const bool has_form = word.starts_with(start) && digits.size() >= 3 && digits.size() <= 4 &&
                        digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!has_form)
    fail(node.where, fmt::format("'{}' is not an architecture of AMD", word),
         "write it as rocminfo prints it, for example gfx942");
  return word;
}

double efficiency(const Node& node) {
  const auto value = plain_number(node, "an efficiency");
  constexpr double least = 1e-6;  // below, times are too long to compute with
  if (value < least || value > 1) {
    fail(node.where, fmt::format("an efficiency must be from 1e-6 to 1, found '{}'", node.text),
         value > 1 && value <= 100 ? fmt::format("write {:.6g} for {:.6g} %", value / 100, value) : "");
  }
  return value;
}

double slowdown(const Node& node) {
  const auto value = plain_number(node, "a slow-down");
  if (value < 1 || value > 1000) {
    fail(node.where, fmt::format("a slow-down must be from 1 to 1000, found '{}'", node.text),
         value > 0 && value < 1 ? "1.25 means 1.25 times as long" : "");
  }
  return value;
}

double scale_of_time(const Node& node) {
  const auto value = plain_number(node, "a time scale");
  if (value < 0.25 || value > 4)
    fail(node.where, fmt::format("a time scale must be from 0.25 to 4, found '{}'", node.text),
         "machines with the same GPU differ by less");
  return value;
}

double weight(const Node& node) {
  const auto value = plain_number(node, "a weight");
  if (value < 0.001 || value > 1000)
    fail(node.where, fmt::format("a weight must be from 0.001 to 1000, found '{}'", node.text));
  return value;
}

std::size_t index_among(std::string_view thing, std::span<const std::string_view> words, const Node& node) {
  const auto& word = scalar(node, thing);
  const auto match = std::ranges::find(words, word);
  if (match != words.end()) return static_cast<std::size_t>(match - words.begin());
  fail(node.where, invalid_word(thing, word),
       hint_for_word(thing, word, std::vector<std::string>(words.begin(), words.end())));
}

double real(const Node& node, double least, double most) {
  const auto& word = scalar(node, "a number");
  const auto value = node.quoted ? std::nullopt : number_of<double>(word);
  if (!value || !(*value >= least && *value <= most))
    fail(node.where, fmt::format("'{}' is not a number from {} to {}", word, value::plain_number(least),
                                 value::plain_number(most)));
  return *value;
}

namespace {

/// @param least "1e-6", for the message
double speed_up(const Node& node, std::string_view least) {
  const auto& word = scalar(node, "a speed-up");
  const auto value = node.quoted ? std::nullopt : number_of<double>(word);
  if (value && *value >= smallest_speed && *value <= largest_speed) return *value;
  if (value && std::isinf(*value) && *value > 0)
    fail(node.where, fmt::format("'{}' is not a speed-up", word), "write a large one such as 1e9");
  if (value && !std::isnan(*value)) {
    fail(node.where, fmt::format("a speed-up must be from {} to 1e12, found '{}'", least, word),
         *value > largest_speed ? "1e9 is practically infinitely fast"
                                : "0.5 means half as fast, 1 means unchanged");
  }
  const bool has_sign =
      word.ends_with('x') && number_of<double>(std::string_view{word}.substr(0, word.size() - 1));
  fail(node.where, fmt::format("'{}' is not a speed-up", word),
       has_sign ? fmt::format("write {}", word.substr(0, word.size() - 1)) : "write a number such as 2");
}

}  // namespace

double times_as_fast_or_none(const Node& node) {
  const bool is_none = node.kind == Node::Kind::scalar && !node.quoted && number_of<double>(node.text) == 0.0;
  return is_none ? 0 : speed_up(node, "0");
}

double times_as_fast(const Node& node) {
  return speed_up(node, "1e-6");
}

std::int64_t whole(const Node& node, std::int64_t least, std::int64_t most) {
  const auto& word = scalar(node, "a whole number");
  const auto value = number_of<double>(word);
  const auto digits = std::string_view{word}.substr(word.starts_with('-') ? 1 : 0);
  if (node.quoted || !is_digits(digits)) {
    std::string hint;
    if (value && *value == std::trunc(*value) && std::abs(*value) < 1e15)
      hint = fmt::format("write {:.0f}", *value);
    fail(node.where, fmt::format("'{}' is not a whole number", word), hint);
  }
  if (digits.size() > 1 && digits.front() == '0') {
    const auto plain = digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
    fail(node.where, fmt::format("'{}' begins with a zero", word), fmt::format("write {}", plain));
  }
  const auto exact = number_of<std::int64_t>(word);
  if (!exact || *exact < least || *exact > most) {
    fail(node.where, fmt::format("{} is out of range: {} to {}", word, least, most));
  }
  return *exact;
}

}  // namespace gradway::config
