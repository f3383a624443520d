// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/platform/platform.hpp"

namespace gradway {

/// A way through the platform, in the order of travel.
struct Route {
  std::vector<const Link*> links;

  Seconds latency() const;
  void append_resources(std::vector<ResourceId>& path) const;
};

/// Searches for ways of the fewest hops, from both ends at once: hops are counted level by level, on the side
/// that costs less, until a device is known to both. So a search through a fabric never visits all that hangs
/// on its switches. What it notes is wiped by what it visited: a search costs nothing that grows with the
/// platform.
class RouteSearch {
 public:
  enum class Over : std::uint8_t { nvlink, host, network, any };

  /// The platform must outlive this.
  explicit RouteSearch(const Platform& platform);
  RouteSearch(const RouteSearch&) = delete;

  /// @param through_endpoints GPUs and NICs may lie in between
  /// @param label picks among links that are as good
  /// @pre no link joins the two directly
  std::optional<Route> find(DeviceId from, DeviceId to, Over over, bool through_endpoints, std::size_t label);
  /// The link between two neighbours. @return nullptr if there is none
  const Link* direct_link(DeviceId from, DeviceId to, Over over, std::size_t label) const;
  /// The socket with the fewest hops to a device over the host's links, anything in between.
  std::optional<DeviceId> nearest_socket(DeviceId device);

  /// Links that start or end at a device; those to (from) switches and sockets first.
  std::span<const std::uint32_t> out_of(DeviceId device) const { return out_.all(device); }
  std::span<const std::uint32_t> into(DeviceId device) const { return into_.all(device); }

 private:
  /// Links by one of their ends, those whose other end is no GPU or NIC first; each part in the order of the
  /// platform.
  class Neighbours {
   public:
    template <class End, class Other>
    Neighbours(const Platform& platform, End end, Other other);
    std::span<const std::uint32_t> all(DeviceId device) const {
      return span(device, first_[device.index() + 1]);
    }
    std::span<const std::uint32_t> inner(DeviceId device) const {
      return span(device, inner_end_[device.index()]);
    }

   private:
    std::span<const std::uint32_t> span(DeviceId device, std::uint32_t end) const {
      const auto begin = first_[device.index()];
      return std::span{links_}.subspan(begin, end - begin);
    }

    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> inner_end_;
    std::vector<std::uint32_t> links_;
  };

  /// Hops counted from one end.
  struct Side {
    const Neighbours* neighbours;
    std::vector<std::uint32_t> hops;    ///< by device
    std::vector<DeviceId> visited{};    ///< in order of hops
    std::vector<std::size_t> levels{};  ///< where each level begins in `visited`, and where the last one ends
    std::vector<DeviceId> besides{};    ///< devices whose hops were noted later

    void begin(DeviceId at);
    void wipe();
    std::span<const DeviceId> level(std::size_t hop) const {
      return std::span{visited}.subspan(levels[hop], levels[hop + 1] - levels[hop]);
    }
    std::size_t last_level() const { return levels.size() - 2; }
  };

  struct Rules {
    Over over;
    bool through_endpoints;
  };

  std::span<const std::uint32_t> steps(const Side& side, DeviceId at, const Rules& rules) const;
  DeviceId next(const Side& side, const Link& link) const;
  std::size_t cost(const Side& side, const Rules& rules) const;
  bool expand(Side& side, const Side& other, const Rules& rules);
  void count_back(const Rules& rules);
  Route walk(DeviceId from, DeviceId to, const Rules& rules, std::size_t label) const;

  const Platform& platform_;
  Neighbours out_;
  Neighbours into_;
  Side ahead_;
  Side behind_;
};

}  // namespace gradway
