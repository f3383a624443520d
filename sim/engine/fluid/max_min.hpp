// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/schedule/path_table.hpp"

namespace gradway {

/// Weighted max-min fair rates with caps, kept up to date as flows come and go.
///
/// The rates of all flows grow together in proportion to their weights, until a resource is used up or a flow
/// reaches its cap; those flows are fixed and the others go on ("progressive filling"; Bertsekas and
/// Gallager, Data Networks, 2nd ed., 6.5.2). Only flows that a change can reach over shared resources are
/// computed anew, so what happens on one GPU costs nothing on the others.
///
/// Units: capacities, caps and rates are in the unit of the resource a second.
/// @validated tests/differential
class MaxMin {
 public:
  /// A flow's place; free places are used again.
  using Slot = std::uint32_t;

  /// @param capacities by resource; those that flows use are above zero and finite
  /// @param longest the most resources that one flow uses
  MaxMin(const std::vector<double>& capacities, std::size_t longest);

  /// @pre weight > 0, cap > 0; without resources, cap is finite. The rate is known after `solve`.
  Slot add(std::span<const PathTable::Use> path, double weight, double cap);
  void remove(Slot slot);
  void set_cap(Slot slot, double cap);
  double cap(Slot slot) const { return flows_[slot].cap; }

  /// Brings all rates up to date; the flows that were computed anew, valid until the next call.
  std::span<const Slot> solve();
  double rate(Slot slot) const { return flows_[slot].rate; }

 private:
  struct Hop {  ///< one resource of one flow
    std::uint32_t link;
    std::uint32_t times;  ///< how often the path names it
    std::uint32_t place;  ///< in the link's list of flows
  };
  struct Visitor {  ///< one flow of one resource
    Slot slot;
    std::uint32_t hop;  ///< which of the flow's
  };
  struct Flow {
    double weight;
    double cap;
    double rate;
    std::size_t first_hop;
    std::uint32_t hops;
    std::uint32_t visit;  ///< the solve that last reached it
    bool fixed;
    bool live;
  };
  struct Link {
    double capacity = 0;
    double left = 0;            ///< capacity that fixed flows leave
    double weight = 0;          ///< of the flows that are not fixed, each as often as it uses the link
    double exact_weight = 0;    ///< `weight` when it was last summed anew
    std::uint32_t growing = 0;  ///< how many flows are not fixed
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
  std::vector<Hop> hops_;                ///< each slot has a fixed range of them
  std::vector<std::vector<Slot>> free_;  ///< by number of hops
  std::vector<std::uint32_t> dirty_;
  std::vector<Slot> dirty_free_flows_;  ///< flows without resources
  std::uint32_t visit_ = 0;

  // Of one solve and of one connected component within it; kept for their memory.
  std::vector<Slot> solved_;
  std::size_t component_ = 0;  ///< where the component starts in solved_
  std::vector<std::uint32_t> reached_;
  std::vector<std::pair<double, std::uint32_t>>
      levels_;                                 ///< heap: the level at which a link is used up, lowest first
  std::vector<std::pair<double, Slot>> caps_;  ///< the level at which a flow reaches its cap, lowest first
};

}  // namespace gradway
