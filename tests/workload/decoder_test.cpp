// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

using Shape = DecoderShape;

/// A small decoder with distinct widths.
Shape small() {
  return {.layers = 2, .heads = 4, .hidden = 64, .mlp = 96, .vocabulary = 100, .sequence = 32};
}

std::int64_t parameters(const Shape& shape) {
  return model_of(decoder(shape)).parameter_count();
}

/// Number of parameters that a change of the shape adds.
template <class Change>
std::int64_t added_by(Shape shape, const Change& change) {
  const auto before = parameters(shape);
  change(shape);
  return parameters(shape) - before;
}

double forward_flops(const ForwardPass& run) {
  double sum = 0;
  for (const auto& layer : model_of(run).layers) sum += layer.forward.flops_per_sample.value();
  return sum;
}

double backward_flops(const ForwardPass& run) {
  double sum = 0;
  for (const auto& layer : model_of(run).layers) sum += layer.backward.flops_per_sample.value();
  return sum;
}

double bytes_kept(const ForwardPass& run) {
  const auto step = eager_step(model_of(run), {.precision = Precision::bf16});
  return step.memory.activations[step.memory.forward - 1].value();
}

Shape with_experts(const Experts& experts) {
  auto shape = small();
  shape.bias = false;
  shape.activation = Shape::Activation::swiglu;
  shape.experts = experts;
  return shape;
}

const LatentAttention latent{.q_rank = 24, .kv_rank = 16, .plain_head = 8, .rotary_head = 4, .value_head = 6};

Shape with_latent_attention(const LatentAttention& attention) {
  auto shape = small();
  shape.bias = false;
  shape.positions = Shape::Positions::rotary;
  shape.latent = attention;
  return shape;
}

}  // namespace

TEST_CASE("an encoder of sound has the parameters of Whisper's and of what joins its patches") {
  const std::int64_t width = 48;
  const std::int64_t mlp = 80;
  const std::int64_t block = 4 * width * width + 4 * width + 2 * width * mlp + mlp + width + 4 * width;
  const std::int64_t encoder =
      3 * width * 20 + width + 3 * width * width + width + 2 * block + 2 * width;  // two convolutions, norm
  const Tower tower{.layers = 2,
                    .heads = 4,
                    .hidden = 48,
                    .mlp = 80,
                    .patches = 40,
                    .patch_inputs = 20,
                    .join = 2,
                    .rotary = false};
  CHECK(added_by(small(), [&](Shape& s) { s.sound_tower = tower; }) == encoder + 2 * width * 64 + 64 * 64);
  CHECK(added_by(small(), [&](Shape& s) {
          s.sound_tower = tower;
          s.sound_tower->averaged = true;
        }) == encoder + width * 64 + 64);
}

TEST_CASE("a frozen tower runs forward only, and nothing of it is kept or recomputed") {
  const auto alone = decoder(small());
  auto shape = small();
  shape.tower = {.layers = 2, .heads = 4, .hidden = 48, .mlp = 80, .patches = 64, .patch_inputs = 12};
  const auto trained = decoder(shape);
  shape.tower->frozen = true;
  const auto frozen = decoder(shape);

  CHECK(model_of(frozen).parameter_count() == model_of(alone).parameter_count());
  CHECK(model_of(frozen).frozen_count() ==
        model_of(trained).parameter_count() - model_of(alone).parameter_count());
  CHECK(forward_flops(frozen) == forward_flops(trained));
  CHECK(backward_flops(frozen) == backward_flops(alone));
  CHECK(backward_flops(trained) > backward_flops(alone));
  CHECK(bytes_kept(frozen) == bytes_kept(alone));
  CHECK(bytes_kept(trained) > bytes_kept(alone));
  for (const auto recompute : {Recompute::none, Recompute::full}) {
    const auto model = model_of(frozen);
    const auto step = eager_step(model, {.precision = Precision::bf16, .recompute = recompute});
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      if (!model.layers[i].name.starts_with("tower.")) continue;
      CHECK(!step.layers[i].forward.empty());
      CHECK(step.layers[i].backward.empty());
    }
  }
}

TEST_CASE("each choice of a decoder adds its own parameters") {
  const int layers = 2;
  CHECK(added_by(small(), [](Shape& s) { s.qkv_bias = false; }) == -layers * 3 * 64);
  CHECK(added_by(small(), [](Shape& s) { s.attention_output_bias = false; }) == -layers * 64);
  CHECK(added_by(small(), [](Shape& s) { s.mlp_bias = false; }) == -layers * (96 + 64));
  CHECK(added_by(small(), [](Shape& s) { s.output_bias = true; }) == 100);
  CHECK(added_by(small(), [](Shape& s) { s.qk_norm = DecoderShape::QkNorm::heads; }) == layers * 2 * 16);
  CHECK(added_by(small(), [](Shape& s) { s.embedding_norm = true; }) == 2 * 64);
  CHECK(added_by(small(), [](Shape& s) { s.position_rows = 34; }) == 2 * 64);
  CHECK(added_by(small(), [](Shape& s) { s.positions = Shape::Positions::none; }) == -32 * 64);
  CHECK(added_by(small(), [](Shape& s) { s.pad_vocabulary_to = 64; }) == 2 * 28 * 64);
  CHECK(added_by(small(), [](Shape& s) { s.pad_vocabulary_to = 50; }) == 0);
  CHECK(added_by(small(), [](Shape& s) { s.head_size = 32; }) == layers * (4 * 64 * 64 + 3 * 64));
  CHECK(added_by(small(), [](Shape& s) { s.activation = Shape::Activation::geglu; }) ==
        layers * (64 * 96 + 96));
  CHECK(added_by(small(), [](Shape& s) { s.activation = Shape::Activation::relu; }) == 0);
  CHECK(added_by(small(), [](Shape& s) { s.blocks = Shape::Blocks::parallel; }) == 0);
  CHECK(added_by(small(), [](Shape& s) { s.blocks = Shape::Blocks::parallel_one_norm; }) == -layers * 2 * 64);
}

TEST_CASE("a decoder without biases has none in its norms either") {
  auto shape = small();
  shape.bias = false;
  shape.positions = GENERATE(Shape::Positions::learned, Shape::Positions::alibi);
  for (const auto& layer : model_of(decoder(shape)).layers) {
    for (const auto& parameter : layer.parameters) CHECK_FALSE(parameter.name.ends_with(".bias"));
  }
}

TEST_CASE("parallel blocks, norms and positions do not change the products") {
  const auto plain = forward_flops(decoder(small()));
  for (const auto blocks : {Shape::Blocks::parallel, Shape::Blocks::parallel_one_norm}) {
    auto shape = small();
    shape.blocks = blocks;
    shape.qk_norm = DecoderShape::QkNorm::heads;
    shape.positions = Shape::Positions::rotary;
    shape.rotary_size = 4;
    CHECK(forward_flops(decoder(shape)) == plain);
  }
}

TEST_CASE("rotary positions apply to a part of each head") {
  const auto turned = [](int size) {
    auto shape = small();
    shape.positions = Shape::Positions::rotary;
    shape.rotary_size = size;
    double elements = 0;
    for (const auto& layer : eager_step(model_of(decoder(shape)), {}).layers) {
      for (const auto& operation : layer.forward)
        if (operation.kernel == "elementwise complex_mul fp32") elements += operation.size[0];
    }
    return elements;
  };
  CHECK(turned(0) == 2 * 2 * 32 * 64);
  CHECK(turned(4) == turned(16) / 4);
}

TEST_CASE("the work of a token is that of its own experts for any number of experts") {
  const auto work = [](int number, int top_k) {
    return forward_flops(decoder(with_experts({.number = number, .top_k = top_k, .mlp = 48})));
  };
  const double router = 2.0 * 2 * 32 * 64;           // two layers, per token and expert
  const double expert = 2.0 * 2 * 32 * 3 * 64 * 48;  // two layers, three products per token
  CHECK(work(8, 2) - work(4, 2) == Approx(4 * router));
  CHECK(work(8, 3) - work(8, 2) == Approx(expert));

  // A single expert is an MLP with a router of one row.
  auto dense = with_experts({});
  dense.experts.reset();
  dense.mlp = 48;
  CHECK(work(1, 1) - forward_flops(decoder(dense)) == Approx(router));
  CHECK(parameters(with_experts({.number = 1, .top_k = 1, .mlp = 48})) - parameters(dense) == 2 * 64);
}

TEST_CASE("shared experts are an MLP, and the first layers may have no experts") {
  const Experts some{.number = 8, .top_k = 2, .mlp = 48};
  const auto more = [&](const auto& change) {
    auto experts = some;
    change(experts);
    return parameters(with_experts(experts)) - parameters(with_experts(some));
  };
  CHECK(more([](Experts& e) { e.shared = 2; }) == 2 * 3 * 64 * 96);
  CHECK(more([](Experts& e) { e.shared = 2, e.shared_gate = true; }) == 2 * (3 * 64 * 96 + 64));
  CHECK(more([](Experts& e) { e.router_bias = true; }) == 2 * 8);
  CHECK(more([](Experts& e) { e.dense_layers = 1; }) == 3 * 64 * 96 - 8 * 3 * 64 * 48 - 8 * 64);
}

TEST_CASE("layers of attention and of a mixture of experts have roles, others have none") {
  const auto model = model_of(decoder(with_experts({.number = 4, .top_k = 2, .mlp = 48, .shared = 1})));
  for (const auto& layer : model.layers) {
    const auto& name = layer.name;
    CAPTURE(name);
    const bool is_in_mixture = name.find(".experts.") != std::string::npos;
    const bool is_in_attention = name.find(".attention.") != std::string::npos &&
                                 !name.ends_with(".residual") && !name.ends_with(".dropout");
    CHECK(is_in_attention == (layer.role == LayerRole::attention));
    CHECK((is_in_mixture || is_in_attention) == (layer.role != LayerRole::other));
    CHECK(name.ends_with(".router") == (layer.role == LayerRole::router));
    CHECK(name.ends_with(".top_k") == (layer.role == LayerRole::top_k));
    CHECK(name.ends_with(".dispatch") == (layer.role == LayerRole::dispatch));
  }
}

TEST_CASE("experts' backward pass has twice the products of their forward pass") {
  const auto run = decoder(with_experts({.number = 4, .top_k = 2, .mlp = 48, .shared = 1}));
  const double attention = 2.0 * 0.5 * 4 * 32 * 32 * 64;  // its backward pass has 2.5 times as many
  CHECK(backward_flops(run) == Approx(2 * forward_flops(run) + 0.5 * attention));
}

TEST_CASE("autograd keeps the inputs of all experts of a token") {
  const auto kept = [](int top_k) {
    return bytes_kept(decoder(with_experts({.number = 8, .top_k = top_k, .mlp = 48})));
  };
  // For two layers and 32 tokens: rows in bf16, both halves of the first product, the activation, the input
  // of the second product, its result, its weighted result, which index_add saves, an fp32 share and an
  // index. Rows in fp32 are cast and not saved.
  const double of_an_expert = 2 * 32 * (2 * 64 + 2 * 2 * 48 + 2 * 48 + 2 * 48 + 2 * 2 * 64 + 4 + 8);
  CHECK(kept(3) - kept(2) == Approx(of_an_expert));
}

TEST_CASE("latent attention has the parameters and products of its low-rank tensors") {
  const double tokens = 32;
  // per layer: queries down and up, keys and values down and up, and output
  const int weights = 64 * 24 + 24 * 4 * 12 + 64 * (16 + 4) + 16 * 4 * (8 + 6) + 4 * 6 * 64;
  const auto shape = with_latent_attention(latent);
  auto other = shape;
  other.latent.reset();
  other.kv_heads = 1;
  const int of_other = 64 * 64 + 2 * 64 * 16 + 64 * 64;
  CHECK(parameters(shape) - parameters(other) == 2 * (weights + 24 + 16 - of_other));
  const double scores = 0.5 * 2 * tokens * tokens * 4;  // causal; per layer and element of a head
  CHECK(forward_flops(decoder(shape)) - forward_flops(decoder(other)) ==
        Approx(2 * (2 * tokens * (weights - of_other) + scores * (12 + 6 - 2 * 16))));

  auto lite = latent;
  lite.q_rank = 0;
  CHECK(parameters(shape) - parameters(with_latent_attention(lite)) ==
        2 * (64 * 24 + 24 + 24 * 48 - 64 * 48));
}

TEST_CASE("latent attention drops scores, too, of which it keeps the rest and a mask") {
  auto shape = with_latent_attention(latent);
  const auto kept = [&](bool dropout) {
    shape.attention_dropout = dropout;
    const auto step =
        eager_step(model_of(decoder(shape)),
                   {.precision = Precision::bf16, .attention = AttentionKernel::math, .megatron = true});
    return step.memory.activations[step.memory.forward - 1].value();
  };
  const double scores = 2 * 4 * 32.0 * 32;  // two layers of four heads
  CHECK(kept(true) - kept(false) == (2 + 1) * scores);
}

TEST_CASE(
    "tensor-parallel ranks share the heads of latent attention and compute latent vectors of own tokens") {
  auto shape = with_latent_attention(latent);
  shape.vocabulary = 256;  // which Megatron does not pad
  const auto products = [&](int ranks, bool sequence) {
    const auto step = eager_step(
        model_of(decoder(shape)),
        {.precision = Precision::bf16, .tensor = ranks, .sequence_parallel = sequence, .megatron = true});
    double flops = 0;
    for (const auto& layer : step.layers)
      for (const auto& operation : layer.forward)
        if (operation.kind == OperationClass::product) flops += operation.flops.value();
    return flops;
  };
  const double replicated = 2 * 2 * 32.0 * (64 * 24 + 64 * (16 + 4));  // two layers, 32 tokens
  CHECK(products(2, true) == Approx(products(1, false) / 2));
  CHECK(products(2, false) == Approx((products(1, false) + replicated) / 2));
}

TEST_CASE("only flash attention does not support values that are narrower than keys") {
  const AttentionCase wide{Precision::bf16, 80, {192, 128}};
  CHECK(attention_limitation(AttentionKernel::flash, wide) ==
        "needs values of as many elements as keys (192), not 128");
  CHECK(automatic_attention(wide) == AttentionKernel::efficient);
  CHECK(automatic_attention({Precision::bf16, 90, {192, 128}}) == AttentionKernel::cudnn);
  const auto step = eager_step(model_of(decoder(with_latent_attention(latent))),
                               {.precision = Precision::bf16, .attention = AttentionKernel::efficient});
  const auto found = std::ranges::find_if(step.layers, [](const auto& l) {
    return !l.forward.empty() && l.forward[0].kernel.starts_with("attention");
  });
  REQUIRE(found != step.layers.end());
  CHECK(found->forward[0].size[3] == 12);
  CHECK(found->forward[0].size[5] == 6);
}

TEST_CASE("T5's decoder attends to the encoder's tokens, and each stack trains one bias") {
  const EncoderDecoderShape shape{.layers = 2,
                                  .heads = 4,
                                  .head_size = 8,
                                  .hidden = 64,
                                  .mlp = 96,
                                  .vocabulary = 100,
                                  .sequence = 32,
                                  .target_sequence = 16};
  const auto model = model_of(encoder_decoder(shape));
  const int attention = 4 * 64 * 32 + 64;
  const int mlp = 2 * 64 * 96 + 64;
  CHECK(model.parameter_count() ==
        100 * 64 + 2 * (attention + mlp) + 2 * (2 * attention + mlp) + 2 * (32 * 4 + 64));
  // T5 materializes its scores to add the bias, on every GPU and in every precision.
  int products = 0;
  double scores = 0;
  for (const auto& layer : eager_step(model, {.precision = Precision::bf16}).layers) {
    for (const auto& operation : layer.forward) {
      CHECK_FALSE(operation.kernel.starts_with("attention"));
      if (operation.kernel != "batched_product fp32 nt") continue;
      ++products;
      scores += operation.size[1] * operation.size[2];
    }
  }
  CHECK(products == 3 * 2);
  CHECK(scores == 2 * (32.0 * 32 + 16 * 16 + 16 * 32));
  CHECK(attention_limitation(AttentionKernel::flash, {Precision::bf16, 90, {64, 64, true}}) ==
        "does not support a trained bias of the scores, which T5 has");
}
