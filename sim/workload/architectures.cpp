// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/architectures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

/// A post-norm block of BERT with separate projections of query, key and value, and with dropout.
Tensor encoder_block(Eager& run, const std::string& name, Tensor x, const EncoderShape& shape) {
  const auto tokens = run.tokens(shape.sequence);
  const auto hidden = shape.hidden;
  auto residual = x;
  std::vector<Tensor> qkv;
  for (const auto* projection : {"query", "key", "value"})
    qkv.push_back(run.linear(fmt::format("{}.attention.{}", name, projection), x, tokens, hidden, hidden));
  x = run.attention(name + ".attention.scores", qkv,
                    {.heads = shape.heads,
                     .kv_heads = shape.heads,
                     .tokens = tokens,
                     .head_size = hidden / shape.heads,
                     .dropout = run.is_hugging_face()});
  x = run.linear(name + ".attention.output", x, tokens, hidden, hidden);
  x = run.dropout(name + ".attention.dropout", x);
  x = run.add(name + ".attention.residual", x, residual);
  x = run.layer_norm(name + ".attention.norm", x, tokens, hidden);
  residual = x;
  x = run.linear(name + ".intermediate", x, tokens, hidden, shape.mlp);
  x = run.activation(name + ".gelu", "gelu", x);
  x = run.linear(name + ".output", x, tokens, shape.mlp, hidden);
  x = run.dropout(name + ".dropout", x);
  x = run.add(name + ".residual", x, residual);
  return run.layer_norm(name + ".norm", x, tokens, hidden);
}

/// The activations between two layers of a plain network.
struct Activations {
  Tensor tensor;
  std::int64_t channels, height, width;
  std::int64_t elements() const { return channels * height * width; }
};

void plain_layer(Eager& run, const LayerShape& shape, Activations& activations) {
  using Kind = LayerShape::Kind;
  const auto before = activations;
  const auto shrink = [&](std::int64_t size) {
    const auto kernel = shape.kernel == 0 ? size : shape.kernel;
    expects(size + 2LL * shape.padding >= kernel, "the kernel of a layer must fit its input");
    return (size + 2LL * shape.padding - kernel) / shape.stride + 1;
  };
  switch (shape.kind) {
    case Kind::conv2d:
      activations.tensor =
          run.conv2d(shape.name, activations.tensor,
                     {before.channels, shape.outputs, shape.kernel, shape.stride, shape.padding, before.width,
                      shape.bias, 1, static_cast<double>(before.height)});
      activations = {activations.tensor, shape.outputs, shrink(before.height), shrink(before.width)};
      return;
    case Kind::batch_norm:
      activations.tensor =
          run.batch_norm(shape.name, activations.tensor, activations.channels,
                         std::sqrt(static_cast<double>(activations.height * activations.width)));
      return;
    case Kind::relu:
      activations.tensor = run.relu(shape.name, activations.tensor);
      return;
    case Kind::max_pool:
    case Kind::average_pool:
      activations = {activations.tensor, activations.channels, shrink(activations.height),
                     shrink(activations.width)};
      activations.tensor =
          shape.kind == Kind::max_pool
              ? run.max_pool(shape.name, activations.tensor, activations.channels,
                             static_cast<double>(before.width), static_cast<double>(activations.elements()))
              : run.mean(shape.name, activations.tensor, static_cast<double>(activations.elements()));
      return;
    case Kind::linear:
      activations = {
          run.linear(shape.name, activations.tensor, 1, before.elements(), shape.outputs, shape.bias),
          shape.outputs, 1, 1};
      return;
  }
  violate("unknown kind of layer", std::source_location::current());
}

Tensor conv_next_block(Eager& run, const std::string& name, Tensor x, std::int64_t channels,
                       std::int64_t side) {
  const auto residual = x;
  const auto pixels = side * side;
  x = run.conv2d(name + ".conv", x,
                 {.in_channels = channels,
                  .out_channels = channels,
                  .kernel = 7,
                  .stride = 1,
                  .padding = 3,
                  .side = side,
                  .groups = channels,
                  .channels_last = true});
  x = run.layer_norm(name + ".norm", x, pixels, channels);
  x = run.linear(name + ".fc1", x, pixels, channels, 4 * channels);
  x = run.activation(name + ".gelu", "gelu", x);
  x = run.linear(name + ".fc2", x, pixels, 4 * channels, channels);
  x = run.layer_scale(name + ".layer_scale", x, channels);
  x = run.scale(name + ".stochastic_depth", x);
  return run.add(name + ".residual", x, residual);
}

}  // namespace

std::vector<Layer> layers_of(const ForwardPass& network, int sequence, bool megatron,
                             const std::optional<Lora>& lora, bool compiled, bool hugging_face,
                             Fusions fusions) {
  Eager eager{{.sequence = sequence,
               .precision = lora ? Precision::bf16 : Precision::fp32,
               .lora = lora,
               .compiled = compiled,
               .hugging_face = hugging_face,
               .megatron = megatron,
               .fusions = fusions}};
  network(eager);
  eager.finish();
  auto layers = eager.take_layers();
  const auto work = [](const std::vector<Operation>& operations) {
    Work sum;
    for (const auto& operation : operations) sum.flops_per_sample += operation.flops;
    sum.kernels = static_cast<int>(operations.size());
    return sum;
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].forward = work(eager.operations()[i].forward);
    layers[i].backward = work(eager.operations()[i].backward);
  }
  return layers;
}

std::set<AttentionHead> attention_heads_of(const ForwardPass& network) {
  Eager eager{{}};
  network(eager);
  return eager.attention_heads();
}

namespace {

/// Whether a forward pass launches a kernel of this family and name; "": of any name.
bool launches(const ForwardPass& network, KernelFamily family, std::string_view name) {
  Eager eager{{}};
  network(eager);
  eager.finish();
  return std::ranges::any_of(eager.operations(), [&](const LayerOperations& layer) {
    return std::ranges::any_of(layer.forward, [&](const Operation& operation) {
      return operation.family == family && (name.empty() || operation.what == name);
    });
  });
}

}  // namespace

bool has_rms_norm_kernels(const ForwardPass& network) {
  return launches(network, KernelFamily::rows, "rms_norm");
}

bool has_convolutions(const ForwardPass& network) {
  return launches(network, KernelFamily::convolution, "");
}

bool has_attention(const ForwardPass& network) {
  return !attention_heads_of(network).empty();
}

void set_forward_pass(Model& model, ForwardPass run) {
  model.layers = layers_of(run);
  model.run = std::move(run);
}

ForwardPass vision_transformer(const VisionTransformerShape& shape) {
  expects(shape.image_size % shape.patch_size == 0, "the image size must be a multiple of the patch size");
  return [shape](Eager& run) {
    const std::int64_t hidden = shape.hidden;
    const std::int64_t side = shape.image_size / shape.patch_size;
    const std::int64_t tokens = side * side + 1;
    auto x = run.input(3.0 * shape.image_size * shape.image_size);
    x = run.conv2d("conv_proj", x, {3, hidden, shape.patch_size, shape.patch_size, 0, shape.image_size});
    x = run.class_token("embedding", x, tokens, hidden);
    for (int i = 0; i < shape.layers; ++i) {
      const auto name = fmt::format("encoder.{}", i);
      auto residual = x;
      x = run.layer_norm(name + ".ln_1", x, tokens, hidden);
      std::vector<Tensor> qkv;
      if (run.is_hugging_face()) {
        for (const auto* projection : {"query", "key", "value"})
          qkv.push_back(
              run.linear(fmt::format("{}.attention.{}", name, projection), x, tokens, hidden, hidden));
      } else {
        x = run.linear(name + ".attention.in_proj", x, tokens, hidden, 3 * hidden);
        qkv.push_back(run.unpack_heads(x));
      }
      x = run.attention(name + ".attention.sdpa", qkv,
                        {shape.heads, shape.heads, tokens, hidden / shape.heads, false, false});
      if (!run.is_half()) x = run.contiguous(x);  // the fp32 kernel returns separate heads
      x = run.linear(name + ".attention.out_proj", x, tokens, hidden, hidden);
      x = run.add(name + ".attention.residual", x, residual);
      residual = x;
      x = run.layer_norm(name + ".ln_2", x, tokens, hidden);
      x = run.linear(name + ".mlp.fc1", x, tokens, hidden, shape.mlp);
      x = run.activation(name + ".mlp.gelu", "gelu", x);
      x = run.linear(name + ".mlp.fc2", x, tokens, shape.mlp, hidden);
      x = run.add(name + ".mlp.residual", residual, x);
    }
    x = run.layer_norm("encoder.ln", x, tokens, hidden);
    x = run.slice(x, hidden);
    x = run.linear("head", x, 1, hidden, shape.classes);
    run.cross_entropy("loss", x, 1, shape.classes);
  };
}

ForwardPass encoder(const EncoderShape& shape) {
  expects(shape.sequence <= shape.positions, "the sequence must not be longer than the position embedding");
  return [shape](Eager& run) {
    const std::int64_t hidden = shape.hidden;
    const auto tokens = run.tokens(shape.sequence);
    auto x = run.embedding("embeddings.word", tokens, shape.vocabulary, hidden);
    x = run.add("embeddings.sum_positions", x,
                run.embedding("embeddings.position", tokens, shape.positions, hidden));
    x = run.add("embeddings.sum_types", x, run.embedding("embeddings.type", tokens, shape.types, hidden));
    x = run.layer_norm("embeddings.norm", x, tokens, hidden);
    x = run.dropout("embeddings.dropout", x);
    for (int i = 0; i < shape.layers; ++i) x = encoder_block(run, fmt::format("encoder.{}", i), x, shape);
    if (shape.pooler) run.linear("pooler", run.slice(x, hidden), 1, hidden, hidden);
    if (shape.masked_lm) {
      x = run.linear("transform.dense", x, tokens, hidden, hidden);
      x = run.activation("transform.gelu", "gelu", x);
      x = run.layer_norm("transform.norm", x, tokens, hidden);
    }
    const auto outputs = shape.masked_lm ? shape.vocabulary : shape.outputs;
    x = run.linear("outputs", x, tokens, hidden, outputs, true, shape.masked_lm);
    run.cross_entropy("loss", x, tokens, outputs);
  };
}

ForwardPass conv_next(const ConvNextShape& shape) {
  return [shape](Eager& run) {
    std::int64_t side = shape.image_size;
    auto x = run.input(3.0 * static_cast<double>(side * side));
    std::int64_t channels = shape.channels[0];
    x = run.conv2d("features.0.0", x, {3, channels, 4, 4, 0, side});
    side /= 4;
    x = run.layer_norm("features.0.1", x, side * side, channels);
    for (std::size_t stage = 0; stage < shape.blocks.size(); ++stage) {
      if (stage > 0) {
        const auto name = fmt::format("features.{}", 2 * stage);
        x = run.layer_norm(name + ".0", x, side * side, channels);
        x = run.conv2d(name + ".1", x,
                       {.in_channels = channels,
                        .out_channels = shape.channels[stage],
                        .kernel = 2,
                        .stride = 2,
                        .padding = 0,
                        .side = side,
                        .channels_last = true});
        channels = shape.channels[stage];
        side /= 2;
      }
      for (int i = 0; i < shape.blocks[stage]; ++i)
        x = conv_next_block(run, fmt::format("features.{}.{}", 2 * stage + 1, i), x, channels, side);
    }
    x = run.mean("avgpool", x, static_cast<double>(channels));
    x = run.layer_norm("classifier.0", x, 1, channels);
    x = run.linear("classifier.2", x, 1, channels, shape.classes);
    run.cross_entropy("loss", x, 1, shape.classes);
  };
}

ForwardPass sequential(const ImageShape& input, const std::vector<LayerShape>& shapes) {
  return [input, shapes](Eager& run) {
    Activations activations{{}, input.channels, input.height, input.width};
    activations.tensor = run.input(static_cast<double>(activations.elements()));
    for (const auto& shape : shapes) plain_layer(run, shape, activations);
    run.cross_entropy("loss", activations.tensor, 1, activations.elements());
  };
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
      layer.output_per_sample = shape.output;
      model.push_back(std::move(layer));
    }
  }
  return model;
}

}  // namespace gradway
