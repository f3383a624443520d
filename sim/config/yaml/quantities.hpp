// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/yaml/node.hpp"

namespace gradway::config {

/// A unit and what one of it is in the SI base of its kind.
struct Unit {
  std::string_view name;
  double scale;
};

/// What can be written with a unit, and the range that makes sense.
struct QuantityKind {
  std::string_view name;      ///< "bandwidth"
  std::string_view one;       ///< "a bandwidth"
  std::string_view examples;  ///< for a hint: "'GB/s'"
  std::span<const Unit> units;
  double least;  ///< smallest value above zero, in the base unit
  std::string_view least_text;
  double most;  ///< largest value, in the base unit
  std::string_view most_text;
};

/// All kinds, for a look at whose unit a wrong unit is, and for tests and help.
std::span<const QuantityKind> quantity_kinds();

// Parsers for a Reader. All refuse a missing or wrong unit, what is not finite or negative, and nonsense
// sizes; those without `or_zero` refuse zero too.
BytesPerSecond bandwidth(const Node& node);
Bytes bytes(const Node& node);
Bytes bytes_or_zero(const Node& node);
Bytes mean_bytes(const Node& node);  ///< of many: can lie between 0 and 1 B
Seconds duration(const Node& node);
Seconds duration_or_zero(const Node& node);
Seconds latency(const Node& node);  ///< at most 1 s: also what a launch costs
Seconds latency_or_zero(const Node& node);
FlopsPerSecond compute_rate(const Node& node);
UsdPerHour price_per_hour(const Node& node);
Watts power(const Node& node);
Seconds step_rate(const Node& node);  ///< "8.91 steps/s", as the time of a step

/// What to write instead of a unit that is not one of `kind`: by a hand-written table, never by likeness of
/// names, because 'Gb/s' looks like 'GB/s' and is wrong by eight. Empty if the table has nothing.
std::string unit_hint(std::string_view unit, double number, std::string_view number_text,
                      const QuantityKind& kind);

}  // namespace gradway::config
