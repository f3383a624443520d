// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/yaml/node.hpp"

namespace gradway::config {

/// A unit and its value in the base unit of its kind.
struct Unit {
  std::string_view name;
  double scale;
};

/// A kind of quantity: its units and its valid range.
struct QuantityKind {
  std::string_view name;      ///< "bandwidth"
  std::string_view one;       ///< "a bandwidth"
  std::string_view examples;  ///< example of a unit, for hints: "'GB/s'"
  std::span<const Unit> units;
  double least;  ///< smallest value above zero, in the base unit
  std::string_view least_text;
  double most;  ///< largest value, in the base unit
  std::string_view most_text;
};

/// All kinds, to recognise units of another kind, and for tests and help.
std::span<const QuantityKind> quantity_kinds();

// Parsers for a Reader. All reject missing or wrong units, infinite, negative and implausible values; those
// whose names do not end in `_or_zero` also reject zero.
BytesPerSecond bandwidth(const Node& node);
Bytes bytes(const Node& node);
Bytes bytes_or_zero(const Node& node);
Bytes mean_bytes(const Node& node);  ///< a mean, which can be between 0 and 1 B
Seconds duration(const Node& node);
Seconds duration_or_zero(const Node& node);
Seconds latency(const Node& node);  ///< at most 1 s; also for launch costs
Seconds latency_or_zero(const Node& node);
FlopsPerSecond compute_rate(const Node& node);
UsdPerHour price_per_hour(const Node& node);

/// An amount in the base unit of the kind of that name. @param may_be_zero whether zero is allowed
double quantity(const Node& node, std::string_view kind, bool may_be_zero);

/// An amount in a currency with a code of three letters, such as EUR.
struct InCurrency {
  double amount = 0;
  std::string currency;
};
InCurrency currency_per_hour(const Node& node);  ///< "20 EUR/h", "98.32 USD/h"
InCurrency exchange_rate(const Node& node);      ///< "1.17 USD/EUR"
Seconds step_rate(const Node& node);             ///< "8.91 steps/s" -> the step time

/// Hint for a unit that is not one of `kind`, from a table and not by similarity: 'Gb/s' is similar to 'GB/s'
/// and wrong by a factor of eight. Empty if the table does not have the unit.
std::string unit_hint(std::string_view unit, double number, std::string_view number_text,
                      const QuantityKind& kind);

}  // namespace gradway::config
