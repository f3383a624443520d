// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/graph/op_graph.hpp"

namespace gradway {

/// Tracks which kernels and collectives are in flow on each GPU, how contention lowers their caps, and which
/// collectives must wait for kernels (see Contender).
class SideTable {
 public:
  /// @pre every slowdown is finite
  explicit SideTable(const OpGraph& graph);

  /// The flow of the op begins. No effect without a side.
  void enter(OpId op, Seconds date);
  /// Whether kernels can delay the op: only collectives with a side can be held.
  bool can_be_held(OpId op) const {
    const auto side = graph_.op(op).contender;
    return side != Op::absent && graph_.contenders()[side].kind == Contender::Kind::collective;
  }
  /// Kernels that must end before an op that becomes ready now can start. @pre can_be_held(op)
  std::vector<OpId> holders(OpId op, Seconds date) const;
  /// The flow of the op ends. @pre it entered
  void leave(OpId op);
  /// The cap of the op under current contention, in the unit of its path.
  double cap(OpId op) const;
  /// Ops whose `cap` may have changed since the last `forget_changes`. May contain duplicates and ops that
  /// have ended.
  const std::vector<OpId>& changes() const { return changes_; }
  void forget_changes() { changes_.clear(); }

 private:
  struct HoldingKernel {
    std::uint32_t op;
    Seconds since;
  };
  struct OpsInFlow {
    std::uint32_t count = 0;
    std::vector<std::uint32_t> susceptible;  ///< those that contention slows
    std::vector<HoldingKernel> holders;      ///< those that hold the GPU
  };
  using Gpu = std::array<OpsInFlow, 2>;  ///< kernels, collectives

  bool is_susceptible(std::uint32_t op) const;
  void add_neighbours(std::uint32_t op, std::uint32_t count);
  void remove_neighbours(std::uint32_t op, std::uint32_t count);

  const OpGraph& graph_;
  std::vector<Gpu> gpus_;
  std::vector<std::uint32_t>
      neighbours_;  ///< by op: ops of the other kind in flow, counted on each shared GPU
  std::vector<OpId> changes_;
};

}  // namespace gradway
