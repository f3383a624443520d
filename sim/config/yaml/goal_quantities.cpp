// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/goal_quantities.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/config/yaml/problems.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/read_measurements.hpp"
#include "sim/config/yaml/scalars.hpp"

namespace gradway::config {
namespace {

struct NamedFactor {
  std::string_view name;  ///< in small letters
  double factor;
};

constexpr std::array multiples{NamedFactor{"", 1},           NamedFactor{"k", 1e3},
                               NamedFactor{"m", 1e6},        NamedFactor{"b", 1e9},
                               NamedFactor{"g", 1e9},        NamedFactor{"t", 1e12},
                               NamedFactor{"thousand", 1e3}, NamedFactor{"million", 1e6},
                               NamedFactor{"billion", 1e9},  NamedFactor{"trillion", 1e12}};

constexpr double minute = 60, hour = 3600, day = 24 * hour, week = 7 * day;
constexpr std::array spans{NamedFactor{"s", 1},
                           NamedFactor{"sec", 1},
                           NamedFactor{"second", 1},
                           NamedFactor{"seconds", 1},
                           NamedFactor{"min", minute},
                           NamedFactor{"minute", minute},
                           NamedFactor{"minutes", minute},
                           NamedFactor{"h", hour},
                           NamedFactor{"hour", hour},
                           NamedFactor{"hours", hour},
                           NamedFactor{"d", day},
                           NamedFactor{"day", day},
                           NamedFactor{"days", day},
                           NamedFactor{"w", week},
                           NamedFactor{"week", week},
                           NamedFactor{"weeks", week}};

constexpr double most_counted = 1e18;
constexpr double longest_span = 36500 * day;

bool is_white_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string in_small_letters(std::string_view text) {
  std::string small{text};
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

template <std::size_t size>
std::optional<double> factor_of(const std::array<NamedFactor, size>& table, std::string_view name) {
  const auto found = std::ranges::find(table, in_small_letters(name), &NamedFactor::name);
  return found == table.end() ? std::nullopt : std::optional{found->factor};
}

/// Digits in groups of three, as in "1,200,000" and "1_200_000", without what separates them. What is
/// grouped otherwise stays: "1,5" may mean one and a half.
std::string without_separators(std::string_view text) {
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  const auto separates = [&](std::size_t at) {
    return (text[at] == ',' || text[at] == '_') && at > 0 && is_digit(at - 1) && is_digit(at + 1) &&
           is_digit(at + 2) && is_digit(at + 3) && !is_digit(at + 4);
  };
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (!separates(at)) plain += text[at];
  return plain;
}

struct NumberAndRest {
  double number = 0;
  std::string_view rest;  ///< behind it, without blanks
};

/// @param all what the user wrote, for messages; @param example of what to write
NumberAndRest number_at_the_start(const Node& node, std::string_view text, const std::string& example) {
  NumberAndRest result;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.number);
  if (error == std::errc::invalid_argument || !std::isfinite(result.number))
    fail(node.where, fmt::format("'{}' does not begin with a number", node.text), example);
  if (error == std::errc::result_out_of_range)
    fail(node.where, fmt::format("the number in '{}' is too large or too small", node.text));
  result.rest = without_blanks(text.substr(static_cast<std::size_t>(end - text.data())));
  if (result.rest.starts_with(',') || result.rest.starts_with('_'))
    fail(node.where, fmt::format("'{}' has a '{}' in its number", node.text, result.rest.front()),
         "write 1.5, or 1,200,000");
  return result;
}

double counted(const Node& node, const std::string& noun, const std::string& example) {
  const auto hint = fmt::format("write a number such as {}", example);
  const auto text = without_separators(without_blanks(scalar(node, "a number of " + noun)));
  auto [number, rest] = number_at_the_start(node, text, hint);
  const auto small = in_small_letters(rest);
  if (small.ends_with(noun)) rest = without_blanks(rest.substr(0, rest.size() - noun.size()));
  const auto factor = factor_of(multiples, rest);
  if (!factor)
    fail(node.where, fmt::format("'{}' is no multiple of {}", rest, noun),
         "k, M, B (10^9) and T (10^12) are known, as in " + example);
  const auto count = number * *factor;
  if (count < 1) fail(node.where, fmt::format("'{}' is less than one of {}", node.text, noun), hint);
  if (count > most_counted)
    fail(node.where, fmt::format("'{}' is too many {}: at most 1e18", node.text, noun));
  return count;
}

[[noreturn]] void refuse_span(const Node& node, const std::string& unit) {
  if (unit.empty())
    fail(node.where, fmt::format("'{}' has no unit", node.text), "add one: s, min, h, days or weeks");
  std::string hint = "units: s, min, h, days, weeks";
  if (unit == "m") hint = "write 'min' for minutes, 'days' instead of months";
  if (unit.starts_with("mo") || unit.starts_with("y")) hint = "not all are equally long: write days";
  fail(node.where, fmt::format("'{}' is not a unit of a span of time", unit), hint);
}

/// A number with one unit that stands nowhere else. @param thing "what a grid emits"
double with_unit(const Node& node, std::string_view thing, std::string_view unit, double most,
                 std::string_view example) {
  const auto& word = scalar(node, thing);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const std::string_view rest{end, static_cast<std::size_t>(word.data() + word.size() - end)};
  if (error != std::errc{} || rest != unit || !(value >= 0 && value <= most))
    fail(node.where, fmt::format("'{}' is not {}", word, thing),
         fmt::format("write it as in '{}', up to {}", example, most));
  return value;
}

}  // namespace

double tokens(const Node& node) {
  return counted(node, "tokens", "'300B' or '1.5T'");
}

double samples(const Node& node) {
  return counted(node, "samples", "'90M' or '1.2e9'");
}

Seconds time_span(const Node& node) {
  const auto text = without_separators(without_blanks(scalar(node, "a span of time")));
  double sum = 0;
  std::string_view left = text;
  do {
    const auto [number, rest] = number_at_the_start(node, left, "write a number and a unit, as in '14 days'");
    const auto end = std::min(rest.find_first_of("0123456789. \t"), rest.size());
    const std::string unit{rest.substr(0, end)};
    const auto factor = factor_of(spans, unit);
    if (!factor) refuse_span(node, unit);
    if (number < 0) fail(node.where, fmt::format("'{}' is negative", node.text));
    sum += number * *factor;
    left = without_blanks(rest.substr(end));
  } while (!left.empty());
  if (sum < 1) fail(node.where, fmt::format("'{}' is too short: at least 1 s", node.text));
  if (sum > longest_span) fail(node.where, fmt::format("'{}' is too long: at most 36500 days", node.text));
  return Seconds{sum};
}

Seconds pause_or_none(const Node& node) {
  const auto text = without_blanks(scalar(node, "a pause"));
  if (text == "0 s") return Seconds{};
  return text.ends_with("ms") || text.ends_with("us") ? duration_or_zero(node) : time_span(node);
}

double dollars(const Node& node) {
  const std::string example = "as in '100k USD' or '1.5M USD'";
  const auto text = without_separators(without_blanks(scalar(node, "an amount of money")));
  std::string_view left = text;
  bool is_told = false;
  const auto strip = [&](std::string_view mark, bool in_front) {
    const auto small = in_small_letters(left);
    if (in_front ? !small.starts_with(mark) : !small.ends_with(mark)) return;
    left = without_blanks(in_front ? left.substr(mark.size()) : left.substr(0, left.size() - mark.size()));
    is_told = true;
  };
  for (const auto* mark : {"usd", "us$", "$"}) strip(mark, true);
  for (const auto* mark : {"usd", "us dollars", "dollars", "$"}) strip(mark, false);
  const auto [number, rest] = number_at_the_start(node, left, "write an amount, " + example);
  const auto factor = factor_of(multiples, rest);
  if (!factor)
    fail(node.where, fmt::format("'{}' is neither a multiple nor the currency of prices", rest),
         "prices are in US dollars: write an amount " + example);
  if (!is_told)
    fail(node.where, fmt::format("'{}' has no currency", node.text),
         "prices are in US dollars: write an amount " + example);
  const auto amount = number * *factor;
  if (amount < 0.01) fail(node.where, fmt::format("'{}' buys nothing: at least 0.01 USD", node.text));
  if (amount > most_counted) fail(node.where, fmt::format("'{}' is too much: at most 1e18 USD", node.text));
  return amount;
}

double share(const Node& node) {
  const auto value = percentage(node);
  if (value > 1) fail(node.where, fmt::format("'{}' is more than all: at most 100 %", node.text));
  return value;
}

double egress_price(const Node& node) {
  return with_unit(node, "a price of data", " USD/GB", 1e3, "0.09 USD/GB");
}

double grid_intensity(const Node& node) {
  return with_unit(node, "what a grid emits", " g/kWh", 1e4, "380 g/kWh");
}

}  // namespace gradway::config
