// SPDX-License-Identifier: Apache-2.0
// Operations of Megatron-Core's modules, with its fused kernels and without.
#include <utility>

#include "sim/workload/eager/eager.hpp"

namespace gradway {

Tensor Eager::add_bias(Tensor x) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  node({x});
  forward(stream("scale", number, elements));
  return make(elements, number, true);
}

Tensor Eager::gated_halves(const std::string& name, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements / 2, of(x).number};
  auto& function = node({x});
  save(x);
  if (layers_.back().role == LayerRole::experts && fuses_experts())
    return make(elements, scaled_number(), true);
  forward(stream("mul", number, elements));  // reads two numbers and writes one
  constexpr double backward = 5.0 / 3;       // reads three, writes two
  function.backward.push_back(stream("mul", number, backward * elements));
  return make(elements, number, true);
}

Tensor Eager::clamped_halves(Tensor x) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto joined = stream("copy", number, elements);
  const auto clamped = stream("scale", number, elements / 2);
  const auto of_clamped = stream("mul", number, elements / 2);  // where x is within the limits
  auto& function = node({x});
  save(x);
  function.forward = {clamped, clamped, joined};
  function.backward = {of_clamped, of_clamped, joined};
  return make(elements, number, true);
}

/// Computes x cos + [-x2, x1] sin in the format of x, where x1 and x2 are the halves of a head, and joins the
/// result with the elements that are not rotated, also where there are none. The backward pass concatenates
/// the gradients of the halves. @source Megatron-Core, models/common/embeddings/rope_utils.py,
/// _apply_rotary_pos_emb_bshd at d98e8a64dd
Tensor Eager::megatron_rotary(const std::string& name, Tensor x, double factors) {
  open(name);
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  const auto of_all = [&](const char* kernel) { return stream(kernel, number, n); };
  const auto angles = stream("scale", Number::fp32, factors);
  const auto negated = stream("scale", number, n / 2);
  auto& function = node({x});
  for (int i = 0; i < 2; ++i) {  // cosines and sines, times a factor
    function.forward.insert(function.forward.end(), {angles, angles});
    if (number != Number::fp32) function.forward.push_back(stream("cast_to_16", Number::fp32, factors));
    save(make(factors, number, false));
  }
  function.forward.insert(function.forward.end(),
                          {of_all("scale"), negated, of_all("permute"), of_all("scale"),
                           stream("add", number, n), of_all("permute")});
  function.backward = {of_all("scale"), of_all("scale"), negated,      of_all("permute"),
                       of_all("add"),   of_all("zero"),  of_all("add")};
  function.temporary = function.temporary_backward = 2 * n * bytes_of(number);
  return make(n, number, true);
}

/// After the cast, all operations work in place on one fp32 tensor. The backward pass writes the gradient
/// into it, too, and autograd casts that to the format of the logits, which live until the loss is computed.
/// @param m number of rows
/// @source Megatron-Core at d98e8a64dd, tensor_parallel/cross_entropy.py and models/gpt/gpt_model.py
/// (_postprocess)
void Eager::vocabulary_parallel_cross_entropy(Tensor logits, double m) {
  const auto softmax = cast(logits, Number::fp32);
  const auto of_all = [&](const char* kernel) { return stream(kernel, Number::fp32, of(softmax).elements); };
  auto& function = node({softmax});
  // The maximum of each row; logits minus it; the targets' logits, in ten kernels; exponentials; their sum;
  // the loss, in two kernels; exponentials over their sum.
  const auto of_rows = stream("count", Number::fp32, m);
  function.forward = {of_all("amax"), of_all("broadcast")};
  function.forward.insert(function.forward.end(), 10, of_rows);
  function.forward.insert(function.forward.end(),
                          {of_all("scale"), of_all("sum"), of_rows, of_rows, of_all("broadcast")});
  function.backward.assign(6, of_rows);  // one less at the targets
  function.backward.push_back(of_all("broadcast"));
  save(softmax);
  of(softmax).gradient_overwrites = true;
  of({of(logits).storage}).last_use = static_cast<std::int32_t>(nodes_.size()) - 1;
  const Bytes sent{m * fp32_bytes};
  constexpr std::size_t after_sum = 14;
  if (settings_.tensor > 1)  // maxima, the targets' logits, sums
    for (const std::size_t done : {std::size_t{1}, after_sum, after_sum})
      function.forward_exchanges.push_back({CollectiveKind::all_reduce, sent, done, done});
  make(1, Number::fp32, true);
}

}  // namespace gradway
