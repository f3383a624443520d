// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/quantities.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/number.hpp"
#include "sim/base/text.hpp"
#include "sim/config/yaml/scalars.hpp"

namespace gradway::config {
namespace {

constexpr double kibi = 1024, mebi = kibi * 1024, gibi = mebi * 1024, tebi = gibi * 1024;

constexpr std::array bandwidth_units = {Unit{"B/s", 1},      Unit{"kB/s", 1e3},   Unit{"MB/s", 1e6},
                                        Unit{"GB/s", 1e9},   Unit{"TB/s", 1e12},  Unit{"KiB/s", kibi},
                                        Unit{"MiB/s", mebi}, Unit{"GiB/s", gibi}, Unit{"TiB/s", tebi}};
constexpr std::array byte_units = {Unit{"B", 1},      Unit{"kB", 1e3},   Unit{"MB", 1e6},
                                   Unit{"GB", 1e9},   Unit{"TB", 1e12},  Unit{"KiB", kibi},
                                   Unit{"MiB", mebi}, Unit{"GiB", gibi}, Unit{"TiB", tebi}};
// Both characters that look like the micro sign: U+00B5 and U+03BC.
constexpr std::array time_units = {Unit{"ns", 1e-9},      Unit{"us", 1e-6}, Unit{"\u00B5s", 1e-6},
                                   Unit{"\u03BCs", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}};
constexpr std::array flop_units = {Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12}, Unit{"PFLOP/s", 1e15}};
constexpr std::array power_units = {Unit{"W", 1}, Unit{"kW", 1e3}};
constexpr std::array price_units = {Unit{"USD/h", 1}};
constexpr std::array step_units = {Unit{"steps/s", 1}};

enum KindIndex { bandwidth_kind, bytes_kind, time_kind, flops_kind, price_kind, steps_kind, power_kind };

constexpr std::array kinds_known = {
    QuantityKind{"bandwidth", "a bandwidth", "'GB/s'", bandwidth_units, 1e3, "1 kB/s", 1e18, "1000000 TB/s"},
    QuantityKind{"data", "an amount of data", "'MB' or 'MiB'", byte_units, 1, "1 B", 9e15, "9000 TB"},
    QuantityKind{"time", "a time", "'us' or 'ms'", time_units, 1e-12, "0.001 ns", 1e8, "100000000 s"},
    QuantityKind{"compute rate", "a compute rate", "'TFLOP/s'", flop_units, 1e6, "0.001 GFLOP/s", 1e21,
                 "1000000 PFLOP/s"},
    QuantityKind{"price", "a price", "'USD/h'", price_units, 1e-6, "0.000001 USD/h", 1e9, "1000000000 USD/h"},
    QuantityKind{"step rate", "a step rate", "'steps/s'", step_units, 1e-8, "0.00000001 steps/s", 1e12,
                 "1000000000000 steps/s"},
    QuantityKind{"power", "a power", "'W'", power_units, 1e-3, "0.001 W", 1e6, "1000000 W"},
};

struct NumberWithUnit {
  double number = 0;
  std::string_view digits;  ///< text of the number
  std::string_view unit;
};

[[noreturn]] void no_number(const Node& node, std::string_view quantity, const QuantityKind& kind) {
  const auto word = lower_case(quantity.substr(std::min(quantity.size(), quantity.find_first_not_of("+-."))));
  if (word.starts_with("inf") || word.starts_with("nan")) {
    fail(node.where, fmt::format("{} must be finite, found '{}'", kind.one, quantity));
  }
  fail(node.where, fmt::format("'{}' does not begin with a number", quantity),
       fmt::format("write a number and a unit such as {}", kind.examples));
}

/// Splits "450 GB/s" into its number and its unit.
NumberWithUnit split(const Node& node, const QuantityKind& kind) {
  const auto quantity = trimmed(scalar(node, kind.one));
  NumberWithUnit written;
  const auto [end, error] = read_number(quantity.data(), quantity.data() + quantity.size(), written.number);
  if (error == std::errc::invalid_argument || !std::isfinite(written.number)) no_number(node, quantity, kind);
  const auto length = static_cast<std::size_t>(end - quantity.data());
  written.digits = quantity.substr(0, length);
  written.unit = trimmed(quantity.substr(length));
  if (error == std::errc::result_out_of_range) {
    const bool is_tiny = written.digits.find("e-") != std::string_view::npos ||
                         written.digits.find("E-") != std::string_view::npos;
    fail(node.where, fmt::format("the number in '{}' is too {}", quantity, is_tiny ? "small" : "large"));
  }
  if (written.digits.size() > 1 && written.digits[0] == '0' &&
      std::isdigit(static_cast<unsigned char>(written.digits[1])) != 0) {
    fail(node.where, fmt::format("the number in '{}' begins with a zero", quantity));
  }
  if (written.unit.starts_with(',') || written.unit.starts_with('_')) {
    fail(node.where, fmt::format("'{}' has a '{}' in its number", quantity, written.unit.front()),
         "write 1000 or 1.5, without separators");
  }
  return written;
}

[[noreturn]] void wrong_unit(const Node& node, const NumberWithUnit& written, const QuantityKind& kind) {
  if (written.unit.empty()) {
    fail(node.where, fmt::format("'{}' has no unit", written.digits),
         fmt::format("add a unit such as {}", kind.examples));
  }
  auto hint = unit_hint(written.unit, written.number, written.digits, kind);
  for (const auto& known_kind : kinds_known) {
    const bool is_its =
        std::ranges::find(known_kind.units, written.unit, &Unit::name) != known_kind.units.end();
    if (is_its && hint.empty()) hint = fmt::format("'{}' is a unit of {}", written.unit, known_kind.name);
  }
  if (hint.empty()) {
    hint = "units:";
    for (const auto& unit : kind.units) {
      if (static_cast<unsigned char>(unit.name.front()) < 0x80) hint += fmt::format(" {}", unit.name);
    }
  }
  fail(node.where, fmt::format("'{}' is not a unit of {}", written.unit, kind.name), hint);
}

/// @return the value in the base unit of the kind. @param any_least accept values below the minimum
double quantity(const Node& node, const QuantityKind& kind, bool zero_is_good, bool any_least) {
  const auto written = split(node, kind);
  const auto unit = std::ranges::find(kind.units, written.unit, &Unit::name);
  if (unit == kind.units.end()) wrong_unit(node, written, kind);
  const auto value = written.number * unit->scale;
  if (std::signbit(value) && value != 0)
    fail(node.where, fmt::format("{} must not be negative, found '{}'", kind.one, node.text));
  if (value == 0 && zero_is_good) return 0;
  if (value == 0) fail(node.where, fmt::format("{} must be above zero, found '{}'", kind.one, node.text));
  if (value < kind.least && !any_least) {
    fail(node.where,
         fmt::format("'{}' is too small for {}: at least {}", node.text, kind.one, kind.least_text));
  }
  if (value > kind.most) {
    fail(node.where,
         fmt::format("'{}' is too large for {}: at most {}", node.text, kind.one, kind.most_text));
  }
  return value;
}

double quantity(const Node& node, KindIndex index, bool zero_is_good = false, bool any_least = false) {
  return quantity(node, kinds_known[static_cast<std::size_t>(index)], zero_is_good, any_least);
}

bool is_currency(std::string_view code) {
  return code.size() == 3 && std::ranges::all_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// What follows the number of "20 EUR/h" or "1.17 USD/EUR".
std::string_view unit_of(const Node& node) {
  const auto quantity = trimmed(node.text);
  double number = 0;
  const auto [end, error] = read_number(quantity.data(), quantity.data() + quantity.size(), number);
  return trimmed(quantity.substr(static_cast<std::size_t>(end - quantity.data())));
}

Seconds short_time(const Node& node, bool zero_is_good) {
  const Seconds time{quantity(node, time_kind, zero_is_good)};
  if (time > Seconds{1})
    fail(node.where, fmt::format("'{}' is too long for a latency or a launch cost: at most 1 s", node.text));
  return time;
}

}  // namespace

std::span<const QuantityKind> quantity_kinds() {
  return kinds_known;
}

double quantity(const Node& node, std::string_view kind, bool may_be_zero) {
  return quantity(node, *std::ranges::find(kinds_known, kind, &QuantityKind::name), may_be_zero, false);
}
BytesPerSecond bandwidth(const Node& node) {
  return BytesPerSecond{quantity(node, bandwidth_kind)};
}
Bytes bytes(const Node& node) {
  return Bytes{quantity(node, bytes_kind)};
}
Bytes bytes_or_zero(const Node& node) {
  return Bytes{quantity(node, bytes_kind, true)};
}
Bytes mean_bytes(const Node& node) {
  return Bytes{quantity(node, bytes_kind, true, true)};
}
Seconds duration(const Node& node) {
  return Seconds{quantity(node, time_kind)};
}
Seconds duration_or_zero(const Node& node) {
  return Seconds{quantity(node, time_kind, true)};
}
Seconds latency(const Node& node) {
  return short_time(node, false);
}
Seconds latency_or_zero(const Node& node) {
  return short_time(node, true);
}
FlopsPerSecond compute_rate(const Node& node) {
  return FlopsPerSecond{quantity(node, flops_kind)};
}
UsdPerHour price_per_hour(const Node& node) {
  return UsdPerHour{quantity(node, price_kind)};
}
InCurrency currency_per_hour(const Node& node) {
  const auto unit = unit_of(node);
  if (!unit.ends_with("/h") || !is_currency(unit.substr(0, 3)) || unit.size() != 5 || unit.starts_with("USD"))
    return {price_per_hour(node).value(), "USD"};
  const std::array units{Unit{unit, 1}};
  auto kind = kinds_known[price_kind];
  kind.units = units;
  const auto least = fmt::format("0.000001 {}", unit);
  const auto most = fmt::format("1000000000 {}", unit);
  kind.least_text = least;
  kind.most_text = most;
  return {quantity(node, kind, false, false), std::string{unit.substr(0, 3)}};
}
InCurrency exchange_rate(const Node& node) {
  const auto unit = unit_of(node);
  constexpr std::string_view usd_per = "USD/";
  const auto currency = unit.substr(std::min(unit.size(), usd_per.size()));
  const auto is_rate = unit.starts_with(usd_per) && is_currency(currency) && currency != "USD";
  const std::array units{Unit{is_rate ? unit : "USD/EUR", 1}};
  const QuantityKind kind{"exchange rate", "an exchange rate", "'USD/EUR'", units, 1e-9, "0.000000001", 1e9,
                          "1000000000"};
  return {quantity(node, kind, false, false), std::string{currency}};
}
Seconds step_rate(const Node& node) {
  return Seconds{1 / quantity(node, steps_kind)};
}

}  // namespace gradway::config
