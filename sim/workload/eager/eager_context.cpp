// SPDX-License-Identifier: Apache-2.0
// Keys and values of all ranks of context parallelism: exchanges, and memory of attention by parts.
#include <utility>

#include "sim/workload/eager/eager.hpp"

namespace gradway {

/// Bytes of a rank's keys, and of its keys and values.
std::pair<Bytes, Bytes> Eager::keys_and_values(const Attention& shape, Number number) const {
  const auto heads = shape.kv_heads > 0 ? shape.kv_heads : shape.heads;
  const auto values = shape.value_size > 0 ? shape.value_size : shape.head_size;
  const Bytes column{settings_.batch * d(heads * shape.tokens) * bytes_of(number)};
  return {column * d(shape.head_size), column * d(shape.head_size + values)};
}

/// Gathers keys and values before both passes and reduce-scatters their gradients after the backward pass.
void Eager::gather_keys(Bytes keys, Bytes kv) {
  constexpr auto over = RankGroup::context;
  const auto ranks = settings_.context;
  auto& node = nodes_.back();
  for (const auto bytes : {keys, kv - keys}) {
    node.forward_exchanges.push_back({CollectiveKind::all_gather, bytes * ranks, 0, 0, over});
    node.backward_exchanges.push_back({CollectiveKind::all_gather, bytes * ranks, 0, 0, over});
  }
  const auto end = node.backward.size();
  for (const auto bytes : {keys, kv - keys})
    node.backward_exchanges.push_back({CollectiveKind::reduce_scatter, bytes * ranks, end, end, over});
}

/// PyTorch merges outputs and adds gradients in fp32, out of place. Forward: the merged output, the part's
/// output in 16 bits and in fp32, their difference, and that times a factor. Backward: the gradient of
/// queries before and after an addition, with the part's; those of keys and values of the part in 16 bits,
/// and in fp32 as received, as added and as sent.
/// @param there keys and values of other ranks and the buffer that is sent
/// @source torch/distributed/tensor/experimental/_context_parallel/_attention.py, PyTorch 2.10:
/// _SDPAMerger._merge_one, _templated_ring_attention_backward
void Eager::hold_parts(double there, double kv, double queries) {
  constexpr double wide = 2;  // fp32 tensors in units of their 16-bit size
  auto& node = nodes_.back();
  node.temporary = there + (4 * wide + 1) * queries;
  node.temporary_backward = there + (2 * wide + 1) * queries + (3 * wide + 1) * kv;
}

}  // namespace gradway
