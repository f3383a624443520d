// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/schedule/path_table.hpp"

namespace gradway {

/// Weighted max-min fair rates with caps, updated incrementally as flows come and go.
///
/// The rates of all flows grow together in proportion to their weights, until a resource is used up or a flow
/// reaches its cap; those flows are fixed and the others go on ("progressive filling"; Bertsekas and
/// Gallager, Data Networks, 2nd ed., 6.5.2). Only flows that share resources with a changed flow, directly or
/// through others, are recomputed, so that events on one GPU cost nothing on the others.
///
/// Capacities, caps and rates are in the unit of the resource per second.
/// @validated tests/differential
class MaxMin {
 public:
  /// Index of a flow. Slots of removed flows are reused.
  using Slot = std::uint32_t;

  /// @param capacities by resource; positive and finite for resources that flows use
  /// @param longest largest number of resources of a flow
  MaxMin(const std::vector<double>& capacities, std::size_t longest);

  /// The rate is known after `solve`. @pre weight > 0, cap > 0; without resources, cap is finite
  Slot add(std::span<const PathTable::Use> path, double weight, double cap);
  void remove(Slot slot);
  void set_cap(Slot slot, double cap);
  double cap(Slot slot) const { return flows_[slot].cap; }

  /// Updates all rates. @return the flows that were recomputed; valid until the next call
  std::span<const Slot> solve();
  double rate(Slot slot) const { return flows_[slot].rate; }

 private:
  struct Hop {  ///< a resource of a flow
    std::uint32_t link;
    std::uint32_t times;  ///< multiplicity in the path
    std::uint32_t place;  ///< index in the link's list of flows
  };
  struct Visitor {  ///< a flow of a resource
    Slot slot;
    std::uint32_t hop;  ///< index among the hops of the flow
  };
  struct Flow {
    double weight;
    double cap;
    double rate;
    std::size_t first_hop;
    std::uint32_t hops;
    std::uint32_t visit;  ///< the last solve that reached it
    bool fixed;
    bool live;
  };
  struct Link {
    double capacity = 0;
    double left = 0;            ///< capacity not used by fixed flows
    double weight = 0;          ///< of flows that are not fixed, times their multiplicities
    double exact_weight = 0;    ///< `weight` when it was last summed
    std::uint32_t growing = 0;  ///< number of flows that are not fixed
    std::uint32_t visit = 0;
    bool dirty = false;
    std::vector<Visitor> flows;
  };

  std::span<Hop> hops(const Flow& flow) { return std::span{hops_}.subspan(flow.first_hop, flow.hops); }
  Slot take_slot(std::size_t length);
  void mark(std::uint32_t link);
  bool rate_alone(Slot slot);
  void reach(std::uint32_t link);
  void collect(std::uint32_t link);
  void fill();
  void sum_up(Link& link);
  bool tightest(double level);
  void fix(Slot slot, double rate);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<Hop> hops_;                ///< each slot has a fixed range
  std::vector<std::vector<Slot>> free_;  ///< slots by number of hops
  std::vector<std::uint32_t> dirty_;
  std::vector<Slot> dirty_free_flows_;  ///< flows without resources
  std::uint32_t visit_ = 0;

  // Scratch memory of a solve and of a connected component within it.
  std::vector<Slot> solved_;
  std::size_t component_ = 0;  ///< where the component starts in solved_
  std::vector<std::uint32_t> reached_;
  std::vector<std::pair<double, std::uint32_t>>
      levels_;                                 ///< heap: level at which a link is used up, lowest first
  std::vector<std::pair<double, Slot>> caps_;  ///< level at which a flow reaches its cap, lowest first
};

}  // namespace gradway
