// SPDX-License-Identifier: Apache-2.0
#include "sim/config/scenario_yaml.hpp"

#include <fmt/format.h>

#include "sim/config/find/document.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/config/find/resolve.hpp"
#include "sim/config/yaml/problems.hpp"

namespace gradway {
namespace {

/// The entries of a map on lines of their own.
std::string lines(const config::Node& map, std::string_view indent) {
  std::string text;
  for (const auto& [key, where, value] : map.entries) {
    const bool has_lines = indent.empty() && value.kind == config::Node::Kind::map && !value.entries.empty();
    text += fmt::format("{}{}:{}\n", indent, key, has_lines ? "" : " " + to_yaml(value));
    if (has_lines) text += lines(value, "  ");
  }
  return text;
}

}  // namespace

std::string scenario_yaml(const std::string& scenario, const std::vector<Override>& overrides,
                          const DataPath& data) {
  const auto scenario_file = config::find_file(DataKind::scenario, scenario, data, config::in_file(scenario));
  config::Problems problems;
  auto root = config::load_with_base(DataKind::scenario, scenario_file, config::Lookup{scenario_file, data},
                                     problems);
  config::apply_overrides(root, overrides, problems);
  problems.raise();
  return "schema: 1\n" + lines(root, "");
}

}  // namespace gradway
