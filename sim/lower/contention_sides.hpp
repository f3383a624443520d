// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <vector>

#include "sim/graph/op_graph.hpp"
#include "sim/nccl/communicator.hpp"

namespace gradway {

/// Adds to a graph the sides of kernels and collectives that slow each other. A side is added when it is
/// first asked for: one for each actor and slow-down (in steps of a thousandth). Where no contention was
/// measured, kernels lose the multiprocessors that collectives occupy, and nothing else.
class ContentionSides {
 public:
  /// @param precision of kernels whose footprint is unknown
  ContentionSides(Precision precision, int multiprocessors);

  /// @param actors simulated members of the communicator
  /// @return index of the side; `Op::absent` if its collectives occupy no multiprocessors
  std::uint32_t collective_side(OpGraph& graph, const Communicator& communicator,
                                const std::vector<std::uint32_t>& actors) const;
  /// The side of an actor's kernel. Among several communicators the one that slows it most counts.
  /// @param footprint if unknown, the kernel counts as a large one of the job's precision
  std::uint32_t kernel_side(OpGraph& graph, std::uint32_t actor, const std::optional<Footprint>& footprint,
                            const std::vector<const Communicator*>& communicators);

 private:
  struct Effect {
    int thousandths = 0;  ///< slow-down of the kernel
    bool holds = false;   ///< the kernel delays collectives (see Contender)
    bool is_none = true;
    auto operator<=>(const Effect&) const = default;
  };
  Effect effect_of(const Footprint& kernel, const Communicator& communicator) const;

  Footprint default_kernel_;
  int multiprocessors_;
  std::map<std::pair<const Communicator*, Footprint>, Effect> effects_;
  std::map<std::pair<std::uint32_t, Effect>, std::uint32_t> known_;
};

}  // namespace gradway
