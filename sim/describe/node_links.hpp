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
  BytesPerSecond forward{};   ///< From -> to.
  BytesPerSecond backward{};  ///< To -> from.
  int count = 1;              ///< NVLink: number of bonded links.
};

/// Connections whose rates have the same source.
struct LinkGroup {
  std::string source;  ///< Which rows, or how the rates were inferred.
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
  std::vector<std::string> warnings;  ///< Rates on which predictions should not be based.
};

/// Sets the rates of a node's parts to those that copies reached. Rates that were not measured are inferred
/// and marked so:
///
/// - the slot of a GPU has the rate of pinned copies; GPUs within 3 % of each other are equal
/// - the link above several GPUs has the rate of one of them, or of all of them together in a pattern if that
/// is higher
/// - the memory of a socket has the rate of copies both ways on all its GPUs; without such a pattern, the sum
/// of the copies alone
/// - the link between two sockets has NCCL's figure for the CPU, or the rate of copies between their GPUs if
/// that is higher
/// - NVLinks have the rate of copies from GPU to GPU; without such copies, the driver's rate of the links
///
/// @throws ConfigError if no copies between pinned memory and a GPU were measured
NodeLinks node_links(const NodeRow& node, const NodeLayout& layout, const NodeRates& rates);

}  // namespace gradway
