// SPDX-License-Identifier: Apache-2.0
// Launches of blocks as in traces of transformers 5.17 on an H100, 2026-11-24, PyTorch 2.11: the number of
// kernels between the attention kernels of two neighbouring blocks.
#include <cstdint>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/blocks.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

using Launches = std::pair<std::size_t, std::size_t>;

EagerSettings in_bf16() {
  return {.precision = Precision::bf16, .half_parameters = true, .hugging_face = true};
}
EagerSettings autocast() {
  return {.precision = Precision::bf16, .hugging_face = true};
}

EagerStep step_of(const ForwardPass& network, const EagerSettings& settings) {
  return eager_step(model_of(network), settings);
}

/// Launches of the second block, forward and backward.
Launches launches_of_block(const ForwardPass& network, const EagerSettings& settings) {
  const auto layers = layers_of(network, 0, false, {}, false, true);
  const auto step = step_of(network, settings);
  REQUIRE(layers.size() == step.layers.size());
  const auto blocks = blocks_of_layers(layers);
  Launches launches;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (blocks[i] != 1) continue;
    launches.first += step.layers[i].forward.size();
    launches.second += step.layers[i].backward.size();
  }
  return launches;
}

DecoderShape llama() {
  return {.layers = 3,
          .heads = 32,
          .hidden = 2048,
          .mlp = 8192,
          .vocabulary = 1000,
          .sequence = 2048,
          .bias = false,
          .kv_heads = 8,
          .norm = DecoderShape::Norm::rms_norm,
          .positions = DecoderShape::Positions::rotary,
          .activation = DecoderShape::Activation::swiglu};
}

double attention_flops(const EagerStep& step) {
  double flops = 0;
  for (const auto& layer : step.layers)
    for (const auto& one : layer.forward)
      if (one.family == KernelFamily::attention_forward) flops += one.flops.value();
  return flops;
}

double slowdown_of_attention(const EagerStep& step, KernelFamily family) {
  for (const auto& layer : step.layers)
    for (const auto* pass : {&layer.forward, &layer.backward})
      for (const auto& one : *pass)
        if (one.family == family) return one.slowdown;
  return 0;
}

}  // namespace

TEST_CASE("blocks launch the kernels that transformers launches") {
  // Backward: without the 4 further kernels of cuDNN's attention with grouped queries, else 2.
  CHECK(launches_of_block(decoder(llama()), in_bf16()) == Launches{38, 79 - 4});

  auto qwen = llama();
  qwen.heads = 14;
  qwen.kv_heads = 2;
  qwen.hidden = 896;
  qwen.qkv_bias = true;
  CHECK(launches_of_block(decoder(qwen), autocast()) == Launches{51, 101 - 4});

  auto phi3 = llama();
  phi3.kv_heads = 32;
  phi3.hidden = 3072;
  phi3.packed = DecoderShape::Packed::sliced;
  CHECK(launches_of_block(decoder(phi3), in_bf16()).first == 38);

  const DecoderShape gpt2{.layers = 3,
                          .heads = 16,
                          .hidden = 1024,
                          .mlp = 4096,
                          .activation = DecoderShape::Activation::gelu_new,
                          .dropout = true};
  // Forward: without the kernel that prepares cuDNN's random numbers. Backward: LayerNorms have two kernels,
  // which are one operation.
  CHECK(launches_of_block(decoder(gpt2), autocast()) == Launches{32 - 1, 51 - 2 - 2});

  const VisionTransformerShape vit{.layers = 3, .heads = 16, .hidden = 1024, .mlp = 4096};
  CHECK(launches_of_block(vision_transformer(vit), autocast()) == Launches{28, 48 - 2 - 2});
}

TEST_CASE("a window costs the keys that tokens read, or a mask in memory") {
  auto shape = llama();
  const auto all = attention_flops(step_of(decoder(shape), {.precision = Precision::bf16}));
  shape.window = 512;
  shape.full_every = 3;  // two of three layers have the window
  const auto share = (2048 * 512 - 512 * 512 / 2.0) / (2048 * 2048 / 2.0);
  CHECK(attention_flops(step_of(decoder(shape), {.precision = Precision::bf16})) ==
        Approx(all * (1 + 2 * share) / 3));
  // A kernel that reads a mask computes all scores, twice those of a causal one.
  const auto masked = step_of(decoder(shape), in_bf16());
  CHECK(attention_flops(masked) == Approx(all * (1 + 2 * 2) / 3));
  CHECK(slowdown_of_attention(masked, KernelFamily::attention_forward) == 1.8);
  shape.window = 4096;  // longer than the sample
  CHECK(attention_flops(step_of(decoder(shape), in_bf16())) == all);
}

TEST_CASE("dropout slows fused attention down, forward more than backward") {
  auto shape = llama();
  shape.dropout = true;
  const auto step = step_of(decoder(shape), in_bf16());
  CHECK(slowdown_of_attention(step, KernelFamily::attention_forward) == 2.3);
  CHECK(slowdown_of_attention(step, KernelFamily::attention_backward) == 1.28);
  shape.attention_dropout = false;
  CHECK(slowdown_of_attention(step_of(decoder(shape), in_bf16()), KernelFamily::attention_forward) == 1);
}

TEST_CASE("norms are before attention and MLP, after them, or both") {
  const auto norms = [](DecoderShape::NormPlacement placement) {
    auto shape = llama();
    shape.norm_placement = placement;
    int count = 0;
    for (const auto& layer : layers_of(decoder(shape)))
      for (const auto& parameter : layer.parameters) count += parameter.shape.size() == 1;
    return count;
  };
  using Placement = DecoderShape::NormPlacement;
  CHECK(norms(Placement::before) == 3 * 2 + 1);
  CHECK(norms(Placement::after) == 3 * 2 + 1);
  CHECK(norms(Placement::both) == 3 * 4 + 1);
}

TEST_CASE("a gated delta net takes time in proportion to the tokens") {
  const auto flops = [](int tokens) {
    auto shape = llama();
    shape.sequence = tokens;
    shape.linear = LinearAttention{};
    double sum = 0;
    for (const auto& layer : layers_of(decoder(shape)))
      if (layer.name.ends_with(".delta")) sum += layer.forward.flops_per_sample.value();
    return sum;
  };
  // Per chunk of 64 tokens and head: 64 x 64 products of keys, of queries, and with both; 64 x 128 x 128 with
  // the state, three times.
  const double per_chunk = 2.0 * (64 * 64 * (128 + 64 + 128 + 128 + 128 + 128) + 3 * 64 * 128 * 128);
  CHECK(flops(2048) == Approx(3 * 32 * (2048 / 64) * per_chunk));
  CHECK(flops(8192) == Approx(4 * flops(2048)));
}

TEST_CASE("transformers without a kernel for sinks computes attention in Python") {
  auto shape = llama();
  shape.sinks = true;
  CHECK(attention_flops(step_of(decoder(shape), in_bf16())) == 0);
  CHECK(attention_flops(step_of(decoder(shape), {.precision = Precision::bf16})) > 0);
  std::int64_t sinks = 0;
  for (const auto& layer : layers_of(decoder(shape)))
    for (const auto& parameter : layer.parameters)
      if (parameter.name.ends_with(".sinks")) sinks += parameter.elements();
  CHECK(sinks == 3 * 32);
}
