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
  auto& at = node({x});
  save(x);
  forward(stream("mul", number, elements));  // reads two numbers and writes one
  constexpr double backward = 5.0 / 3;       // reads three, writes two
  at.backward.push_back(stream("mul", number, backward * elements));
  return make(elements, number, true);
}

/// Computes x cos + [-x2, x1] sin in the format of x, where x1 and x2 are the halves of a head, and joins the
/// result with the elements that are not rotated, also where there are none. The backward pass concatenates
/// the gradients of the halves. @source Megatron-Core, models/common/embeddings/rope_utils.py,
/// _apply_rotary_pos_emb_bshd at d98e8a64dd
Tensor Eager::megatron_rotary(const std::string& name, Tensor x, double factors) {
  open(name);
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  const auto all = [&](const char* what) { return stream(what, number, n); };
  const auto angles = stream("scale", Number::fp32, factors);
  const auto negated = stream("scale", number, n / 2);
  auto& at = node({x});
  for (int i = 0; i < 2; ++i) {  // cosines and sines, times a factor
    at.forward.insert(at.forward.end(), {angles, angles});
    if (number != Number::fp32) at.forward.push_back(stream("cast_to_16", Number::fp32, factors));
    save(make(factors, number, false));
  }
  at.forward.insert(at.forward.end(), {all("scale"), negated, all("permute"), all("scale"),
                                       stream("add", number, n), all("permute")});
  at.backward = {all("scale"), all("scale"), negated, all("permute"), all("add"), all("zero"), all("add")};
  at.temporary = at.temporary_backward = 2 * n * bytes_of(number);
  return make(n, number, true);
}

/// After the cast, all operations work in place on one fp32 tensor. The backward pass writes the gradient
/// into it, too, and autograd casts that to the format of the logits, which live until the loss is computed.
/// @param m number of rows
/// @source Megatron-Core at d98e8a64dd, tensor_parallel/cross_entropy.py and models/gpt/gpt_model.py
/// (_postprocess)
void Eager::vocabulary_parallel_cross_entropy(Tensor logits, double m) {
  const auto softmax = cast(logits, Number::fp32);
  const auto all = [&](const char* what) { return stream(what, Number::fp32, of(softmax).elements); };
  auto& at = node({softmax});
  // The maximum of each row; logits minus it; the targets' logits, in ten kernels; exponentials; their sum;
  // the loss, in two kernels; exponentials over their sum.
  const auto of_rows = stream("count", Number::fp32, m);
  at.forward = {all("amax"), all("broadcast")};
  at.forward.insert(at.forward.end(), 10, of_rows);
  at.forward.insert(at.forward.end(), {all("scale"), all("sum"), of_rows, of_rows, all("broadcast")});
  at.backward.assign(6, of_rows);  // one less at the targets
  at.backward.push_back(all("broadcast"));
  save(softmax);
  of(softmax).gradient_overwrites = true;
  of({of(logits).storage}).last_use = static_cast<std::int32_t>(nodes_.size()) - 1;
  const Bytes sent{m * fp32_bytes};
  constexpr std::size_t after_sum = 14;
  if (settings_.tensor > 1)  // maxima, the targets' logits, sums
    for (const std::size_t done : {std::size_t{1}, after_sum, after_sum})
      at.forward_exchanges.push_back({CollectiveKind::all_reduce, sent, done, done});
  make(1, Number::fp32, true);
}

}  // namespace gradway
