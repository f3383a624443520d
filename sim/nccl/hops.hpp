// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/nccl/transport.hpp"

namespace gradway {

/// Hops of a ring or a tree, in order. There are at least as many as ranks, and most differ in resources
/// only, so that their other properties are stored once.
class Hops {
 public:
  /// A hop without its resources.
  struct Kind {
    Transport transport = Transport::none;
    bool nvlink = false;
    BytesPerSecond bandwidth{};
    Seconds latency{};
    auto operator<=>(const Kind&) const = default;
  };

  void reserve(std::size_t hops);
  void add(const Hop& hop);

  std::size_t size() const { return kind_.size(); }
  const Kind& operator[](std::size_t index) const { return kinds_[kind_[index]]; }
  /// The resources of all hops, in order.
  const std::vector<ResourceId>& path() const { return path_; }
  std::vector<ResourceId> path_without_last() const;

 private:
  std::vector<Kind> kinds_;
  std::map<Kind, std::uint32_t> known_;
  std::vector<std::uint32_t> kind_;  ///< by hop
  std::vector<ResourceId> path_;
  std::size_t last_begins_ = 0;  ///< in the path
};

}  // namespace gradway
