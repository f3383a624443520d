// SPDX-License-Identifier: Apache-2.0
// What the ranks that share layers send each other.
#include <algorithm>
#include <utility>

#include "sim/workload/eager.hpp"

namespace gradway {

/// Megatron's LinearWithGradAccumulationAndAsyncCommunication: the input, of which only the own tokens were
/// kept, is gathered again beside the product that makes its gradient; that gradient is summed beside the
/// product that makes the weight's.
void Eager::exchange_beside(Node& at, std::size_t of_inputs, Bytes bytes) {
  const auto kind = settings_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  if (settings_.sequence_parallel) {
    at.forward_exchanges.push_back({CollectiveKind::all_gather, bytes, 0, 0});
    at.backward_exchanges.push_back({CollectiveKind::all_gather, bytes, 0, of_inputs});
    at.temporary = std::max(at.temporary, bytes.value());
    at.temporary_backward = std::max(at.temporary_backward, bytes.value());
  }
  at.backward_exchanges.push_back({kind, bytes, of_inputs, Exchange::next_layer});
}

Tensor Eager::to_ranks(Tensor x) {
  if (settings_.tensor == 1) return x;
  const auto number = of(x).number;
  const auto elements = of(x).elements * (settings_.sequence_parallel ? settings_.tensor : 1);
  if (settings_.megatron) {
    const auto whole = view(x, elements);
    of(whole).is_of_ranks = true;
    return whole;
  }
  const Bytes bytes{elements * bytes_of(number)};
  auto& at = node({x});
  if (!settings_.sequence_parallel) {
    at.backward_exchanges.push_back({CollectiveKind::all_reduce, bytes, 0, 0});
    return view(x, elements);
  }
  at.forward_exchanges.push_back({CollectiveKind::all_gather, bytes, 0, 0});
  at.backward_exchanges.push_back({CollectiveKind::reduce_scatter, bytes, 0, 0});
  return make(elements, number, true);
}

Tensor Eager::from_ranks(Tensor x) {
  if (settings_.tensor == 1) return x;
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const Bytes bytes{elements * bytes_of(number)};
  auto& at = node({x});
  if (!settings_.sequence_parallel) {
    at.forward_exchanges.push_back({CollectiveKind::all_reduce, bytes, 0, 0});
    return view(x, elements);
  }
  at.runs_again = 0;
  at.forward_exchanges.push_back({CollectiveKind::reduce_scatter, bytes, 0, 0});
  at.backward_exchanges.push_back({CollectiveKind::all_gather, bytes, 0, 0});
  return make(elements / settings_.tensor, number, true);
}

}  // namespace gradway
