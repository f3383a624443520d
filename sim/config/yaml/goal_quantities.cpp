// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/goal_quantities.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/number.hpp"
#include "sim/base/text.hpp"
#include "sim/config/yaml/problems.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/scalars.hpp"

namespace gradway::config {
namespace {

struct NamedFactor {
  std::string_view name;  ///< in lower case
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

template <std::size_t size>
std::optional<double> factor_of(const std::array<NamedFactor, size>& table, std::string_view name) {
  const auto row = std::ranges::find(table, lower_case(name), &NamedFactor::name);
  return row == table.end() ? std::nullopt : std::optional{row->factor};
}

/// Removes separators between groups of three digits, as in "1,200,000" and "1_200_000". Other commas stay:
/// "1,5" may mean one and a half.
std::string without_separators(std::string_view text) {
  const auto is_digit = [&](std::size_t position) {
    return position < text.size() && std::isdigit(static_cast<unsigned char>(text[position])) != 0;
  };
  const auto separates = [&](std::size_t position) {
    return (text[position] == ',' || text[position] == '_') && position > 0 && is_digit(position - 1) &&
           is_digit(position + 1) && is_digit(position + 2) && is_digit(position + 3) &&
           !is_digit(position + 4);
  };
  std::string plain;
  for (std::size_t position = 0; position < text.size(); ++position)
    if (!separates(position)) plain += text[position];
  return plain;
}

struct LeadingNumber {
  double number = 0;
  std::string_view suffix;  ///< text after the number, without blanks
};

/// @param example hint for messages
LeadingNumber parse_leading_number(const Node& node, std::string_view text, const std::string& example) {
  LeadingNumber result;
  const auto [end, error] = read_number(text.data(), text.data() + text.size(), result.number);
  if (error == std::errc::invalid_argument || !std::isfinite(result.number))
    fail(node.where, fmt::format("'{}' does not begin with a number", node.text), example);
  if (error == std::errc::result_out_of_range)
    fail(node.where, fmt::format("the number in '{}' is too large or too small", node.text));
  result.suffix = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  if (result.suffix.starts_with(',') || result.suffix.starts_with('_'))
    fail(node.where, fmt::format("'{}' has a '{}' in its number", node.text, result.suffix.front()),
         "write 1.5, or 1,200,000");
  return result;
}

double counted(const Node& node, const std::string& noun, const std::string& example) {
  const auto hint = fmt::format("write a number such as {}", example);
  const auto text = without_separators(trimmed(scalar(node, "a number of " + noun)));
  auto [number, suffix] = parse_leading_number(node, text, hint);
  const auto small = lower_case(suffix);
  if (small.ends_with(noun)) suffix = trimmed(suffix.substr(0, suffix.size() - noun.size()));
  const auto factor = factor_of(multiples, suffix);
  if (!factor)
    fail(node.where, fmt::format("unknown multiple '{}' of {}", suffix, noun),
         "use k, M, B (10^9) or T (10^12), as in " + example);
  const auto count = number * *factor;
  if (count < 1) fail(node.where, fmt::format("'{}' is too few {}: at least 1", node.text, noun), hint);
  if (count > most_counted)
    fail(node.where, fmt::format("'{}' is too many {}: at most 1e18", node.text, noun));
  return count;
}

[[noreturn]] void refuse_span(const Node& node, const std::string& unit) {
  if (unit.empty())
    fail(node.where, fmt::format("'{}' has no unit", node.text), "add a unit: s, min, h, days or weeks");
  std::string hint = "units: s, min, h, days, weeks";
  if (unit == "m") hint = "write 'min' for minutes, 'days' instead of months";
  if (unit.starts_with("mo") || unit.starts_with("y")) hint = "they differ in length: write days";
  fail(node.where, fmt::format("'{}' is not a unit of time", unit), hint);
}

/// A number with one fixed unit. @param thing for messages, such as "a carbon intensity"
double with_unit(const Node& node, std::string_view thing, std::string_view unit, double most,
                 std::string_view example) {
  const auto& word = scalar(node, thing);
  double value = 0;
  const auto [end, error] = read_number(word.data(), word.data() + word.size(), value);
  const std::string_view written_unit{end, static_cast<std::size_t>(word.data() + word.size() - end)};
  if (error != std::errc{} || written_unit != unit || !(value >= 0 && value <= most))
    fail(node.where, fmt::format("'{}' is not {}", word, thing),
         fmt::format("write a value such as '{}', at most {}", example, most));
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
  const auto text = without_separators(trimmed(scalar(node, "a duration")));
  double sum = 0;
  std::string_view unread = text;
  do {
    const auto [number, suffix] =
        parse_leading_number(node, unread, "write a number and a unit, as in '14 days'");
    const auto end = std::min(suffix.find_first_of("0123456789. \t"), suffix.size());
    const std::string unit{suffix.substr(0, end)};
    const auto factor = factor_of(spans, unit);
    if (!factor) refuse_span(node, unit);
    if (number < 0) fail(node.where, fmt::format("'{}' is negative", node.text));
    sum += number * *factor;
    unread = trimmed(suffix.substr(end));
  } while (!unread.empty());
  if (sum < 1) fail(node.where, fmt::format("'{}' is too short: at least 1 s", node.text));
  if (sum > longest_span) fail(node.where, fmt::format("'{}' is too long: at most 36500 days", node.text));
  return Seconds{sum};
}

Seconds pause_or_none(const Node& node) {
  const auto text = trimmed(scalar(node, "a duration"));
  if (text == "0 s") return Seconds{};
  return text.ends_with("ms") || text.ends_with("us") ? duration_or_zero(node) : time_span(node);
}

double dollars(const Node& node) {
  const std::string example = "as in '100k USD' or '1.5M USD'";
  const auto text = without_separators(trimmed(scalar(node, "an amount of money")));
  std::string_view bare = text;
  bool has_currency = false;
  const auto strip = [&](std::string_view mark, bool in_front) {
    const auto small = lower_case(bare);
    if (in_front ? !small.starts_with(mark) : !small.ends_with(mark)) return;
    bare = trimmed(in_front ? bare.substr(mark.size()) : bare.substr(0, bare.size() - mark.size()));
    has_currency = true;
  };
  for (const auto* mark : {"usd", "us$", "$"}) strip(mark, true);
  for (const auto* mark : {"usd", "us dollars", "dollars", "$"}) strip(mark, false);
  const auto [number, suffix] = parse_leading_number(node, bare, "write an amount, " + example);
  const auto factor = factor_of(multiples, suffix);
  if (!factor)
    fail(node.where, fmt::format("'{}' is neither a multiple nor a currency", suffix),
         "prices are in US dollars: write an amount " + example);
  if (!has_currency)
    fail(node.where, fmt::format("'{}' has no currency", node.text),
         "prices are in US dollars: write an amount " + example);
  const auto amount = number * *factor;
  if (amount < 0.01) fail(node.where, fmt::format("'{}' is too little: at least 0.01 USD", node.text));
  if (amount > most_counted) fail(node.where, fmt::format("'{}' is too much: at most 1e18 USD", node.text));
  return amount;
}

double percentage(const Node& node) {
  const auto& word = scalar(node, "a percentage");
  double value = 0;
  const auto [end, error] = read_number(word.data(), word.data() + word.size(), value);
  const std::string_view unit{end, static_cast<std::size_t>(word.data() + word.size() - end)};
  if (error != std::errc{} || !std::isfinite(value) || value < 0 || (unit != " %" && unit != "%"))
    fail(node.where, fmt::format("'{}' is not a percentage", word), "write a number and '%', such as 4.2 %");
  constexpr double most = 100'000;  // a factor of 1000, as for slow-downs
  if (value > most)
    fail(node.where, fmt::format("'{}' is too large for a percentage: at most 100000 %", word));
  return value / 100;
}

double share(const Node& node) {
  const auto value = percentage(node);
  if (value > 1) fail(node.where, fmt::format("'{}' is too large: at most 100 %", node.text));
  return value;
}

double egress_price(const Node& node) {
  return with_unit(node, "a price per GB", " USD/GB", 1e3, "0.09 USD/GB");
}

double grid_intensity(const Node& node) {
  return with_unit(node, "a carbon intensity", " g/kWh", 1e4, "380 g/kWh");
}

}  // namespace gradway::config
