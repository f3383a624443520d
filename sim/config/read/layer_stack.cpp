// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/model_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/config/yaml/scalars.hpp"

namespace gradway::config {
namespace {

using Kind = LayerShape::Kind;

/// The keys of a layer kind in addition to its name.
struct LayerKeys {
  Kind kind;
  bool outputs, window, bias;
};

constexpr LayerKeys layer_keys[] = {
    {Kind::conv2d, true, true, true},         {Kind::batch_norm, false, false, false},
    {Kind::relu, false, false, false},        {Kind::max_pool, false, true, false},
    {Kind::average_pool, false, true, false}, {Kind::linear, true, false, true},
};

bool is_pool(Kind kind) {
  return kind == Kind::max_pool || kind == Kind::average_pool;
}

/// Kernel, stride and padding; defaults as in PyTorch: a pool's stride is its kernel.
void read_window(Reader& layer, LayerShape& shape) {
  const bool pool = is_pool(shape.kind);
  shape.kernel = layer.required("kernel", integer(pool ? 0 : 1, 1024));
  shape.stride = layer.optional("stride", integer(1, 1024), pool && shape.kernel > 0 ? shape.kernel : 1);
  shape.padding = layer.optional("padding", integer(0, 1024), 0);
  if (pool && layer.is_valid() && shape.padding * 2 > shape.kernel) {
    layer.error(layer.value_place("padding"),
                fmt::format("padding {} is more than half of the kernel {}", shape.padding, shape.kernel),
                "PyTorch refuses such a pooling layer");
  }
}

LayerShape read_layer(Reader& layer, std::size_t number) {
  LayerShape shape;
  const auto kind = layer.required("kind", nullopt_on_error(one_of<Kind>("a layer kind", layer_kind_words)));
  shape.name = layer.optional("name", text, fmt::format("layer{}", number));
  if (!kind) return shape;
  shape.kind = *kind;
  const auto keys = *std::ranges::find(layer_keys, shape.kind, &LayerKeys::kind);
  if (keys.outputs) shape.outputs = layer.required("outputs", integer(1, 1 << 20));
  if (keys.window) read_window(layer, shape);
  if (keys.bias) shape.bias = layer.optional("bias", boolean, true);
  layer.finish();
  return shape;
}

int shrunk(int size, const LayerShape& shape) {
  const auto kernel = shape.kernel == 0 ? size : shape.kernel;
  return (size + 2 * shape.padding - kernel) / shape.stride + 1;
}

/// Replaces the image by the layer's output. @return false if its kernel does not fit
bool follow(const LayerShape& shape, ImageShape& image, Reader& layer) {
  const bool has_window = shape.kind == Kind::conv2d || is_pool(shape.kind);
  if (has_window) {
    const auto smallest = std::min(image.height, image.width) + 2 * shape.padding;
    if (shape.kernel > smallest) {
      layer.error(layer.value_place("kernel"),
                  fmt::format("kernel {} does not fit the {} x {} image that reaches '{}'", shape.kernel,
                              image.height, image.width, shape.name),
                  "check the strides and the padding of the layers before");
      return false;
    }
    image.height = shrunk(image.height, shape);
    image.width = shrunk(image.width, shape);
  }
  if (shape.outputs > 0) image.channels = shape.outputs;
  if (shape.kind == Kind::linear) image.height = image.width = 1;
  return true;
}

}  // namespace

std::vector<LayerShape> read_layer_stack(Reader& file, const ImageShape& input) {
  std::vector<LayerShape> shapes;
  DistinctKeys<std::string> names;
  auto image = input;
  bool is_followed = file.is_valid();
  for (auto& layer : file.maps("layers")) {
    const auto shape = read_layer(layer, shapes.size() + 1);
    names.add(shape.name, layer, layer.value_place("name"),
              fmt::format("duplicate layer name '{}'", shape.name));
    is_followed = is_followed && layer.is_valid() && follow(shape, image, layer);
    shapes.push_back(shape);
  }
  if (file.is_valid() && shapes.empty())
    file.error(file.key_place("layers"), "a model requires at least one layer");
  return shapes;
}

}  // namespace gradway::config
