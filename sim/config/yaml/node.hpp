// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway::config {

struct Entry;

/// A value of a YAML file, with its place. No anchors, aliases or tags; keys are unique.
struct Node {
  /// `broken` stands where a problem was already reported: whoever reads it says nothing more.
  enum class Kind { null, scalar, sequence, map, broken };

  Kind kind = Kind::null;
  std::string text{};   ///< scalar
  bool quoted = false;  ///< scalar: written in quotes, so not a number or a boolean
  Where where{};
  int block_indent = -1;         ///< scalar after '|': columns before its lines; else -1
  std::vector<Node> items{};     ///< sequence
  std::vector<Entry> entries{};  ///< map, in the order of the file

  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
};

struct Entry {
  std::string key;
  Where where;  ///< of the key
  Node value;
};

/// Adds entries to a map. Where both have a map under a key the maps are merged; any other value replaces
/// that of the target.
void merge_into(Node& target, const std::vector<Entry>& entries);

/// A node as one line of YAML that parses to an equal node.
std::string to_yaml(const Node& node);

/// "a list", "a map", "nothing" or the text in quotes: how messages speak of a value.
std::string describe(const Node& node);

}  // namespace gradway::config
