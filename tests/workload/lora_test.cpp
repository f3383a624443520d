// SPDX-License-Identifier: Apache-2.0
// Fine-tuning with adapters: products, saved tensors and trained parameters.
#include <algorithm>
#include <numeric>
#include <string>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr int hidden = 64;
constexpr int mlp = 192;
constexpr int keys = 32;  // elements of all heads of keys
constexpr int tokens = 128;
constexpr int batch = 2;
constexpr int rank = 4;
constexpr double rows = batch * tokens;

DecoderShape small_llama(int layers) {
  return {.layers = layers,
          .heads = 4,
          .hidden = hidden,
          .mlp = mlp,
          .vocabulary = 1000,
          .sequence = tokens,
          .bias = false,
          .kv_heads = 2,
          .norm = DecoderShape::Norm::rms_norm,
          .positions = DecoderShape::Positions::rotary,
          .activation = DecoderShape::Activation::swiglu};
}

Lora lora_of(Lora::Targets targets = Lora::Targets::all_linear, bool quantised = false) {
  return {.rank = rank, .targets = targets, .quantised = quantised};
}

/// @param half adapters have 16 bits; else autocast casts them
EagerStep step_of(const DecoderShape& shape, const std::optional<Lora>& lora, bool half = true) {
  return eager_step(model_of(decoder(shape)),
                    {.batch = batch, .precision = Precision::bf16, .half_parameters = half, .lora = lora});
}

const LayerOperations& layer(const EagerStep& step, const std::vector<Layer>& layers,
                             const std::string& name) {
  const auto found = std::ranges::find(layers, name, &Layer::name);
  REQUIRE(found != layers.end());
  return step.layers[static_cast<std::size_t>(found - layers.begin())];
}

std::int64_t count_of(const std::vector<Operation>& operations, const std::string& kernel) {
  return std::ranges::count(operations, kernel, &Operation::kernel);
}

/// Number of such kernels in both passes.
std::int64_t count_in(const EagerStep& step, const std::string& kernel) {
  std::int64_t count = 0;
  for (const auto& one : step.layers) count += count_of(one.forward, kernel) + count_of(one.backward, kernel);
  return count;
}

/// Bytes that one more block saves for the backward pass.
double kept_by_block(const std::optional<Lora>& lora, bool half = true) {
  const auto kept = [&](int layers) {
    const auto step = step_of(small_llama(layers), lora, half);
    return step.memory.activations[step.memory.forward - 1].value();
  };
  return kept(3) - kept(2);
}

/// Elements of a block's adapters per rank.
constexpr double sides = 2 * (hidden + hidden) + 2 * (hidden + keys) + 3 * (hidden + mlp);

}  // namespace

TEST_CASE("adapters of rank 8 on Llama 3 8B have as many parameters as PEFT reports") {
  DecoderShape llama{.layers = 32, .heads = 32, .hidden = 4096, .mlp = 14336, .vocabulary = 128256};
  llama.kv_heads = 8;
  llama.bias = false;
  llama.norm = DecoderShape::Norm::rms_norm;
  llama.positions = DecoderShape::Positions::rotary;
  llama.activation = DecoderShape::Activation::swiglu;
  const auto model = [&](Lora::Targets targets, bool quantised) {
    Model of;
    of.layers = layers_of(decoder(llama), 0, false, Lora{8, targets, quantised});
    return of;
  };
  const auto all = model(Lora::Targets::all_linear, false);
  CHECK(all.frozen_count() == 8030261248);
  CHECK(all.parameter_count() == 20971520);
  CHECK(all.parameter_tensors() == 2 * 7 * 32);
  CHECK(all.frozen_size() == Bytes{2.0 * 8030261248});
  CHECK(model(Lora::Targets::attention, false).parameter_count() == 6815744);

  // 4.127 bits per weight of linear layers in blocks; embedding, head and norms keep 16 bits.
  const double linear = 32.0 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336.0);
  const auto nf4 = model(Lora::Targets::all_linear, true).frozen_size().value();
  CHECK(nf4 == Approx(linear * (4 + 0.125 + 32.0 / 16384) / 8 + 2 * (8030261248 - linear)).epsilon(1e-12));
}

TEST_CASE("with transformers, QLoRA keeps what is not quantised and hidden states in fp32",
          "[workload][lora]") {
  const auto step = [](bool hugging_face) {
    return eager_step(model_of(decoder(small_llama(2))), {.batch = batch,
                                                          .precision = Precision::bf16,
                                                          .lora = lora_of(Lora::Targets::attention, true),
                                                          .hugging_face = hugging_face});
  };
  const auto frozen_size = [&](bool hugging_face) {
    double size = 0;
    for (const auto& divided : step(hugging_face).of_rank)
      for (const auto& weight : divided.frozen) size += weight.size().value();
    return size;
  };
  // Embedding, head and five norms.
  const double kept = 2.0 * 1000 * hidden + 5 * hidden;
  CHECK(frozen_size(true) - frozen_size(false) == Approx((4 - 2) * kept));
  const auto outputs_of_block = [&](bool hugging_face) {
    const auto layers = layers_of(decoder(small_llama(2)), 0, false, lora_of(Lora::Targets::attention, true));
    return layer(step(hugging_face), layers, "h.0.mlp.residual").output.value();
  };
  CHECK(outputs_of_block(true) == 4 * rows * hidden);
  CHECK(outputs_of_block(false) == 2 * rows * hidden);
}

TEST_CASE("a frozen weight has no gradient, and no gradient flows below the first adapter") {
  const auto step = step_of(small_llama(2), lora_of());
  // Forward: one product per layer and two per adapter, 7 layers in 2 blocks; and the head.
  CHECK(count_in(step, "product bf16 nt") == 2 * 7 * 3 + 1);
  CHECK(count_in(step, "product bf16 tn") == 2 * 7 * 2);  // only for A and B
  // Backward: all 43 except for queries, keys and values of the first block, and their A.
  CHECK(count_in(step, "product bf16 nn") == 2 * 7 * 3 + 1 - 3 * 2);

  const auto layers = layers_of(decoder(small_llama(2)), 0, false, lora_of());
  CHECK(layer(step, layers, "wte").backward.empty());
  CHECK(layer(step, layers, "h.0.attention_norm").backward.empty());
  CHECK(layer(step, layers, "h.1.attention_norm").backward.size() ==
        2);  // of x, and its sum with that of the residual
  const auto& value = layer(step, layers, "h.0.attention.value");
  CHECK(count_of(value.backward, "product bf16 nn") == 1);
  CHECK(std::ranges::count(value.backward, true, &Operation::of_parameters) == 2);
}

TEST_CASE("with adapters in attention only, the MLP has one product forward and one backward") {
  const auto layers = layers_of(decoder(small_llama(2)), 0, false, lora_of(Lora::Targets::attention));
  const auto gate = std::ranges::find(layers, "h.1.mlp.gate", &Layer::name);
  CHECK(gate->parameters.empty());
  CHECK(gate->forward.flops_per_sample.value() == 2.0 * tokens * hidden * mlp);
  CHECK(gate->backward.flops_per_sample == gate->forward.flops_per_sample);
  const auto out = std::ranges::find(layers, "h.1.attention.out_proj", &Layer::name);
  const double adapter = 2.0 * tokens * rank * (hidden + hidden);
  CHECK(out->forward.flops_per_sample.value() == 2.0 * tokens * hidden * hidden + adapter);
  CHECK(out->backward.flops_per_sample.value() == 2.0 * tokens * hidden * hidden + 2 * adapter);
}

TEST_CASE("an adapter saves inputs that a frozen layer does not") {
  // In addition to adapters of attention: the input of gate and up, the input of the MLP's second product,
  // and the results of three A, in 16 bits.
  CHECK(kept_by_block(lora_of()) - kept_by_block(lora_of(Lora::Targets::attention)) ==
        2 * rows * (hidden + mlp + 3 * rank));
  // With all parameters trained, the same tensors are saved except for the results of A.
  CHECK(kept_by_block(lora_of()) - kept_by_block(std::nullopt) == 2 * rows * 7 * rank);
}

TEST_CASE("fp32 adapters under autocast save their own copies") {
  // Each A has its own copy of x: three copies instead of one for queries, keys and values, one more for the
  // output, two instead of one for gate and up, one for the last layer; and 16-bit copies of A and B.
  CHECK(kept_by_block(lora_of(), false) - kept_by_block(lora_of()) ==
        2 * rows * 4 * hidden + 2 * rank * sides);
  const auto step = step_of(small_llama(2), lora_of(), false);
  // Forward: x of 14 adapters, queries and keys for rotary positions, and the logits. Backward: 11 x that
  // need a gradient, gradients of queries and keys, and of 28 weights.
  CHECK(count_in(step, "elementwise cast_to_32 bf16") == 14 + 4 + 1 + 11 + 4 + 28);
  CHECK(step.memory.gradients.back() == Bytes{4.0 * 2 * rank * sides});
  CHECK(step_of(small_llama(2), lora_of()).memory.gradients.back() == Bytes{2.0 * 2 * rank * sides});
}

TEST_CASE("NF4 weights of blocks are dequantised to 16 bits before each product") {
  const auto shape = small_llama(2);
  const auto qlora = lora_of(Lora::Targets::all_linear, true);
  const auto layers = layers_of(decoder(shape), 0, false, qlora);
  const auto step = step_of(shape, qlora);
  const auto& fc2 = layer(step, layers, "h.1.mlp.fc2");
  const double weight = hidden * mlp;
  for (const auto* pass : {&fc2.forward, &fc2.backward}) {
    const auto product = std::ranges::find_if(*pass, [](const Operation& one) {
      return one.kind == OperationClass::product && one.size[0] == rows &&
             one.size[1] + one.size[2] == hidden + mlp;
    });
    REQUIRE(product - pass->begin() >= 3);
    CHECK((product - 1)->bytes.value() == Approx(weight * (qlora.nf4_bytes() + 2)));
    CHECK((product - 2)->bytes.value() == Approx(8 * weight / 64));
  }
  CHECK(count_in(step, "product bf16 nt") == 2 * 7 * 3 + 1);
  CHECK(count_of(layer(step, layers, "lm_head").forward, "elementwise copy fp32") == 0);
  // PEFT copies the result of a 4-bit layer.
  CHECK(count_of(fc2.forward, "elementwise copy bf16") == 1);
}

TEST_CASE("gradients of a fused loss overwrite the logits, with frozen layers, too", "[lora]") {
  const auto step = eager_step(model_of(decoder(small_llama(2))), {.batch = batch,
                                                                   .precision = Precision::bf16,
                                                                   .half_parameters = true,
                                                                   .lora = lora_of(),
                                                                   .fused_loss = true});
  // In the backward pass of the head, the gradient of its input replaces two numbers per row.
  const auto of_loss = step.memory.forward;
  CHECK(step.memory.activations[of_loss + 1] - step.memory.activations[of_loss] ==
        Bytes{2 * rows * hidden - 2 * 4 * rows});
}

// NVIDIA's LoRA of MLPerf training 5.1: frozen weights are in nvfp4 when they are loaded
// (PRE_QUANTIZED_MODEL).
TEST_CASE("frozen layers run two products in fp8 or nvfp4 and never cast their weights", "[lora][fp8]") {
  const auto recipe = GENERATE(Fp8Recipe::delayed, Fp8Recipe::nvfp4);
  const auto step =
      eager_step(model_of(decoder(small_llama(2))), {.batch = batch,
                                                     .precision = Precision::bf16,
                                                     .fp8 = Fp8{recipe, true},
                                                     .half_parameters = true,
                                                     .compute_capability = 100,
                                                     .lora = lora_of(Lora::Targets::attention)});
  const std::string product = recipe == Fp8Recipe::nvfp4 ? "product nvfp4 nt_fast" : "product fp8 nt_fast";
  const std::string cast =
      recipe == Fp8Recipe::nvfp4 ? "elementwise cast_nvfp4_rows bf16" : "elementwise cast_to_8 bf16";
  // Seven layers in a block; the first three of the first block need no gradient of their input.
  CHECK(count_in(step, product) == 2 * 7 * 2 - 3);
  CHECK(count_in(step, cast) == count_in(step, product));
  for (const auto& of : step.layers) CHECK(of.once.empty());
}

// Two bytes per element, and a byte per element of a mask.
TEST_CASE("adapters that drop inputs keep a mask and what is left", "[lora]") {
  auto drops = lora_of(Lora::Targets::query_value);
  drops.drops_inputs = true;
  const auto plain = kept_by_block(lora_of(Lora::Targets::query_value));
  CHECK(kept_by_block(drops) - plain == 2 * 3 * rows * hidden - 2 * rows * hidden);  // of queries and values
}

TEST_CASE("adapters of queries and values have two of attention's four layers", "[lora]") {
  const auto parameters = [](Lora::Targets targets) {
    double count = 0;
    for (const auto& layer_of_block : layers_of(decoder(small_llama(1)), 0, false, lora_of(targets)))
      count += static_cast<double>(layer_of_block.parameter_count());
    return count;
  };
  CHECK(parameters(Lora::Targets::query_value) == rank * (hidden + hidden) + rank * (hidden + keys));
  CHECK(parameters(Lora::Targets::attention) - parameters(Lora::Targets::query_value) ==
        rank * (hidden + keys) + rank * (hidden + hidden));
}

TEST_CASE("NF4 without double quantisation has a 32-bit scale per 64 weights", "[lora]") {
  Lora lora{.quantised = true};
  CHECK(lora.nf4_bytes() == Approx(0.515869140625));
  lora.double_quant = false;
  CHECK(lora.nf4_bytes() == 0.5625);
}

// The inputs of a block's layers: those of the query, key and value projections and of gate and up are one
// each; that of the output projection is saved by attention anyway.
TEST_CASE("4-bit layers of bitsandbytes before 0.43.3 keep their inputs", "[lora]") {
  auto keeps = lora_of(Lora::Targets::query_value, true);
  const auto plain = kept_by_block(keeps);
  keeps.keeps_inputs = true;
  CHECK(kept_by_block(keeps) - plain == 2 * rows * (hidden + mlp));
}

TEST_CASE("frozen RMSNorms of separate operations keep their input in fp32, and nothing for the weight",
          "[lora]") {
  const auto kept = [](bool composed, const std::optional<Lora>& lora) {
    const auto of_layers = [&](int layers) {
      const auto step = eager_step(model_of(decoder(small_llama(layers))), {.batch = batch,
                                                                            .precision = Precision::bf16,
                                                                            .half_parameters = true,
                                                                            .lora = lora,
                                                                            .composed_norms = composed});
      return step.memory.activations[step.memory.forward - 1].value();
    };
    return of_layers(3) - of_layers(2);
  };
  // Of two norms: fp32 instead of 16 bits, which the residual stream does not keep either.
  CHECK(kept(true, lora_of()) - kept(false, lora_of()) == 2 * (4 - 2) * rows * hidden);
  CHECK(kept(true, std::nullopt) - kept(false, std::nullopt) == 2 * (4 - 2 + 4) * rows * hidden);
}
