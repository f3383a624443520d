// SPDX-License-Identifier: Apache-2.0
// Attention, and how tensors come to it.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/workload/attention_choice.hpp"
#include "sim/workload/eager.hpp"

namespace gradway {

Tensor Eager::attention(const std::string& name, const std::vector<Tensor>& qkv, const Attention& shape) {
  expects(qkv.size() == 1 || qkv.size() == 3, "queries, keys and values come packed or apart");
  open(name);
  const auto number = of(qkv.front()).number;
  const auto batch = d(settings_.batch);
  const auto queries = batch * d(shape.heads * shape.tokens * shape.head_size);
  const auto how =
      settings_.attention != AttentionKernel::automatic
          ? settings_.attention
          : automatic_attention({settings_.precision, settings_.compute_capability, shape.head_size});
  head_sizes_.insert(shape.head_size);
  auto& at = qkv.size() == 1 ? node({qkv[0]}) : node({qkv[0], qkv[1], qkv[2]});
  for (const auto part : qkv) save(part);
  const auto out = make(queries, number, true);
  if (how == AttentionKernel::math) {
    math_attention(shape, number, out);
  } else {
    save(out);
    save(make(batch * d(shape.heads * shape.tokens), Number::fp32, false));  // logarithms of the sums
    constexpr std::array<std::string_view, 4> hows{"", "cudnn", "flash", "efficient"};
    const auto fused = [&](std::string_view direction) {
      return operation(fmt::format("attention_{} {} {} {}", direction, arithmetic(),
                                   hows[static_cast<std::size_t>(how)], shape.causal ? "causal" : "full"),
                       {batch, d(shape.heads), d(shape.tokens), d(shape.head_size), d(shape.kv_heads)});
    };
    forward(fused("forward"));
    at.backward.push_back(fused("backward"));
    if (how == AttentionKernel::flash && shape.kv_heads < shape.heads) {
      for (int i = 0; i < 2; ++i)
        at.backward.push_back(stream("sum", number, queries));  // of keys, of values
      at.temporary_backward = 2 * queries * bytes_of(number);
    }
  }
  if (qkv.size() == 1 && shape.splits) {
    const auto width = 3.0 * d(shape.heads * shape.head_size);
    at.backward.push_back(rows("cat", number, batch * d(shape.tokens), width));
  }
  at.result = out;
  return out;
}

/// Scores, their softmax and products with them, one after the other.
void Eager::math_attention(const Attention& shape, Number number, Tensor out) {
  const auto groups = d(shape.heads) * settings_.batch;
  const auto [tokens, size] = std::pair{d(shape.tokens), d(shape.head_size)};
  const auto scores = groups * tokens * tokens;
  const auto bytes = bytes_of(number);
  auto& at = nodes_.back();
  save(make(scores, number, false));  // the probabilities
  save(out);
  const auto batched = [&](const char* layout, double m, double n, double k) {
    return operation(fmt::format("batched_product {} {}", arithmetic(), layout), {groups, m, n, k});
  };
  forward(batched("nt", tokens, tokens, size));
  if (shape.causal) forward(stream("add", number, scores));
  forward(rows("softmax", number, groups * tokens, tokens));
  forward(batched("nn", tokens, size, tokens));
  at.backward = {batched("nn", tokens, size, tokens), batched("nt", tokens, tokens, size),
                 rows("softmax_backward", number, groups * tokens, tokens),
                 batched("nn", tokens, size, tokens), batched("nn", tokens, size, tokens)};
  at.temporary = bytes * scores;
  at.temporary_backward = 2 * bytes * scores;
}

Tensor Eager::rotary(const std::string& name, Tensor x, double factors) {
  open(name);
  const auto number = of(x).number;
  x = cast(x, Number::fp32);
  const auto elements = of(x).elements;
  const auto turn = operation("elementwise complex_mul fp32", {elements, factors});
  auto& at = node({x});
  forward(turn);
  at.backward.push_back(turn);
  return cast(make(elements, Number::fp32, true), number);
}

/// Counted in traces of vit_b_16 in bf16 and tf32. Sequences come first there, so much is copied into another
/// order.
Tensor Eager::unpack_heads(Tensor qkv) {
  const auto [elements, number] = std::pair{of(qkv).elements, of(qkv).number};
  const auto part = elements / 3;
  auto& at = node({qkv});
  forward(stream("permute", Number::fp32, part));
  forward(stream("permute", number, elements));  // the bias, added by itself
  forward(stream("permute", number, elements));
  const auto copies = [&](std::vector<Operation>& to, int count, Number of) {
    for (int i = 0; i < count; ++i) to.push_back(stream("permute", of, part));
  };
  copies(at.forward, is_half() ? 1 : 4, number);
  for (int i = 0; i < 3;
       ++i) {  // the gradient of each part, put into zeros of all three, which are then added
    at.backward.push_back(stream("zero", number, elements));
    at.backward.push_back(stream("copy", number, part));
    if (i > 0) at.backward.push_back(stream("add", number, elements));
  }
  at.backward.push_back(stream("permute", number, elements));
  copies(at.backward, is_half() ? 1 : 5, number);
  copies(at.backward, 4, Number::fp32);
  at.temporary_backward = elements * bytes_of(number);
  return make(elements, number, true);
}

}  // namespace gradway
