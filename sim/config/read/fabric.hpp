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

/// Reads the network between the nodes of a platform.
FabricDescription read_fabric(Reader fabric);

/// Words for a network with leaf switches.
struct LeafWords {
  std::string_view per_leaf;  ///< key of the number of nodes or GPUs per leaf
  std::string_view kinds;     ///< kinds with leaves, for messages
};

/// Whether a network has any key of networks with leaves.
inline bool has_any_of_leaves(const Reader& network, const LeafWords& words) {
  return network.has(words.per_leaf) || network.has("spines") || network.has("uplink_bandwidth");
}

/// Reads the keys of networks with leaves: required there, errors elsewhere.
/// @param has_leaves empty if the kind is invalid: the other keys are then not checked
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
    description.spines = network.required("spines", integer(1, most_spines));
    description.uplink_bandwidth = network.required("uplink_bandwidth", bandwidth);
    return;
  }
  for (const auto key : keys) {
    network.forbid(key, fmt::format("'{}' requires the kind {}", key, words.kinds), "leave it out");
  }
}

}  // namespace gradway::config
