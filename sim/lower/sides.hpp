// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway {

/// The sides of a graph: what kernels and the collectives of their communicators cost each other. Made as
/// they are asked for, one for each actor and each slow-down (in steps of a thousandth).
class Sides {
 public:
  explicit Sides(const Scenario& scenario);

  /// Of a communicator's collectives; `Op::absent` if nothing was measured.
  /// @param actors members that are simulated
  std::uint32_t of_collectives(OpGraph& graph, const Communicator& communicator,
                               const std::vector<std::uint32_t>& actors) const;
  /// Of a kernel of an actor; without a footprint, of any large kernel of the job's precision. Of several
  /// communicators the one that slows it most counts.
  std::uint32_t of_kernel(OpGraph& graph, std::uint32_t actor, const std::optional<Footprint>& footprint,
                          const std::vector<const Communicator*>& communicators);

 private:
  struct Weight {
    int thousandths = 0;
    bool holds = false;
    bool is_free = true;  ///< neither slowed nor holding anyone back
    auto operator<=>(const Weight&) const = default;
  };
  Weight weigh(const Footprint& kernel, const Communicator& communicator) const;

  Footprint usual_;  ///< stands for kernels that are not known
  int multiprocessors_;
  std::map<std::pair<const Communicator*, Footprint>, Weight> weights_;
  std::map<std::pair<std::uint32_t, Weight>, std::uint32_t> known_;
};

}  // namespace gradway
