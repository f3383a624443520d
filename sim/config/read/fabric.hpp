// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/reader.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/platform/description.hpp"

namespace gradway::config {

inline constexpr int most_nodes = 65536;

/// What is between the nodes of a platform.
FabricDescription read_fabric(Reader fabric);

/// How a network with leaves names its parts.
struct LeafWords {
  std::string_view per_leaf;  ///< the key that says how much hangs on a leaf
  std::string_view kinds;     ///< that have leaves, for messages
};

/// The keys that only a network with leaves has: required there, refused elsewhere.
/// @param has_leaves empty if the kind could not be read: nothing to say about the other keys then
template <class Description>
void read_leaves(Reader& network, Description& description, std::optional<bool> has_leaves,
                 const LeafWords& words, int Description::*per_leaf) {
  const auto keys = {words.per_leaf, std::string_view{"spines"}, std::string_view{"uplink_bandwidth"}};
  if (!has_leaves) {
    for (const auto key : keys) network.maybe(key, describe);
    return;
  }
  if (*has_leaves) {
    description.*per_leaf = network.required(words.per_leaf, integer(1, most_nodes));
    description.spines = network.required("spines", integer(1, 4096));
    description.uplink_bandwidth = network.required("uplink_bandwidth", bandwidth);
    return;
  }
  for (const auto key : keys) {
    network.forbid(key, fmt::format("only a {} has '{}'", words.kinds, key), "leave it out");
  }
}

}  // namespace gradway::config
