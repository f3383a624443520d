// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/layers.hpp"

namespace gradway::layers {
namespace {

double d(std::int64_t value) {
  return static_cast<double>(value);
}

/// A layer without parameters that only moves activations.
Layer mover(std::string name, double forward, double backward, double saved) {
  Layer layer;
  layer.name = std::move(name);
  layer.forward.elements_per_sample = forward;
  layer.backward.elements_per_sample = backward;
  layer.saved_elements_per_sample = saved;
  return layer;
}

/// Weight and bias of a layer; the backward pass reads the weight once and writes each gradient once.
void give_parameters(Layer& layer, std::vector<Parameter> parameters) {
  layer.parameters = std::move(parameters);
  const auto count = d(layer.parameter_count());
  layer.forward.parameter_elements = count;
  layer.backward.parameter_elements = 2 * count;
}

}  // namespace

Layer linear(std::string name, std::int64_t rows, std::int64_t inputs, std::int64_t outputs, bool bias) {
  auto layer = mover(name, d(rows * (inputs + outputs)), d(2 * rows * (inputs + outputs)), d(rows * inputs));
  layer.forward.flops_per_sample = Flops{2 * d(rows) * d(inputs) * d(outputs)};
  layer.backward.flops_per_sample = 2 * layer.forward.flops_per_sample;
  layer.backward.kernels = bias ? 3 : 2;
  std::vector<Parameter> parameters{{name + ".weight", {outputs, inputs}}};
  if (bias) parameters.push_back({name + ".bias", {outputs}});
  give_parameters(layer, std::move(parameters));
  return layer;
}

Layer conv2d(std::string name, const Conv2d& shape) {
  const auto in = d(shape.in_channels * shape.in_height * shape.in_width);
  const auto out = d(shape.out_channels * shape.out_height * shape.out_width);
  const double products = shape.first ? 1 : 2;
  auto layer = mover(name, in + out, products * (in + out), in);
  const auto fan_in = shape.in_channels / shape.groups;
  layer.forward.flops_per_sample = Flops{2 * d(shape.kernel * shape.kernel * fan_in) * out};
  layer.backward.flops_per_sample = products * layer.forward.flops_per_sample;
  layer.backward.kernels = shape.bias ? 3 : 2;
  std::vector<Parameter> parameters{
      {name + ".weight", {shape.out_channels, fan_in, shape.kernel, shape.kernel}}};
  if (shape.bias) parameters.push_back({name + ".bias", {shape.out_channels}});
  give_parameters(layer, std::move(parameters));
  return layer;
}

Layer layer_norm(std::string name, std::int64_t rows, std::int64_t width, bool bias) {
  auto layer = mover(name, d(2 * rows * width), d(3 * rows * width), 0);
  layer.saved_fp32_per_sample = d(rows * width);
  layer.backward.kernels = 2;
  std::vector<Parameter> parameters{{name + ".weight", {width}}};
  if (bias) parameters.push_back({name + ".bias", {width}});
  give_parameters(layer, std::move(parameters));
  return layer;
}

Layer batch_norm(std::string name, std::int64_t elements, std::int64_t channels) {
  auto layer =
      mover(name, d(3 * elements), d(5 * elements), d(elements));  // statistics need a pass of their own
  give_parameters(layer, {{name + ".weight", {channels}}, {name + ".bias", {channels}}});
  return layer;
}

Layer elementwise(std::string name, std::int64_t elements) {
  return mover(std::move(name), d(2 * elements), d(3 * elements), d(elements));
}

Layer residual(std::string name, std::int64_t elements) {
  return mover(std::move(name), d(3 * elements), d(3 * elements), 0);
}

Layer pool(std::string name, std::int64_t inputs, std::int64_t outputs) {
  return mover(std::move(name), d(inputs + outputs), d(inputs + outputs), d(inputs));
}

Layer attention(std::string name, std::int64_t tokens, std::int64_t width, bool causal) {
  const auto activations = d(tokens * width);
  auto layer = mover(std::move(name), 10 * activations, 14 * activations, 4 * activations);
  const double share = causal ? 0.5 : 1;  // the kernel skips the blocks above the diagonal
  layer.forward.flops_per_sample = Flops{share * 4 * d(tokens) * activations};
  layer.backward.flops_per_sample = 2.5 * layer.forward.flops_per_sample;
  layer.forward.kernels = 2;
  layer.backward.kernels = 4;
  return layer;
}

Layer embedding(std::string name, std::int64_t tokens, std::int64_t vocabulary, std::int64_t width) {
  auto layer = mover(name, d(2 * tokens * width), d(2 * tokens * width), 0);
  layer.parameters = {{name + ".weight", {vocabulary, width}}};
  layer.backward.parameter_elements = d(vocabulary * width);
  layer.backward.kernels = 2;
  return layer;
}

Layer added_parameters(std::string name, std::int64_t elements, std::vector<Parameter> parameters) {
  auto layer = mover(std::move(name), d(3 * elements), d(2 * elements), 0);
  layer.forward.kernels = layer.backward.kernels = 2;
  give_parameters(layer, std::move(parameters));
  return layer;
}

Layer cross_entropy(std::string name, std::int64_t rows, std::int64_t classes) {
  auto layer = mover(std::move(name), d(3 * rows * classes), d(3 * rows * classes), d(rows * classes));
  layer.forward.kernels = layer.backward.kernels = 2;
  layer.saved_fp32_per_sample = d(rows * classes);
  layer.transient_fp32_per_sample = d(2 * rows * classes);
  return layer;
}

}  // namespace gradway::layers
