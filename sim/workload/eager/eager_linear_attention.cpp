// SPDX-License-Identifier: Apache-2.0
// Linear attention.
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

/// Tokens whose updates of the state are computed together.
/// @source fla-org/flash-linear-attention, fla/ops/gated_delta_rule/chunk.py (chunk_size=64)
constexpr double chunk = 64;

}  // namespace

/// A causal depthwise convolution with SiLU, then the delta rule by chunks: products of keys with keys and
/// with queries, the inverse of a triangle, which turns keys and values into updates, and products with the
/// state. The backward pass computes the forward products again and two gradients for each.
/// @source Qwen3NextGatedDeltaNet in transformers, models/qwen3_next/modeling_qwen3_next.py;
///         Yang et al., Gated Delta Networks, arXiv 2412.06464, section 3.3
Tensor Eager::delta_net(const std::string& name, Tensor x, Tensor gates, const DeltaNet& shape) {
  const auto number = of(x).number;
  const auto n = of(x).elements;
  const auto channels = 2 * shape.key_heads * shape.key_size + shape.value_heads * shape.value_size;
  open(name + ".conv1d", {{name + ".conv1d.weight", {channels, 1, shape.kernel}}});
  auto& convolution = node({x});
  save(x);
  convolution.forward = {stream("permute", number, n), stream("silu", number, n)};
  convolution.backward = {stream("silu_backward", number, n),
                          rows("bias_sum", number, n / d(channels), d(channels)),
                          stream("permute", number, n)};
  add_parameter_gradient(convolution, d(channels * shape.kernel));
  const auto mixed = make(n, number, true);

  open(name, {{name + ".dt_bias", {shape.value_heads}}, {name + ".A_log", {shape.value_heads}}});
  const auto tokens = d(shape.tokens) * settings_.batch;
  const auto chunks = std::ceil(d(shape.tokens) / chunk) * settings_.batch * d(shape.value_heads);
  const auto out = tokens * d(shape.value_heads * shape.value_size);
  const auto [k, v] = std::pair{d(shape.key_size), d(shape.value_size)};
  const auto product = [&](const char* layout, double rows, double columns, double inner) {
    return operation(fmt::format("batched_product {} {}", arithmetic(), layout),
                     {chunks, rows, columns, inner});
  };
  auto& function = node({mixed, gates});
  save(mixed);
  save(gates);
  save(make(chunks * (k * v + chunk * chunk), number, false));           // a state and an inverse per chunk
  const std::vector<Operation> products{product("nt", chunk, chunk, k),  // keys with keys
                                        product("nn", chunk, chunk, chunk),  // the inverse
                                        product("nn", chunk, k, chunk),      // updates of keys
                                        product("nn", chunk, v, chunk),      // updates of values
                                        product("nn", chunk, v, k),          // what the state has of keys
                                        product("nn", k, v, chunk),          // the next state
                                        product("nt", chunk, chunk, k),      // queries with keys
                                        product("nn", chunk, v, chunk),      // their values
                                        product("nn", chunk, v, k)};         // what the state has of queries
  function.forward = {stream("scale", number, of(gates).elements)};
  function.forward.insert(function.forward.end(), products.begin(), products.end());
  for (int pass = 0; pass < 3; ++pass)
    function.backward.insert(function.backward.end(), products.begin(), products.end());
  function.backward.push_back(stream("scale", number, of(gates).elements));
  add_parameter_gradient(function, 2 * d(shape.value_heads));
  return make(out, number, true);
}

}  // namespace gradway
