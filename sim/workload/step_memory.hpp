// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// What is in the GPU's memory at each moment of a step beside parameters, optimizer and input: first of the
/// forward pass, then of the backward pass.
struct StepMemory {
  std::vector<Bytes>
      activations;               ///< with gradients of activations, 16-bit copies of weights and temporaries
  std::vector<Bytes> gradients;  ///< of parameters, as the backward pass makes them
  std::size_t forward = 0;       ///< so many of the moments are of the forward pass
  std::vector<std::int32_t> layers;  ///< by moment: whose it is; empty: not known
  std::vector<Bytes> lasting;        ///< by layer: there at every moment, in whichever micro-batch
  Bytes after_forward{};             ///< what the forward pass leaves to the backward pass
};

/// Bytes that come and go in a step: node n of the forward pass runs at moment n, its backward pass at
/// 2 nodes - 1 - n.
class MemoryTimeline {
 public:
  explicit MemoryTimeline(std::int32_t nodes);

  std::int32_t back(std::int32_t node) const { return 2 * nodes_ - 1 - node; }
  /// Moments before the first count as the first. @pre to < 2 nodes
  void hold(std::int32_t from, std::int32_t to, double bytes);
  /// A node's own passes: bytes that are there no longer than it runs.
  void pass(std::int32_t node, double forward, double backward);
  /// By moment.
  std::vector<double> sums() const;
  /// Bytes that are there from the forward into the backward pass.
  double after_forward() const { return after_forward_; }

 private:
  std::int32_t nodes_;
  std::vector<double> change_;
  double after_forward_ = 0;
};

}  // namespace gradway
