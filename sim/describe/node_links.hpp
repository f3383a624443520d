// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/describe/node_rates.hpp"
#include "sim/import/topology/node_layout.hpp"

namespace gradway {

/// A connection of a platform file.
struct NodeLink {
  std::string from;
  std::string to;
  LinkKind kind = LinkKind::pcie;
  BytesPerSecond forward{};   ///< from -> to
  BytesPerSecond backward{};  ///< to -> from
  int count = 1;              ///< NVLink: bonded links behind the rates
};

/// Connections whose rates have the same source.
struct LinkGroup {
  std::string source;  ///< which rows, or how it was inferred
  std::vector<NodeLink> links;
};

/// The memory of a socket.
struct SocketMemory {
  std::string name;
  BytesPerSecond bandwidth{};
  std::string source;
};

/// The rates of a node's parts, each with its source.
struct NodeLinks {
  std::vector<SocketMemory> sockets;
  std::vector<LinkGroup> groups;
  std::vector<std::string> warnings;  ///< what a prediction should not rest on
};

/// Gives the parts of a node the rates that copies reached. What was not measured is inferred, and says so:
///
/// - a GPU's slot lets through what pinned copies reached; GPUs within 3 % of each other are alike
/// - the link above several GPUs what one of them reached, or all of them together in a pattern if that is
/// more
/// - a socket's memory what copies both ways on all its GPUs moved; without such a pattern their sum alone
/// - the link between two sockets NCCL's figure for the CPU, or what copies between their GPUs reached if
/// that is more
/// - NVLinks what copies from GPU to GPU reached; without such copies what the driver says of the links
///
/// @throws ConfigError if no copies between pinned memory and a GPU were measured
NodeLinks node_links(const NodeRow& node, const NodeLayout& layout, const NodeRates& rates);

}  // namespace gradway
