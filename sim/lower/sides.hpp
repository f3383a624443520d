// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/graph/workload_graph.hpp"
#include "sim/lower/collectives.hpp"
#include "sim/plan/scenario.hpp"

namespace gradway {

/// The sides of a graph: what kernels and the collectives of one communicator cost each other. Made as they
/// are asked for, one for each rank and each slow-down (in steps of a thousandth).
class Sides {
 public:
  /// The first two must outlive this.
  Sides(const Scenario& scenario, const CollectiveLowering& collectives);

  /// Of the communicator's collectives; `Op::absent` if nothing was measured.
  /// @param ranks that are simulated
  std::uint32_t of_collectives(OpGraph& graph, const std::vector<std::uint32_t>& ranks) const;
  /// Of a kernel on a rank; without a footprint, of any large kernel of the job's precision.
  std::uint32_t of_kernel(OpGraph& graph, std::uint32_t rank, const std::optional<Footprint>& footprint);

 private:
  struct Weight {
    int thousandths = 0;
    bool holds = false;
    bool is_free = true;  ///< neither slowed nor holding anyone back
    auto operator<=>(const Weight&) const = default;
  };
  Weight weigh(const Footprint& kernel) const;

  const CollectiveLowering& collectives_;
  Footprint usual_;  ///< stands for kernels that are not known
  int multiprocessors_;
  std::map<Footprint, Weight> weights_;
  std::map<std::pair<std::uint32_t, Weight>, std::uint32_t> known_;
};

}  // namespace gradway
