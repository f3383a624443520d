// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "sim/config/yaml/node.hpp"
#include "sim/config/yaml/quantities.hpp"

namespace gradway::cli {

/// Reads the value of an option as a file's value would be read; messages name the option.
/// @return nothing for an empty text
template <class Parse>
auto value_of(const std::string& option, const std::string& text, const Parse& parse)
    -> std::optional<std::invoke_result_t<const Parse&, const config::Node&>> {
  if (text.empty()) return std::nullopt;
  Where where;
  where.file = option;
  return parse(config::Node{.kind = config::Node::Kind::scalar, .text = text, .where = where});
}

}  // namespace gradway::cli
