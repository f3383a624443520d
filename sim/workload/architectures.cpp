// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/architectures.hpp"

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/workload/layers.hpp"

namespace gradway {
namespace {

struct BlockShape {
  std::int64_t tokens, hidden, mlp;
  bool causal = false;
  bool bias = true;
};

/// A pre-norm transformer block, in the order of its forward pass.
void add_block(std::vector<Layer>& model, const std::string& name, const BlockShape& shape) {
  const auto [tokens, hidden, mlp, causal, bias] = shape;
  model.push_back(layers::layer_norm(name + ".ln_1", tokens, hidden, bias));
  model.push_back(layers::linear(name + ".attention.in_proj", tokens, hidden, 3 * hidden, bias));
  model.push_back(layers::attention(name + ".attention.sdpa", tokens, hidden, causal));
  model.push_back(layers::linear(name + ".attention.out_proj", tokens, hidden, hidden, bias));
  model.push_back(layers::residual(name + ".attention.residual", tokens * hidden));
  model.push_back(layers::layer_norm(name + ".ln_2", tokens, hidden, bias));
  model.push_back(layers::linear(name + ".mlp.fc1", tokens, hidden, mlp, bias));
  model.push_back(layers::elementwise(name + ".mlp.gelu", tokens * mlp));
  model.push_back(layers::linear(name + ".mlp.fc2", tokens, mlp, hidden, bias));
  model.push_back(layers::residual(name + ".mlp.residual", tokens * hidden));
}

/// A post-norm block as BERT has it, query, key and value projected on their own.
void add_encoder_block(std::vector<Layer>& model, const std::string& name, const BlockShape& shape) {
  const auto [tokens, hidden, mlp, causal, bias] = shape;
  for (const auto* part : {"query", "key", "value"}) {
    model.push_back(layers::linear(fmt::format("{}.attention.{}", name, part), tokens, hidden, hidden, bias));
  }
  model.push_back(layers::attention(name + ".attention.scores", tokens, hidden, causal));
  model.push_back(layers::linear(name + ".attention.output", tokens, hidden, hidden, bias));
  model.push_back(layers::residual(name + ".attention.residual", tokens * hidden));
  model.push_back(layers::layer_norm(name + ".attention.norm", tokens, hidden, bias));
  model.push_back(layers::linear(name + ".intermediate", tokens, hidden, mlp, bias));
  model.push_back(layers::elementwise(name + ".gelu", tokens * mlp));
  model.push_back(layers::linear(name + ".output", tokens, mlp, hidden, bias));
  model.push_back(layers::residual(name + ".residual", tokens * hidden));
  model.push_back(layers::layer_norm(name + ".norm", tokens, hidden, bias));
}

/// What a plain network carries from layer to layer.
struct Activations {
  std::int64_t channels, height, width;
  std::int64_t elements() const { return channels * height * width; }
};

Layer plain_layer(const LayerShape& shape, Activations& at, bool first) {
  using Kind = LayerShape::Kind;
  const auto before = at;
  const auto shrink = [&](std::int64_t size) {
    const auto kernel = shape.kernel == 0 ? size : shape.kernel;
    expects(size + 2 * shape.padding >= kernel, "the kernel of a layer fits its input");
    return (size + 2 * shape.padding - kernel) / shape.stride + 1;
  };
  switch (shape.kind) {
    case Kind::conv2d:
      at = {shape.outputs, shrink(at.height), shrink(at.width)};
      return layers::conv2d(shape.name, {before.channels, at.channels, shape.kernel, at.height, at.width,
                                         before.height, before.width, shape.bias, first});
    case Kind::batch_norm:
      return layers::batch_norm(shape.name, at.elements(), at.channels);
    case Kind::relu:
      return layers::elementwise(shape.name, at.elements());
    case Kind::max_pool:
    case Kind::average_pool:
      at = {at.channels, shrink(at.height), shrink(at.width)};
      return layers::pool(shape.name, before.elements(), at.elements());
    case Kind::linear:
      at = {shape.outputs, 1, 1};
      return layers::linear(shape.name, 1, before.elements(), shape.outputs, shape.bias);
  }
  violate("the kind of a layer is known", std::source_location::current());
}

}  // namespace

std::vector<Layer> vision_transformer(const VisionTransformerShape& shape) {
  expects(shape.image_size % shape.patch_size == 0, "patches tile the image");
  const std::int64_t hidden = shape.hidden;
  const std::int64_t side = shape.image_size / shape.patch_size;
  const std::int64_t tokens = side * side + 1;
  std::vector<Layer> model;
  model.push_back(layers::conv2d("conv_proj", {3, hidden, shape.patch_size, side, side, shape.image_size,
                                               shape.image_size, true, true}));
  model.push_back(
      layers::added_parameters("embedding", tokens * hidden,
                               {{"class_token", {1, 1, hidden}}, {"pos_embedding", {1, tokens, hidden}}}));
  for (int i = 0; i < shape.layers; ++i) {
    add_block(model, fmt::format("encoder.{}", i), {tokens, hidden, shape.mlp});
  }
  model.push_back(layers::layer_norm("encoder.ln", tokens, hidden));
  model.push_back(layers::linear("head", 1, hidden, shape.classes));
  model.push_back(layers::cross_entropy("loss", 1, shape.classes));
  return model;
}

std::vector<Layer> decoder(const DecoderShape& shape) {
  const std::int64_t hidden = shape.hidden;
  const std::int64_t tokens = shape.sequence;
  std::vector<Layer> model;
  model.push_back(layers::embedding("wte", tokens, shape.vocabulary, hidden));
  model.push_back(layers::added_parameters("wpe", tokens * hidden, {{"wpe.weight", {tokens, hidden}}}));
  for (int i = 0; i < shape.layers; ++i) {
    add_block(model, fmt::format("h.{}", i), {tokens, hidden, shape.mlp, true, shape.bias});
  }
  model.push_back(layers::layer_norm("ln_f", tokens, hidden, shape.bias));
  auto output = layers::linear("lm_head", tokens, hidden, shape.vocabulary, false);
  if (shape.tied_output) output.parameters.clear();
  model.push_back(std::move(output));
  model.push_back(layers::cross_entropy("loss", tokens, shape.vocabulary));
  return model;
}

std::vector<Layer> encoder(const EncoderShape& shape) {
  expects(shape.sequence <= shape.positions, "every token has a position");
  const std::int64_t hidden = shape.hidden;
  const std::int64_t tokens = shape.sequence;
  std::vector<Layer> model;
  model.push_back(layers::embedding("embeddings.word", tokens, shape.vocabulary, hidden));
  model.push_back(layers::embedding("embeddings.position", tokens, shape.positions, hidden));
  model.push_back(layers::embedding("embeddings.type", tokens, shape.types, hidden));
  model.push_back(layers::layer_norm("embeddings.norm", tokens, hidden));
  for (int i = 0; i < shape.layers; ++i) {
    add_encoder_block(model, fmt::format("encoder.{}", i), {tokens, hidden, shape.mlp});
  }
  if (shape.pooler) model.push_back(layers::linear("pooler", 1, hidden, hidden));
  model.push_back(layers::linear("outputs", tokens, hidden, shape.outputs));
  model.push_back(layers::cross_entropy("loss", tokens, shape.outputs));
  return model;
}

std::vector<Layer> sequential(const ImageShape& input, const std::vector<LayerShape>& shapes) {
  Activations at{input.channels, input.height, input.width};
  std::vector<Layer> model;
  for (const auto& shape : shapes) model.push_back(plain_layer(shape, at, model.empty()));
  model.push_back(layers::cross_entropy("loss", 1, at.elements()));
  return model;
}

std::vector<Layer> synthetic(const std::vector<SyntheticLayer>& shapes) {
  std::vector<Layer> model;
  for (const auto& shape : shapes) {
    for (int i = 0; i < shape.repeat; ++i) {
      Layer layer;
      layer.name = shape.repeat == 1 ? shape.name : fmt::format("{}.{}", shape.name, i);
      if (shape.parameters > 0) layer.parameters = {{layer.name + ".weight", {shape.parameters}}};
      layer.forward.time = shape.forward;
      layer.backward.time = shape.backward;
      model.push_back(std::move(layer));
    }
  }
  return model;
}

}  // namespace gradway
