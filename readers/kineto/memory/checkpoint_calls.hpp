// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "readers/kineto/read/steps.hpp"

namespace gradway {

/// A call of torch.utils.checkpoint: operations of a forward pass that autograd runs again before their
/// backward pass.
struct CheckpointCall {
  std::size_t first = 0;  ///< Index of the first operation, among those of the forward pass.
  std::size_t end = 0;    ///< One past the last operation.
  std::vector<const TracedOperation*> recomputed;  ///< As they run in the backward pass, outer before inner.
  bool is_reentrant = false;                       ///< use_reentrant=True: autograd runs inside of a node.
  Span backward;                                   ///< Time of the node in which the operations run again.
  /// Difference of the numbers of nodes between the second run and the first.
  std::int64_t number_offset = 0;
};

/// The calls of a step in the order of the forward pass. Reentrant calls are nodes of their own, which run
/// the operations and then autograd inside of themselves. The other calls run the operations when their first
/// node asks for what it kept, and stop as soon as all of it has been recomputed; they are found in the
/// forward pass by the numbers of their nodes, which PyTorch counts per thread.
/// @param forward operations in the order of their start, outer before inner
/// @param autograd when autograd runs
/// @return empty if operations of a forward pass run again and cannot be found in it
std::optional<std::vector<CheckpointCall>> checkpoint_calls(const Trace& trace, const TracedStep& step,
                                                            std::span<const TracedOperation* const> forward,
                                                            const Span& autograd);

/// Nodes of a step that are reentrant calls of torch.utils.checkpoint.
std::vector<const TracedOperation*> reentrant_nodes(const Trace& trace, const TracedStep& step);

/// Whether the operation is the backward pass of a node: autograd's call of it, or the node itself.
bool is_node(const Trace& trace, const TracedOperation& operation);

}  // namespace gradway
