// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/samples/samples.hpp"

namespace gradway {

/// What the largest copies of a kind reached.
struct CopyRate {
  BytesPerSecond rate{};
  Bytes size{};  ///< of these copies
};

/// A direction through the host: copies to GPUs, or from them.
enum class HostWay { to_gpu, from_gpu };

/// What copies between the parts of a node reached, as far as they were measured.
class NodeRates {
 public:
  /// @param samples must outlive this.
  explicit NodeRates(const Samples& samples) : samples_{samples} {}

  /// Copies between pinned host memory and a GPU, alone.
  std::optional<CopyRate> pinned(HostWay way, int gpu) const;
  /// Copies from pageable memory to a GPU: the median of the GPUs.
  std::optional<CopyRate> pageable() const;
  /// Copies from one GPU to another, alone. Of rows that do not name both, any will do.
  std::optional<CopyRate> peer(int from, int to) const;

  /// All copies of one direction to some GPUs while copies to all of them ran, together: what a link that
  /// they share lets through at least. The best of the patterns.
  std::optional<CopyRate> together(HostWay way, std::span<const int> gpus) const;

  /// What the memory of a socket moves while all its GPUs copy both ways: the number of their copies at the
  /// pace of the slowest. Of the patterns that has the most copies on the node, and of those the largest
  /// ones.
  struct MemoryRate {
    BytesPerSecond rate{};
    Bytes size{};
    std::size_t copies = 0;          ///< of this socket
    std::size_t copies_of_node = 0;  ///< of all sockets, at the same time
  };
  std::optional<MemoryRate> memory(std::span<const int> gpus) const;

  /// Copies from some GPUs to others, alone or together: what the link between their sockets lets through at
  /// least.
  std::optional<CopyRate> across(std::span<const int> from, std::span<const int> to) const;

  /// The rate of a link that all ranks of a ring send through: ranks times what each of them sends, of the
  /// best collective over TCP.
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
