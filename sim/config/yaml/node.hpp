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
  /// `broken` marks a node whose problem is already reported.
  enum class Kind { null, scalar, sequence, map, broken };

  Kind kind = Kind::null;
  std::string text{};   ///< scalar
  bool quoted = false;  ///< scalar: in quotes, so that it is neither a number nor a boolean
  Where where{};
  int block_indent = -1;         ///< scalar after '|': indentation of its lines; else -1
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

/// A node as one line of YAML that is parsed to an equal node.
std::string to_yaml(const Node& node);

/// Description of a value for messages: "a list", "a map", "nothing" or the text in quotes.
std::string describe(const Node& node);

}  // namespace gradway::config
