// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/yaml/scalars.hpp"
#include "sim/scenario/fields.hpp"

/// Parsers of the kinds of value in tables of fields.
namespace gradway::config {

/// In the base unit. @throws ConfigError
double amount(const value::Amount& kind, const Node& node);

/// The value of a key. @throws ConfigError at the node's place @pre the key is not a custom one
FieldValue parse_value(const value::Kind& kind, const Node& node);

}  // namespace gradway::config
