// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway {

/// GPU memory at each moment of a step, without parameters, optimizer and input. Moments of the forward pass
/// come first, then those of the backward pass.
struct StepMemory {
  /// By moment, with gradients of activations, 16-bit copies of weights and temporaries.
  std::vector<Bytes> activations;
  std::vector<Bytes> gradients;      ///< by moment: gradients of parameters
  std::size_t forward = 0;           ///< number of moments of the forward pass
  std::vector<std::int32_t> layers;  ///< by moment: its layer; empty: unknown
  std::vector<Bytes> lasting;        ///< by layer: memory that exists during all micro-batches
  /// By moment of the forward pass: what is held for the backward pass once it is over, without the tensors
  /// that it passes on.
  std::vector<Bytes> kept;
  std::vector<Bytes> passed_on;  ///< by moment of the forward pass: tensors that later ones read
  std::vector<Bytes> offloaded;  ///< by block: what waits in host memory; empty: nothing does
  std::vector<Bytes> evaluated;  ///< activations by moment of a forward pass without gradients
};

/// Memory over the moments of a step: node n runs at moment n, its backward pass at 2 nodes - 1 - n.
class MemoryTimeline {
 public:
  explicit MemoryTimeline(std::int32_t nodes);

  std::int32_t back(std::int32_t node) const { return 2 * nodes_ - 1 - node; }
  /// Adds bytes from one moment to another, both included. A negative `from` counts as 0.
  /// @pre until < 2 nodes
  void hold(std::int32_t from, std::int32_t until, double bytes);
  /// Adds bytes that exist only while a node runs forward or backward.
  void pass(std::int32_t node, double forward, double backward);
  /// Bytes by moment.
  std::vector<double> sums() const;
  /// Bytes by moment that the next one holds, too.
  std::vector<double> held_on() const;

 private:
  std::int32_t nodes_;
  std::vector<double> change_;
  std::vector<double> change_held_on_;
};

}  // namespace gradway
