// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "readers/samples/samples.hpp"
#include "readers/topology/node_layout.hpp"

namespace gradway {

/// Rate of the largest copies of a kind.
struct CopyRate {
  BytesPerSecond rate{};
  Bytes size{};  ///< Size of these copies.
};

/// Direction of copies through the host: to GPUs, or from them.
enum class HostWay { to_gpu, from_gpu };

/// Rates of copies between the parts of a node, as far as measured.
class NodeRates {
 public:
  /// @param samples must outlive this.
  explicit NodeRates(const Samples& samples) : samples_{samples} {}

  /// Copies between pinned host memory and a GPU, alone.
  std::optional<CopyRate> pinned(HostWay direction, int gpu) const;
  /// Copies from pageable memory to a GPU: the median of the GPUs.
  std::optional<CopyRate> pageable() const;
  /// Copies from one GPU to another, alone. Rows that do not name both GPUs apply to any pair.
  std::optional<CopyRate> peer(int from, int to) const;

  /// Total rate of copies in one direction to some GPUs while copies to all of them run: a lower bound for a
  /// link that they share. The best of the patterns.
  std::optional<CopyRate> together(HostWay direction, std::span<const int> gpus) const;

  /// Rate of the memory of a socket while all its GPUs copy both ways: the number of their copies times the
  /// rate of the slowest. From the pattern with the most copies on the node, and of those the largest copies.
  struct MemoryRate {
    BytesPerSecond rate{};
    Bytes size{};
    std::size_t copies = 0;          ///< Number of copies of this socket.
    std::size_t copies_of_node = 0;  ///< Of all sockets, at the same time.
  };
  std::optional<MemoryRate> memory(std::span<const int> gpus) const;

  /// Copies from some GPUs to others, alone or together: a lower bound for the link between their sockets.
  std::optional<CopyRate> across(std::span<const int> from, std::span<const int> to) const;

  /// Rate of a link through which all ranks of a ring send: ranks times the rate of each, of the best
  /// collective over TCP.
  struct RingRate {
    BytesPerSecond rate{};
    int ranks = 0;
    BytesPerSecond each{};
  };
  std::optional<RingRate> through_net() const;

 private:
  const Samples& samples_;
};

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
