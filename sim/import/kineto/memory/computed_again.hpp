// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/import/kineto/read/steps.hpp"

namespace gradway {

/// Operations of a forward pass that autograd runs once more before their backward pass: a call of
/// torch.utils.checkpoint.
struct ComputedAgain {
  std::size_t first = 0;  ///< of the operations of the forward pass
  std::size_t end = 0;    ///< behind the last one
  std::vector<const TracedOperation*>
      again;                  ///< as they run in the backward pass, the outer before the inner
  bool is_reentrant = false;  ///< use_reentrant=True: autograd runs inside of a node
  Span backward;              ///< of the node in which they run again
  std::int64_t later = 0;     ///< by so much the numbers of nodes are higher when they run again
};

/// The calls of a step in the order of the forward pass. Reentrant ones are nodes of their own, which run the
/// operations and then autograd inside of themselves. The others run them when the first node of theirs asks
/// for what it kept, and stop as soon as all that was kept is there again; they are found in the forward pass
/// by the numbers of their nodes, which PyTorch counts by thread.
/// @param forward operations in the order of their start, the outer before the inner
/// @param autograd when it runs
/// @return nothing if operations of a forward pass run again and cannot be found in it
std::optional<std::vector<ComputedAgain>> computed_again(const Trace& trace, const TracedStep& step,
                                                         std::span<const TracedOperation* const> forward,
                                                         const Span& autograd);

/// Nodes of a step that are reentrant calls of torch.utils.checkpoint.
std::vector<const TracedOperation*> reentrant_nodes(const Trace& trace, const TracedStep& step);

/// Whether the operation is the backward pass of a node: autograd's call of it, or the node itself.
bool is_node(const Trace& trace, const TracedOperation& operation);

}  // namespace gradway
