// SPDX-License-Identifier: Apache-2.0
// Interactions of features in recommendation models.
#include <fmt/format.h>

#include "sim/workload/eager/eager.hpp"

namespace gradway {

/// Stacks the features, multiplies them with each other, picks the products below the diagonal by their
/// indices, and appends them to x. The gradient of the picked products is written into zeros; both operands
/// of the product get a gradient, which are added.
/// @source github.com/facebookresearch/dlrm, dlrm_s_pytorch.py, interact_features
Tensor Eager::dot_interaction(const std::string& name, Tensor x, std::int64_t features, std::int64_t width) {
  const auto role = std::exchange(role_, LayerRole::interaction);
  open(name);
  role_ = role;
  const double batch = settings_.batch;
  const auto number = of(x).number;
  const auto stacked = batch * d(features * width);
  const auto products = batch * d(features * features);
  const auto pairs = d(features * (features - 1) / 2);
  const auto multiply = [&](const char* layout, double n, double k) {
    return operation(fmt::format("batched_product {} {}", arithmetic(), layout), {batch, d(features), n, k});
  };
  auto& function = node({x});
  forward(rows("cat", number, batch, d(features * width)));
  forward(multiply("nt", d(features), d(width)));
  forward(stream("permute", number, batch * pairs));
  forward(rows("cat", number, batch, d(width) + pairs));
  function.backward = {stream("zero", number, products),       stream("permute", number, batch * pairs),
                       multiply("nn", d(width), d(features)),  multiply("tn", d(width), d(features)),
                       stream("add", number, stacked),         stream("copy", number, batch * d(width)),
                       stream("add", number, batch * d(width))};
  save(make(stacked, number, false));
  return make(batch * (d(width) + pairs), number, true);
}

void Eager::binary_cross_entropy(const std::string& name, Tensor logits) {
  open(name);
  logits = cast(logits, Number::fp32);
  const auto elements = of(logits).elements;
  auto& function = node({logits});
  save(logits);
  forward(stream("mul", Number::fp32, elements));
  forward(stream("sum", Number::fp32, elements));
  function.backward = {stream("scale", Number::fp32, elements), stream("mul", Number::fp32, elements)};
  make(1, Number::fp32, true);
}

}  // namespace gradway
