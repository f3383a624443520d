// SPDX-License-Identifier: Apache-2.0
// Frozen linear layers and their adapters.
#include <algorithm>
#include <array>
#include <utility>

#include "sim/workload/blocks.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {

/// Frozen parameters have 16 bits. QLoRA in transformers casts those that are not quantised to fp32, so that
/// hidden states are in fp32, too.
/// @source PEFT 0.17, utils/other.py (prepare_model_for_kbit_training), which trl, LLaMA-Factory and axolotl
///         call; torchtune does not
Number Eager::parameter_number() const {
  const bool is_prepared = settings_.lora && settings_.lora->quantised && is_hugging_face() && casts();
  return settings_.lora && !is_prepared ? half_number() : trained_number();
}

bool Eager::is_in_block() const {
  return !block_name(layers_.back().name).empty();
}

/// Exchanges of a frozen layer whose outputs are split over the ranks: the input is gathered before the
/// product, and its gradient is reduced after the product. No weight gradient overlaps the reduction.
/// @source Megatron-Core, tensor_parallel/layers.py, LinearWithFrozenWeight; Transformer Engine's Linear
void Eager::exchange_of_frozen(Node& node, Tensor x, Bytes gathered, Bytes gradient) {
  if (!of(x).sums_gradient) return;
  if (settings_.sequence_parallel) {
    const auto product = node.forward.size() - 1;
    if (settings_.sends_pieces) {
      overlap_gather({node.forward, node.forward_exchanges}, product, gathered);
    } else {
      node.forward_exchanges.push_back({CollectiveKind::all_gather, gathered, product, product});
    }
    node.temporary = std::max(node.temporary, gathered.value());
  }
  const auto end = node.backward.size();
  const auto kind = settings_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  node.backward_exchanges.push_back({kind, gradient, end, end});
}

/// Layers with 4-bit weights deliver the format of their input (bitsandbytes 0.47, nn/modules.py,
/// Linear4bit). A frozen weight has no gradient, so that x is not saved. In fp8 or nvfp4 the weight was cast
/// when it was loaded, and operands are cast for two products only. Before bitsandbytes 0.43.3, Linear4bit
/// kept x all the same (autograd/_functions.py, MatMul4Bit; pull request 1270).
Tensor Eager::multiply_by_frozen(Tensor x, double m, std::int64_t inputs, std::int64_t outputs, Split split) {
  auto& layer = layers_.back();
  const auto weight = d(inputs * outputs);
  const bool in_fp8 = runs_in_fp8();
  const bool is_prepared = parameter_number() == Number::fp32;
  const auto delivered = is_prepared ? of(x).number : half_number();
  x = cast(x, half_number());
  if (is_quantised()) {
    layer.frozen.front().width = settings_.lora->nf4_bytes();
    casts_ = dequantised(weight);
  } else if (is_prepared) {
    casts_ = {stream("cast_to_16", Number::fp32, weight)};  // autocast keeps copies of trained weights only
  }
  auto& function = node({x});
  if (is_quantised() && settings_.lora->keeps_inputs) save(x);
  function.is_product = layer.frozen.size() < 2;
  const LinearShape shape{m, d(inputs), d(outputs)};
  const auto read = m * d(inputs);
  if (in_fp8) {
    layer.frozen.front().width = bytes_of(scaled_number()) * (keeps_transposes() ? 2 : 1);
    const bool gathers = of(x).sums_gradient && settings_.sequence_parallel;
    quantise(function.forward, half_number(), gathers ? read / settings_.tensor : read, false);
    forward(product_in_fp8(FromFp8::output, shape, m, d(outputs), d(inputs)));
  } else {
    forward(product("nt", m, d(outputs), d(inputs)));
  }
  if (of(x).needs_grad) {
    if (is_quantised()) function.backward = dequantised(weight);
    const bool is_gathered = split == Split::inputs && gathers_in_fp8();
    if (in_fp8 && !is_gathered) quantise(function.backward, half_number(), m * d(outputs), false);
    function.backward.push_back(in_fp8
                                    ? product_in_fp8(FromFp8::input_gradient, shape, m, d(inputs), d(outputs))
                                    : product("nn", m, d(inputs), d(outputs)));
  }
  const auto sent = bytes_of(in_fp8 ? scaled_number() : half_number());
  exchange_of_frozen(function, x, Bytes{read * sent}, Bytes{read * bytes_of(half_number())});
  if (is_quantised()) function.temporary = function.temporary_backward = bytes_of(half_number()) * weight;
  const auto y = make(m * d(outputs), half_number(), true);
  const auto adapted =
      is_in_block() && !is_frozen_ && has_adapter(layer) ? with_adapter(x, y, m, inputs, outputs, split) : y;
  return is_quantised() ? cast(adapted, delivered) : adapted;
}

/// Projections of queries and values alone, or one of queries, keys and values.
/// @source PEFT 0.17, utils/constants.py (TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING)
bool Eager::has_adapter(const Layer& layer) const {
  const auto targets = settings_.lora->targets;
  if (targets == Lora::Targets::all_linear) return true;
  if (targets == Lora::Targets::attention) return layer.role == LayerRole::attention;
  return std::ranges::any_of(std::array{".query", ".value", ".in_proj"},
                             [&](const char* suffix) { return layer.name.ends_with(suffix); });
}

/// With fp32 adapters, PEFT's default, x is cast to fp32 first, and autocast casts it back. With 4-bit
/// weights, PEFT leaves casts to autocast and copies the result of the layer.
/// @source PEFT 0.17, tuners/lora/layer.py and bnb.py (forward): result + lora_B(lora_A(x)) * scaling
/// Of a layer that tensor ranks divide, the adapter has the rank's part of B if outputs are split, and of A
/// if inputs are, whose small results are then summed.
Tensor Eager::with_adapter(Tensor x, Tensor y, double m, std::int64_t inputs, std::int64_t outputs,
                           Split split) {
  const auto rank = settings_.lora->rank;
  auto& layer = layers_.back();
  layer.parameters = {{layer.name + ".lora_A.weight", {rank, inputs}},
                      {layer.name + ".lora_B.weight", {outputs, rank}}};
  const auto elements = m * d(outputs);
  const auto number = half_number();
  if (settings_.lora->quantised) {
    node({y});
    forward(stream("copy", number, elements));
    y = make(elements, number, true);
  } else if (casts()) {
    x = cast(x, Number::fp32);
  }
  if (of(x).sums_gradient) x = view(x, of(x).elements);  // the layer itself gathers and reduces
  if (settings_.lora->drops_inputs) x = dropped(x);
  auto z = multiply_by_weight(x, m, d(inputs), rank, false, false);
  if (split == Split::inputs && settings_.tensor > 1)
    z = exchanged(z, of(z).elements, CollectiveKind::all_reduce, CollectiveKind::all_reduce,
                  RankGroup::tensor);
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

/// Dequantises the scales if they are quantised, too, and adds their mean. Then expands 4 bits to 16.
/// @source bitsandbytes 0.47, functional.py (dequantize_4bit) and autograd/_functions.py (MatMul4Bit), which
/// do so before the product of each pass
std::vector<Operation> Eager::dequantised(double elements) const {
  const auto& lora = *settings_.lora;
  if (in_module_ && runs_in_tiles(RecomputedModule::mlp)) elements *= settings_.mlp_tiles;  // for each tile
  const auto expanded = fused((lora.nf4_bytes() + bytes_of(half_number())) * elements);
  if (!lora.double_quant) return {expanded};
  const auto scales = stream("copy", Number::fp32, elements / Lora::nf4_block);
  return {scales, scales, expanded};
}

Tensor Eager::without_gradients(const std::function<Tensor()>& part) {
  const auto first_node = nodes_.size();
  is_frozen_ = true;
  const auto result = part();
  is_frozen_ = false;
  for (auto n = first_node; n < nodes_.size(); ++n) nodes_[n].parameter_bytes = 0;
  return result;
}

void Eager::drop_frozen() {
  for (auto& node : nodes_) {
    if (!node.inputs.empty() || node.parameter_bytes > 0) continue;
    node.backward.clear();
    node.backward_exchanges.clear();
    node.temporary_backward = 0;
    node.saves.clear();
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
