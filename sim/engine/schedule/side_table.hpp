// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/graph/op_graph.hpp"

namespace gradway {

/// Who is in flow on which GPU, whose cap is lowered by that, and who has to wait for whom (see Contender).
class SideTable {
 public:
  /// @pre every slowdown is finite
  explicit SideTable(const OpGraph& graph);

  /// The op's latency is paid and it moves something; no effect without a side.
  void enter(OpId op, Seconds now);
  /// Is it of the ops that may have to let others end first?
  bool can_be_held(OpId op) const {
    const auto side = graph_.op(op).contender;
    return side != Op::absent && graph_.contenders()[side].kind == Contender::Kind::collective;
  }
  /// Kernels that an op which gets ready now must let end first.
  /// @pre it can be held
  std::vector<OpId> holders(OpId op, Seconds now) const;
  /// The op is over.
  /// @pre it entered
  void leave(OpId op);
  /// The op's own cap, divided by its slowdown if it has a neighbour of the other kind. In the unit of the
  /// op's path.
  double cap(OpId op) const;
  /// Ops whose `cap` may have changed since the last `forget_changes`; an op may stand here more than once or
  /// be over.
  const std::vector<OpId>& changes() const { return changes_; }
  void forget_changes() { changes_.clear(); }

 private:
  struct Holder {
    std::uint32_t op;
    Seconds since;
  };
  struct Present {
    std::uint32_t count = 0;                 ///< ops in flow
    std::vector<std::uint32_t> susceptible;  ///< those among them that a neighbour slows
    std::vector<Holder> holders;             ///< those among them that hold the GPU
  };
  using Gpu = std::array<Present, 2>;  ///< by kind

  bool is_susceptible(std::uint32_t op) const;
  void add_neighbours(std::uint32_t op, std::uint32_t count);
  void remove_neighbours(std::uint32_t op, std::uint32_t count);

  const OpGraph& graph_;
  std::vector<Gpu> gpus_;
  std::vector<std::uint32_t>
      neighbours_;  ///< by op: ops of the other kind in flow, once for each GPU they share
  std::vector<OpId> changes_;
};

}  // namespace gradway
