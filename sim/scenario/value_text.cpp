// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/value_text.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/ranges.h>

#include "sim/base/contract.hpp"
#include "sim/scenario/job.hpp"

namespace gradway {
namespace value {
namespace {

struct Scale {
  std::string_view unit;
  double factor;
};
constexpr std::array sizes{Scale{"GiB", 1073741824}, Scale{"GB", 1e9},   Scale{"MiB", 1048576},
                           Scale{"MB", 1e6},         Scale{"KiB", 1024}, Scale{"kB", 1e3}};

/// {} is the shortest text that is parsed to the same number.
std::string size_text(double bytes) {
  for (const auto& [unit, factor] : sizes) {
    const auto count = bytes / factor;
    if (count >= 1 && count == std::floor(count)) return fmt::format("{:.0f} {}", count, unit);
  }
  return bytes == std::floor(bytes) ? fmt::format("{:.0f} B", bytes) : fmt::format("{} B", bytes);
}

/// In ms below a second, if that is parsed to the same value: 0.0062 s is not 6.2 x 0.001 s.
std::string time_text(double seconds) {
  constexpr double ms = 1e-3;
  if (seconds == 0 || seconds >= 1) return fmt::format("{} s", seconds);
  for (int digits = 1; digits < 17; ++digits) {
    auto text = fmt::format("{:.{}g}", seconds / ms, digits);
    if (text.find('e') == std::string::npos && std::strtod(text.c_str(), nullptr) * ms == seconds)
      return text + " ms";
  }
  return fmt::format("{} s", seconds);
}

}  // namespace

std::string text(const Amount& kind, double amount) {
  const auto& unit = facts_of(kind.unit);
  if (amount == 0 && kind.zero.empty() && unit.is_positive) return {};
  switch (kind.unit) {
    case Unit::size:
      return size_text(amount);
    case Unit::span:
    case Unit::pause:
      return time_text(amount);
    case Unit::share:
    case Unit::positive_share:
    case Unit::relative_error:
      amount *= 100;
      break;
    case Unit::step_rate:
      amount = 1 / amount;
      break;
    case Unit::compute_rate:
      amount /= 1e12;
      break;
    default:
      break;
  }
  return fmt::format("{}{}", amount, unit.suffix);
}

std::string readable_text(const Amount& kind, double amount) {
  constexpr std::array longer{Scale{"day", 86400}, Scale{"h", 3600}, Scale{"min", 60}};
  if (kind.unit != Unit::span && kind.unit != Unit::pause) return text(kind, amount);
  for (const auto& [unit, factor] : longer) {
    const auto count = amount / factor;
    if (count >= 1 && count == std::floor(count)) return fmt::format("{:.0f} {}", count, unit);
  }
  return text(kind, amount);
}

namespace {

std::string rows_text(const NumberRows& rows) {
  std::vector<std::string> layers;
  for (const auto& layer : rows) layers.push_back(fmt::format("[{}]", fmt::join(layer, ", ")));
  if (layers.size() < 2) return layers.empty() ? "" : layers.front();
  return fmt::format("[{}]", fmt::join(layers, ", "));
}

/// Writes a value by its kind.
struct Writer {
  const FieldValue& value;

  std::string operator()(const Boolean&) const { return whole_in(value) != 0 ? "true" : "false"; }
  /// "" for a number below the minimum, which means no value.
  std::string operator()(const Whole& kind) const {
    return whole_in(value) < kind.least ? "" : fmt::format("{}", whole_in(value));
  }
  std::string operator()(const Gpus&) const { return fmt::format("{}", whole_in(value)); }
  std::string operator()(const Real&) const { return fmt::format("{}", number_in(value)); }
  std::string operator()(const Ratio&) const { return fmt::format("{}", number_in(value)); }
  std::string operator()(const Words& kind) const {
    return std::string{kind.words[static_cast<std::size_t>(whole_in(value) - kind.first)]};
  }
  std::string operator()(const WordsOrNone& kind) const {
    return is_empty(value) ? std::string{kind.none} : (*this)(Words{kind.thing, kind.words});
  }
  std::string operator()(const Amount& kind) const { return text(kind, number_in(value)); }
  std::string operator()(const Elements&) const {
    auto short_text = plain_number(number_in(value));
    return std::strtod(short_text.c_str(), nullptr) == number_in(value) ? short_text
                                                                        : fmt::format("{}", number_in(value));
  }
  std::string operator()(const Wrapping&) const {
    const auto blocks = whole_in(value);
    if (blocks == 0) return "whole";
    return blocks == 1 ? "block" : fmt::format("{} blocks", blocks);
  }
  std::string operator()(const Resharding&) const {
    const auto over = whole_in(value);
    return over == Fsdp::over_all ? "true" : over == Fsdp::kept ? "false" : fmt::format("{}", over);
  }
  std::string operator()(const AxisOrder&) const {
    std::vector<std::string_view> words;
    for (const auto axis : std::get<std::vector<std::int64_t>>(value))
      words.push_back(rank_axis_words[static_cast<std::size_t>(axis)]);
    return fmt::format("{}", fmt::join(words, "-"));
  }
  std::string operator()(const RowsOfExperts&) const { return rows_text(std::get<NumberRows>(value)); }
  std::string operator()(const MedianAndWorst&) const { return rows_text(std::get<NumberRows>(value)); }
  std::string operator()(const Formatted& kind) const {
    const auto number = whole_in(value);  // 89 for 8.9
    return kind.form == Formatted::Form::compute_capability ? fmt::format("{}.{}", number / 10, number % 10)
                                                            : std::get<std::string>(value);
  }
  std::string operator()(const Name&) const { return std::get<std::string>(value); }
  std::string operator()(const Text&) const { return std::get<std::string>(value); }
  std::string operator()(const Names&) const {
    const auto& names = std::get<std::vector<std::string>>(value);
    return names.empty() ? "" : fmt::format("[{}]", fmt::join(names, ", "));
  }
  template <Custom Kind>
  std::string operator()(const Kind&) const {
    throw ContractViolation{"a custom key has its own text"};
  }
};

}  // namespace
}  // namespace value

std::string value_text(const value::Kind& kind, const FieldValue& value) {
  if (is_empty(value) && !std::holds_alternative<value::WordsOrNone>(kind)) return "";
  return std::visit(value::Writer{value}, kind);
}

}  // namespace gradway
