// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/scenario/field_rows.hpp"

/// What several tables of files have in common.
namespace gradway::catalogue {

constexpr value::Amount size{value::Unit::size, "64 KiB"};
constexpr value::Amount size_or_none{value::Unit::size, "64 KiB", "0 B"};
constexpr value::Amount time{value::Unit::time, "33.2 us"};
constexpr value::Amount time_or_none{value::Unit::time, "33.2 us", "0 us"};
constexpr value::Amount latency{value::Unit::latency, "8.1 us"};
constexpr value::Amount latency_or_none{value::Unit::latency, "8.1 us", "0 us"};
constexpr value::Amount bandwidth{value::Unit::bandwidth, "26.2 GB/s"};
constexpr value::Amount compute_rate{value::Unit::compute_rate, "700 TFLOP/s"};
constexpr value::Amount power{value::Unit::power, "700 W"};
constexpr value::Amount error{value::Unit::relative_error, "2.1 %"};
constexpr value::Boolean boolean{};
constexpr value::Text text{};
constexpr value::Name name{};
constexpr std::string_view a_source = "where the figures come from";

/// A map, or a list of maps, with the table of its keys, that fills several members.
template <class Settings>
Field custom_group(std::string_view key, const value::Kind& kind, std::string_view help,
                   const CustomTraits& traits = {}) {
  static constexpr FieldAccess with_rows{.rows = fields_of<Settings>};
  auto row = custom(key, kind, help, traits);
  row.access = &with_rows;
  return row;
}

}  // namespace gradway::catalogue
