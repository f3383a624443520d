// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "sim/base/units.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/value_kind.hpp"

/// Parsers of the kinds of value in tables of fields.
namespace gradway::config {

template <class Member>
constexpr auto plain_value_of() {
  if constexpr (is_optional_v<Member>) {
    return std::type_identity<typename Member::value_type>{};
  } else {
    return std::type_identity<Member>{};
  }
}
/// The type of an optional member's value.
template <class Member>
using PlainValue = typename decltype(plain_value_of<Member>())::type;

/// Index of a word among those of a kind. @throws ConfigError with the nearest one
std::size_t index_of_word(const value::Words& words, const Node& node);
/// The same, where index 0 is "none".
std::size_t index_of_word(const value::WordsOrNone& words, const Node& node);
/// In the base unit. @throws ConfigError
double amount(const value::Amount& kind, const Node& node);
/// A number of elements such as 5e8.
double elements(const Node& node);
int gpus(const value::Gpus& kind, const Node& node);
/// "block", "4 blocks", "whole".
Wrap wrapping(const Node& node);
/// true, false, or a number of ranks: `Fsdp::over_all`, `Fsdp::kept`, or the number.
int resharding(const value::Resharding& kind, const Node& node);
/// All five axes, joined by hyphens.
std::array<RankAxis, 5> axis_order(const Node& node);

/// A list of numbers, or a list of lists of equally many numbers.
ExpertRows rows_of_experts(const Node& node);

template <class Value>
Value parse_value(const value::Boolean&, const Node& node) {
  return boolean(node);
}
template <class Value>
Value parse_value(const value::Whole& kind, const Node& node) {
  return static_cast<Value>(whole(node, kind.least, kind.most));
}
template <class Value>
Value parse_value(const value::Gpus& kind, const Node& node) {
  return gpus(kind, node);
}
template <class Value>
Value parse_value(const value::Real& kind, const Node& node) {
  return real(node, kind.least, kind.most);
}
template <class Value>
Value parse_value(const value::Slowdown&, const Node& node) {
  return slowdown(node);
}
template <class Value>
Value parse_value(const value::Words& kind, const Node& node) {
  return static_cast<Value>(index_of_word(kind, node));
}
template <class Value>
Value parse_value(const value::WordsOrNone& kind, const Node& node) {
  const auto index = index_of_word(kind, node);
  return index == 0 ? Value{} : Value{static_cast<PlainValue<Value>>(index - 1)};
}
template <class Value>
Value parse_value(const value::Text&, const Node& node) {
  return text(node);
}
template <class Value>
Value parse_value(const value::Amount& kind, const Node& node) {
  return Value{amount(kind, node)};
}
template <class Value>
Value parse_value(const value::Elements&, const Node& node) {
  return elements(node);
}
template <class Value>
Value parse_value(const value::Wrapping&, const Node& node) {
  return wrapping(node);
}
template <class Value>
Value parse_value(const value::Resharding& kind, const Node& node) {
  return resharding(kind, node);
}
template <class Value>
Value parse_value(const value::AxisOrder&, const Node& node) {
  return axis_order(node);
}
template <class Value>
Value parse_value(const value::RowsOfExperts&, const Node& node) {
  return rows_of_experts(node);
}

}  // namespace gradway::config
