// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "sim/import/kineto/work/operation_work.hpp"

/// What the record of an operation says of its operands.
namespace gradway::operands {

inline int bytes(const Signature& it, std::size_t operand) {
  return operand < it.operands.size() ? element_bytes(it.operands[operand].type) : 0;
}

inline const Operand::Shape* shape(const Signature& it, std::size_t operand) {
  if (operand >= it.operands.size() || it.operands[operand].shapes.size() != 1) return nullptr;
  return &it.operands[operand].shapes.front();
}

/// Of a tensor that has dimensions.
inline bool has_tensor(const Signature& it, std::size_t operand) {
  const auto* of = shape(it, operand);
  return of != nullptr && !of->empty();
}

/// Of two tensors, as PyTorch broadcasts them.
inline Operand::Shape broadcast(Operand::Shape one, Operand::Shape other) {
  if (one.size() < other.size()) std::swap(one, other);
  for (std::size_t i = 1; i <= other.size(); ++i)
    one[one.size() - i] = std::max(one[one.size() - i], other[other.size() - i]);
  return one;
}

/// The argument, a dimension that may count from the end, of so many.
inline std::size_t dimension(const Signature& it, std::size_t argument, std::size_t of) {
  const auto given = whole_numbers(it, argument);
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(1, of));
  const auto value = given.empty() ? 0 : given.front();
  return static_cast<std::size_t>(((value % count) + count) % count);
}

inline bool says(const Signature& it, std::size_t argument, std::string_view text) {
  return argument < it.values.size() && it.values[argument] == text;
}

}  // namespace gradway::operands
