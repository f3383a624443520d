// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/platform/identical_domains.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// A route through the platform: links in the direction of travel.
struct Route {
  std::vector<const Link*> links;

  Seconds latency() const;
  void append_resources(std::vector<ResourceId>& path) const;
};

/// Finds routes with the fewest hops by bidirectional breadth-first search: the frontier that is cheaper to
/// expand advances by one level until the two meet. A search through a fabric thus does not visit all devices
/// of its switches. Only entries of visited devices are reset afterwards, so that the cost of a search does
/// not grow with the platform.
class RouteSearch {
 public:
  enum class Over : std::uint8_t { nvlink, host, network, any };

  /// The platform must outlive this.
  explicit RouteSearch(const Platform& platform);
  RouteSearch(const RouteSearch&) = delete;

  /// @param through_endpoints whether the route may pass through GPUs and NICs
  /// @param label selects among equally good links
  /// @pre no link connects the two directly
  std::optional<Route> find(DeviceId from, DeviceId to, Over over, bool through_endpoints, std::size_t label);
  /// A link that connects two devices directly. @return nullptr if there is none
  const Link* direct_link(DeviceId from, DeviceId to, Over over, std::size_t label) const;
  /// The socket with the fewest hops to a device over links of the host, through devices of any kind.
  std::optional<DeviceId> nearest_socket(DeviceId device);

  /// Links that start or end at a device. Those whose other end is not a GPU or NIC come first.
  std::span<const std::uint32_t> out_of(DeviceId device) const { return out_.all(device); }
  std::span<const std::uint32_t> into(DeviceId device) const { return into_.all(device); }
  const IdenticalDomains& identical_domains() const { return alike_; }

 private:
  /// Links by one of their ends. Those whose other end is not a GPU or NIC ("inner") come first; both parts
  /// are in the order of the platform. Of interchangeable domains the table holds the first one; links of
  /// others are found when asked for.
  class Neighbours {
   public:
    template <class End, class Other>
    Neighbours(const Platform& platform, const IdenticalDomains& alike, End end, Other opposite);
    std::span<const std::uint32_t> all(DeviceId device) const {
      const auto place = place_of(device);
      return links_of(device, first_[place], first_[place + 1], all_moved_);
    }
    std::span<const std::uint32_t> inner(DeviceId device) const {
      const auto place = place_of(device);
      return links_of(device, first_[place], inner_end_[place], inner_moved_);
    }

   private:
    using Moved = std::unordered_map<DeviceId, std::vector<std::uint32_t>>;
    /// The device that stands for this one in the table: of the first domain, its NVSwitch, or the last one.
    std::size_t place_of(DeviceId device) const;
    std::span<const std::uint32_t> links_of(DeviceId device, std::size_t begin, std::size_t end,
                                            Moved& moved) const;

    const Platform& platform_;
    const IdenticalDomains& alike_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> inner_end_;
    std::vector<std::uint32_t> links_;
    mutable Moved all_moved_;
    mutable Moved inner_moved_;
  };

  /// The search from one end.
  struct Frontier {
    const Neighbours* neighbours;
    std::vector<std::uint32_t> hops;    ///< by device
    std::vector<DeviceId> visited{};    ///< in order of hops
    std::vector<std::size_t> levels{};  ///< index in `visited` where each level begins, and the last one ends
    std::vector<DeviceId> counted{};    ///< further devices whose hops `count_back` has set

    void begin(DeviceId start);
    void reset();
    std::span<const DeviceId> level(std::size_t hop) const {
      return std::span{visited}.subspan(levels[hop], levels[hop + 1] - levels[hop]);
    }
    std::size_t last_level() const { return levels.size() - 2; }
  };

  struct Rules {
    Over over;
    bool through_endpoints;
  };

  std::span<const std::uint32_t> steps(const Frontier& frontier, DeviceId device, const Rules& rules) const;
  DeviceId next(const Frontier& frontier, const Link& link) const;
  std::size_t cost(const Frontier& frontier, const Rules& rules) const;
  bool expand(Frontier& frontier, const Frontier& opposite, const Rules& rules);
  void count_back(const Rules& rules);
  Route walk(DeviceId from, DeviceId to, const Rules& rules, std::size_t label) const;

  const Platform& platform_;
  IdenticalDomains alike_;
  Neighbours out_;
  Neighbours into_;
  Frontier forward_;
  Frontier backward_;
};

}  // namespace gradway
