// SPDX-License-Identifier: Apache-2.0
// Exchanges between the ranks of tensor parallelism.
#include <algorithm>
#include <utility>

#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

bool is_product_alone(const Operation& operation) {
  return operation.family == KernelFamily::product;
}

}  // namespace

/// Splits a product into one product for the rows of each rank. @return their number
std::size_t Eager::split_product(std::vector<Operation>& operations, std::size_t product) const {
  auto piece = operations[product];
  auto size = piece.size;
  size[0] /= settings_.tensor;
  const bool of_parameters = piece.of_parameters;
  piece = operation(piece.kernel, size);
  piece.of_parameters = of_parameters;
  const auto ranks = static_cast<std::size_t>(settings_.tensor);
  operations[product] = piece;
  operations.insert(operations.begin() + static_cast<std::ptrdiff_t>(product), ranks - 1, piece);
  return ranks;
}

/// Transformer Engine's ring exchange: each rank multiplies its own rows first, and during each part of the
/// product the rows of another rank move on by one rank. PyTorch's async TP differs only in the rank that
/// rows are copied from.
/// @source transformer_engine/common/comm_gemm_overlap, CommOverlapP2PBase::split_overlap_ag;
/// torch/distributed/_symmetric_memory, _pipelined_multi_all_gather_and_consume
void Eager::overlap_gather(Pass pass, std::size_t product, Bytes gathered) {
  const auto ranks = split_product(pass.operations, product);
  for (std::size_t i = 0; i + 1 < ranks; ++i)
    pass.exchanges.push_back(
        {CollectiveKind::send_recv, gathered / settings_.tensor, product + i, product + i + 1});
}

/// Splits a product that reads a tensor which is gathered in pieces. PyTorch splits all such products; the
/// first one overlaps the copies. @pre the product is the last operation
void Eager::split_reader(Node& node, Tensor x) {
  auto& read = of(x);
  if (read.gathered_in_pieces == 0_B) return;
  const auto product = node.forward.size() - 1;
  if (std::exchange(read.is_gathered, true)) {
    split_product(node.forward, product);
  } else {
    overlap_gather({node.forward, node.forward_exchanges}, product, read.gathered_in_pieces);
  }
}

/// The reverse of `overlap_gather`: partial results for the rows of other ranks move on by one rank during
/// the next part of the product, to which they are added. @source
/// transformer_engine/common/comm_gemm_overlap, CommOverlapP2PBase::split_overlap_rs
void Eager::overlap_scatter(Pass pass, Bytes scattered) {
  const auto product = pass.operations.size() - 1;
  const auto ranks = split_product(pass.operations, product);
  for (std::size_t i = 0; i + 1 < ranks; ++i)
    pass.exchanges.push_back(
        {CollectiveKind::send_recv, scattered / settings_.tensor, product + i + 1, product + i + 2});
}

/// Megatron's LinearWithGradAccumulationAndAsyncCommunication: the input, of which each rank has kept its own
/// tokens, is gathered again during the product of its gradient. That gradient is reduced during the product
/// of the weight gradient, or before it.
void Eager::overlap_exchange(Node& node, std::size_t of_inputs, Bytes gathered, Bytes gradient) {
  const auto kind = settings_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  if (settings_.sequence_parallel) {
    const auto product = node.forward.size() - 1;  // after casts of the rank's own tokens
    const auto before = gathered == gradient ? 0 : product;
    if (settings_.sends_pieces) {
      overlap_gather({node.forward, node.forward_exchanges}, product, gathered);
    } else {
      node.forward_exchanges.push_back({CollectiveKind::all_gather, gathered, before, before});
    }
    node.backward_exchanges.push_back({CollectiveKind::all_gather, gathered, 0, of_inputs});
    node.temporary = std::max(node.temporary, gathered.value());
    node.temporary_backward = std::max(node.temporary_backward, gathered.value());
  }
  node.backward_exchanges.push_back(
      {kind, gradient, of_inputs, settings_.overlaps_gradients ? Exchange::next_layer : of_inputs});
}

/// NCCL gathers and scatters along the first dimension of a tensor, the samples; sequence parallelism needs
/// the second, the tokens. DTensor therefore copies gathered tensors, unless there is one sample, and tensors
/// that will be scattered.
/// @source torch/distributed/_functional_collectives.py, all_gather_tensor and reduce_scatter_tensor: cat of
///         chunks; trace of two H200 (own measurement, PyTorch 2.11): 98 gathers per step, each followed by a
///         copy, and 98 reduce-scatters, each preceded by a copy
void Eager::copy_gathered(std::vector<Operation>& pass, Number number, double elements) const {
  if (settings_.batch > 1) pass.push_back(stream(settings_.compiled ? "copy" : "permute", number, elements));
}

void Eager::copy_scattered(std::vector<Operation>& pass, Number number, double elements) const {
  constexpr double width = 1024;  // of little influence
  pass.push_back(settings_.compiled ? stream("copy", number, elements)
                                    : rows("cat", number, elements / width, width));
}

Tensor Eager::to_ranks(Tensor x) {
  if (settings_.tensor == 1) return x;
  const auto number = of(x).number;
  const auto elements = of(x).elements * (settings_.sequence_parallel ? settings_.tensor : 1);
  if (settings_.megatron) {
    const auto result = view(x, elements);
    of(result).sums_gradient = true;
    return result;
  }
  const Bytes bytes{elements * bytes_of(number)};
  auto& function = node({x});
  function.never_fuses = true;
  function.adds_gradients = settings_.compiled;
  if (!settings_.sequence_parallel) {
    function.backward_exchanges.push_back({CollectiveKind::all_reduce, bytes, 0, 0});
    return view(x, elements);
  }
  const bool in_fp8 = gathers_in_fp8();
  if (in_fp8) cast_to_fp8(function.forward, number, of(x).elements, 1);
  const auto gathered = in_fp8 ? bytes * (bytes_of(scaled_number()) / bytes_of(number)) : bytes;
  const auto cast = function.forward.size();
  if (!settings_.sends_pieces) {
    function.forward_exchanges.push_back({CollectiveKind::all_gather, gathered, cast, cast});
    copy_gathered(function.forward, in_fp8 ? Number::fp8 : number, elements);
    function.temporary = gathered.value();
  }
  // A sum of the gradients of several products precedes it, so that PyTorch's compiler does not split them.
  copy_scattered(function.backward, number, elements);
  function.backward_exchanges.push_back({CollectiveKind::reduce_scatter, bytes, 1, 1});
  function.temporary_backward = bytes.value();
  const auto result = make(elements, in_fp8 ? Number::fp8 : number, true);
  if (settings_.sends_pieces) of(result).gathered_in_pieces = gathered;
  return result;
}

Tensor Eager::from_ranks(Tensor x) {
  if (settings_.tensor == 1) return x;
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const Bytes bytes{elements * bytes_of(number)};
  const auto made = of(x).made;
  auto& function = node({x});
  if (!settings_.sequence_parallel) {
    function.forward_exchanges.push_back({CollectiveKind::all_reduce, bytes, 0, 0});
    return view(x, elements);
  }
  function.recomputed_operations = 0;
  function.never_fuses = true;
  const bool in_fp8 = gathers_in_fp8();
  // With scales per block the gradient is cast in both directions, and both casts are gathered.
  const bool twice = in_fp8 && has_block_scales(settings_.fp8->recipe);
  const auto gathered =
      in_fp8 ? bytes * ((twice ? 2 : 1) * bytes_of(scaled_number()) / bytes_of(number)) : bytes;
  if (twice) quantise(function.backward, number, elements / settings_.tensor, true);
  if (in_fp8 && !twice) cast_to_fp8(function.backward, number, elements / settings_.tensor, 1);
  auto& before = nodes_[static_cast<std::size_t>(std::max(made, 0))];
  const auto of_input = std::ranges::find_if(before.backward, is_product_alone);
  if (settings_.sends_pieces && before.result.id == x.id && is_product_alone(before.forward.back()) &&
      of_input != before.backward.end() && !of_input->of_parameters) {
    overlap_scatter({before.forward, before.forward_exchanges}, bytes);
    // PyTorch sums the received pieces at the end, Transformer Engine piece by piece.
    if (!settings_.megatron) before.forward.push_back(stream("sum", number, elements));
    overlap_gather({before.backward, before.backward_exchanges},
                   static_cast<std::size_t>(of_input - before.backward.begin()), gathered);
    return make(elements / settings_.tensor, number, true);
  }
  if (!settings_.megatron) copy_scattered(function.forward, number, elements);
  function.forward_exchanges.push_back(
      {CollectiveKind::reduce_scatter, bytes, function.forward.size(), function.forward.size()});
  const auto cast = function.backward.size();
  function.backward_exchanges.push_back({CollectiveKind::all_gather, gathered, cast, cast});
  if (!settings_.megatron) {
    copy_gathered(function.backward, in_fp8 ? Number::fp8 : number, elements);
    function.temporary = bytes.value();
    function.temporary_backward = gathered.value();
  }
  return make(elements / settings_.tensor, number, true);
}

}  // namespace gradway
