// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/samples/samples.hpp"

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

}  // namespace gradway
