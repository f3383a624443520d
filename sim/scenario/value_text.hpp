// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/units.hpp"
#include "sim/scenario/fields.hpp"

/// Values as a scenario writes them: text that is parsed to the same value.
namespace gradway {
namespace value {

/// "" for zero where zero is not allowed.
std::string text(const Amount& kind, double amount);
template <class Unit>
std::string text(const Amount& kind, const Quantity<Unit>& amount) {
  return text(kind, amount.value());
}
/// In the largest whole unit of time: "1 day" instead of "86400 s".
std::string readable_text(const Amount& kind, double amount);

}  // namespace value

/// Text of a member; "" if it has no value. @pre the key is not a custom one
std::string value_text(const value::Kind& kind, const FieldValue& value);

}  // namespace gradway
