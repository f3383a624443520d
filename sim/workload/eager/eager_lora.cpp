// SPDX-License-Identifier: Apache-2.0
// Frozen linear layers and their adapters.
#include <algorithm>
#include <utility>

#include "sim/workload/blocks.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {

bool Eager::is_in_block() const {
  return !block_name(layers_.back().name).empty();
}

/// A frozen weight has no gradient, so that x is not saved.
Tensor Eager::multiply_by_frozen(Tensor x, double m, std::int64_t inputs, std::int64_t outputs) {
  auto& layer = layers_.back();
  const auto weight = d(inputs * outputs);
  x = cast(x, half_number());
  if (is_quantised()) {
    layer.frozen.front().width = nf4_bytes;
    casts_ = dequantised(weight);
  }
  auto& at = node({x});
  at.is_product = layer.frozen.size() < 2;
  forward(product("nt", m, d(outputs), d(inputs)));
  if (of(x).needs_grad) {
    if (is_quantised()) at.backward = dequantised(weight);
    at.backward.push_back(product("nn", m, d(inputs), d(outputs)));
  }
  if (is_quantised()) at.temporary = at.temporary_backward = bytes_of(half_number()) * weight;
  const auto y = make(m * d(outputs), half_number(), true);
  const bool is_target =
      settings_.lora->targets == Lora::Targets::all_linear || layer.role == LayerRole::attention;
  return is_in_block() && is_target ? with_adapter(x, y, m, inputs, outputs) : y;
}

/// With fp32 adapters, PEFT's default, x is cast to fp32 first, and autocast casts it back. With 4-bit
/// weights, PEFT leaves casts to autocast and copies the result of the layer.
/// @source PEFT 0.17, tuners/lora/layer.py and bnb.py (forward): result + lora_B(lora_A(x)) * scaling
Tensor Eager::with_adapter(Tensor x, Tensor y, double m, std::int64_t inputs, std::int64_t outputs) {
  const auto& [rank, targets, quantised] = *settings_.lora;
  auto& layer = layers_.back();
  layer.parameters = {{layer.name + ".lora_A.weight", {rank, inputs}},
                      {layer.name + ".lora_B.weight", {outputs, rank}}};
  const auto elements = m * d(outputs);
  const auto number = half_number();
  if (quantised) {
    node({y});
    forward(stream("copy", number, elements));
    y = make(elements, number, true);
  } else if (casts()) {
    x = cast(x, Number::fp32);
  }
  auto z = multiply_by_weight(x, m, d(inputs), rank, false, false);
  z = multiply_by_weight(z, m, rank, d(outputs), false, false);
  const auto scaled = stream("scale", number, elements);
  auto& scaling = node({z});
  forward(scaled);
  scaling.backward.push_back(scaled);
  z = make(elements, number, true);
  node({y, z});
  forward(stream("add", number, elements));
  return make(elements, number, true);
}

/// Dequantises the scales, which are quantised, too, and adds their mean. Then expands 4 bits to 16.
/// @source bitsandbytes 0.47, functional.py (dequantize_4bit) and autograd/_functions.py (MatMul4Bit), which
/// do so before the product of each pass
std::vector<Operation> Eager::dequantised(double elements) const {
  const auto scales = stream("copy", Number::fp32, elements / nf4_block);
  return {scales, scales, fused((nf4_bytes + bytes_of(half_number())) * elements)};
}

void Eager::drop_frozen() {
  for (auto& at : nodes_) {
    if (!at.inputs.empty() || at.parameter_bytes > 0) continue;
    at.backward.clear();
    at.backward_exchanges.clear();
    at.temporary_backward = 0;
    at.saves.clear();
  }
  // Saved tensors are assigned again below. Those of node 0 are kept alive by the training loop instead.
  for (auto& info : tensors_)
    if (info.saved_for > 0) info.saved_for = -1;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const auto tensor : nodes_[n].saves) {
      if (of(tensor).storage < 0) continue;
      auto& kept_for = of({of(tensor).storage}).saved_for;
      if (kept_for < 0) kept_for = static_cast<std::int32_t>(n);
    }
  }
}

}  // namespace gradway
