// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/eager/eager.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

constexpr double index_bytes = 8;  // int64, as PyTorch's indices are

}  // namespace

std::vector<Parameter> Eager::weight_and_bias(const std::string& name, std::vector<std::int64_t> weight,
                                              std::int64_t outputs, bool bias) {
  std::vector<Parameter> parameters{{name + ".weight", std::move(weight)}};
  if (bias) parameters.push_back({name + ".bias", {outputs}});
  return parameters;
}

std::string_view Eager::arithmetic() const {
  return name_of(settings_.precision);
}

void Eager::open(const std::string& name, std::vector<Parameter> parameters) {
  Layer layer;
  layer.name = name;
  layer.role = role_;
  if (settings_.lora || is_frozen_) {
    for (auto& parameter : parameters)
      layer.frozen.push_back({std::move(parameter), bytes_of(parameter_number())});
  } else {
    layer.parameters = std::move(parameters);
  }
  layers_.push_back(std::move(layer));
  operations_.emplace_back();
  lasting_.push_back(0);
}

Tensor Eager::make(double elements, Number number, bool needs_grad) {
  const auto current_node = static_cast<std::int32_t>(nodes_.size()) - 1;
  const auto id = static_cast<std::int32_t>(tensors_.size());
  Info info;
  info.elements = elements;
  info.number = number;
  // With frozen parameters, a result needs a gradient only if one of its inputs does.
  info.needs_grad = needs_grad && !is_frozen_ &&
                    (!settings_.lora || !nodes_.back().inputs.empty() || nodes_.back().parameter_bytes > 0);
  info.storage = id;
  info.made = info.last_use = current_node;
  tensors_.push_back(info);
  if (!nodes_.empty()) nodes_.back().result = {id};  // the last tensor is the result of the node
  return {id};
}

Tensor Eager::view(Tensor x, double elements) {
  const auto tensor = make(elements, of(x).number, of(x).needs_grad);
  of(tensor).storage = of(x).storage;
  return tensor;
}

Eager::Node& Eager::node(std::initializer_list<Tensor> inputs) {
  const auto number = static_cast<std::int32_t>(nodes_.size());
  Node node;
  node.layer = static_cast<std::int32_t>(layers_.size()) - 1;
  node.forward = std::exchange(casts_, {});
  node.experts = loop_;
  node.reads = inputs;
  for (const auto input : inputs) {
    auto& info = of(input);
    if (info.storage >= 0) of({info.storage}).last_use = number;
    if (!info.needs_grad) continue;
    info.consumer = number;
    ++info.consumers;
    node.inputs.push_back(input);
  }
  nodes_.push_back(std::move(node));
  return nodes_.back();
}

/// The first node that saves a tensor is the last whose backward pass needs it.
void Eager::save(Tensor tensor) {
  nodes_.back().saves.push_back(tensor);
  const auto storage = of(tensor).storage;
  if (storage < 0) return;
  auto& info = of({storage});
  const auto current_node = static_cast<std::int32_t>(nodes_.size()) - 1;
  if (info.saved_for >= 0) return;
  info.saved_for = current_node;
  // @source torchtune, training/_activation_offloading.py (min_offload_size in bytes); Megatron-Core,
  // transformer/transformer_config.py (min_offloaded_tensor_size in elements)
  info.offloaded = settings_.offload_activations.has(OffloadedModule::all)
                       ? is_in_block() && info.bytes() >= 1024
                       : offloads_ && info.elements >= 1024 * 1024;
}

void Eager::forward(Operation operation) {
  nodes_.back().forward.push_back(std::move(operation));
}

Operation Eager::stream(std::string_view kernel, Number number, double elements) const {
  return operation(fmt::format("elementwise {} {}", kernel, name_of(number)), {elements});
}

Operation Eager::rows(std::string_view kernel, Number number, double rows, double width) const {
  return operation(fmt::format("rows {} {}", kernel, name_of(number)), {rows, width});
}

Operation Eager::product(const char* layout, double m, double n, double k) const {
  return operation(fmt::format("product {} {}", arithmetic(), layout), {m, n, k});
}

Tensor Eager::input(double elements) {
  const auto tensor = make(elements * settings_.batch, Number::fp32, false);
  of(tensor).storage = -1;  // counted as the job's input
  return tensor;
}

Tensor Eager::cast(Tensor x, Number number) {
  const auto from = of(x).number;
  if (from == number) return x;
  const auto elements = of(x).elements;
  const bool narrows = number != Number::fp32;
  const auto before = narrowed_.find(x.id);  // torch.compile casts once for all readers
  if (narrows && settings_.compiled && before != narrowed_.end()) return before->second;
  auto& function = node({x});
  forward(stream(narrows ? "cast_to_16" : "cast_to_32", from, elements));
  if (of(x).needs_grad)
    function.backward.push_back(stream(narrows ? "cast_to_32" : "cast_to_16", number, elements));
  const auto made = make(elements, number, of(x).needs_grad);
  if (narrows) narrowed_[x.id] = made;
  return made;
}

double Eager::cast_weight(double elements) {
  if (!casts()) return 0;
  casts_.push_back(stream("cast_to_16", Number::fp32, elements));
  return 2 * elements;
}

/// @source aten/src/ATen/autocast_mode.cpp (cached_cast): copies of weights with gradients are kept until
/// autocast ends, without gradients of operations, too; two H200 (own measurement, 2026-11-30, PyTorch 2.11)
void Eager::keep_cast_weight(double elements, Number number) {
  const auto copy = make(elements, number, false);
  of(copy).outlasts_uses = !is_frozen_;
  save(copy);
}

void Eager::add_weight_gradient(Node& node, double elements) {
  node.parameter_bytes += bytes_of(trained_number()) * elements;
  if (!casts()) return;
  node.backward.push_back(stream("cast_to_32", half_number(), elements));
  node.temporary_backward = std::max(node.temporary_backward, 2 * elements);
}

Tensor Eager::linear(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t inputs,
                     std::int64_t outputs, bool bias, bool tied, Split split) {
  if (split == Split::outputs) outputs = share(outputs);
  if (split == Split::inputs) inputs = share(inputs);
  auto parameters = weight_and_bias(name, {outputs, inputs}, outputs, bias);
  if (tied) parameters.erase(parameters.begin());
  open(name, std::move(parameters));
  if (tied) layers_.back().tied = Parameter{name + ".weight", {outputs, inputs}};
  const auto m = d(rows_of_sample) * settings_.batch;
  mark_fp8(inputs, outputs);
  if (settings_.lora) return multiply_by_frozen(x, m, inputs, outputs, split);
  if (runs_in_fp8()) {
    if (is_half() && of(x).number != scaled_number()) x = cast(x, half_number());
    return linear_in_fp8(x, {m, d(inputs), d(outputs), bias, split == Split::inputs && settings_.tensor > 1});
  }
  return multiply_by_weight(x, m, d(inputs), d(outputs), bias, tied);
}

Tensor Eager::multiply_by_weight(Tensor x, double m, double inputs, double outputs, bool bias, bool tied) {
  if (is_half()) x = cast(x, half_number());
  const auto number = is_half() ? half_number() : Number::fp32;
  const auto weight = inputs * outputs;
  const auto copy = cast_weight(weight);
  if (bias) cast_weight(outputs);
  auto& function = node({x});
  function.is_product = !bias;
  save(x);
  if (copy > 0) keep_cast_weight(weight, number);
  forward(product("nt", m, outputs, inputs));
  split_reader(function, x);
  if (of(x).needs_grad) function.backward.push_back(product("nn", m, inputs, outputs));
  const auto of_inputs = function.backward.size();
  function.backward.push_back(product(adds_in_fp32() ? "tn_add" : "tn", outputs, inputs, m));
  if (bias) function.backward.push_back(rows("bias_sum", number, m, outputs));
  add_weight_gradient(function, weight);
  if (tied) {  // a second gradient of the embedding, added to the first
    function.backward.push_back(stream("add", parameter_number(), weight));
  }
  if (bias) add_weight_gradient(function, outputs);
  for (auto i = of_inputs; i < function.backward.size(); ++i) function.backward[i].of_parameters = true;
  const Bytes of_input{m * inputs * bytes_of(number)};
  if (of(x).sums_gradient) overlap_exchange(function, of_inputs, of_input, of_input);
  return make(m * outputs, number, true);
}

void Eager::add_parameter_gradient(Node& node, double elements) {
  if (!settings_.lora) node.parameter_bytes += bytes_of(parameter_number()) * elements;
}

Tensor Eager::conv2d(const std::string& name, Tensor x, const Conv2d& shape) {
  const auto fan_in = shape.in_channels / shape.groups;
  open(name, weight_and_bias(name, {shape.out_channels, fan_in, shape.kernel, shape.kernel},
                             shape.out_channels, shape.bias));
  if (is_half()) x = cast(x, half_number());
  const auto number = is_half() ? half_number() : Number::fp32;
  const double height = shape.height > 0 ? shape.height : d(shape.side);
  const auto shrink = [&](double side) {
    const auto places = static_cast<std::int64_t>(side) + 2 * shape.padding - shape.kernel;
    return d(places / shape.stride + 1);
  };
  const auto out = d(shape.out_channels) * shrink(height) * shrink(d(shape.side)) * settings_.batch;
  const auto weight = d(shape.out_channels * fan_in * shape.kernel * shape.kernel);
  const auto copy = cast_weight(weight);
  if (shape.bias) cast_weight(d(shape.out_channels));
  auto& function = node({x});
  save(x);
  if (copy > 0) keep_cast_weight(weight, number);
  const bool is_channels_last = settings_.channels_last || shape.channels_last;
  const auto convolution = [&](std::string_view direction) {
    return operation(
        fmt::format("convolution{} {} {}", direction, arithmetic(), is_channels_last ? "nhwc" : "nchw"),
        {d(settings_.batch), d(shape.in_channels), d(shape.out_channels), d(shape.kernel), d(shape.stride),
         d(shape.padding), d(shape.side), d(shape.groups)});
  };
  forward(convolution(""));
  // PyTorch adds the bias after cuDNN's convolution. Its own depthwise kernel includes the bias.
  const bool by_cudnn = is_channels_last || shape.groups != shape.in_channels;
  if (shape.bias && by_cudnn) forward(stream("add_", number, out));
  if (of(x).needs_grad) function.backward.push_back(convolution("_input"));
  function.backward.push_back(convolution("_weight"));
  if (shape.bias)
    function.backward.push_back(rows("bias_sum", number, out / d(shape.out_channels), d(shape.out_channels)));
  add_weight_gradient(function, weight);
  if (shape.bias) add_weight_gradient(function, d(shape.out_channels));
  return make(out, number, true);
}

Tensor Eager::activation(const std::string& name, std::string_view function, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& autograd_function = node({x});
  save(x);
  forward(stream(function, number, elements));
  autograd_function.backward.push_back(stream(fmt::format("{}_backward", function), number, elements));
  return make(elements, number, true);
}

Tensor Eager::relu(const std::string& name, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x});
  save(x);
  forward(stream("relu_", number, elements));
  function.backward.push_back(stream("threshold_backward", number, elements));
  return view(x, elements);
}

Tensor Eager::add(const std::string& name, Tensor x, Tensor y) {
  open(name);
  const auto elements = std::max(of(x).elements, of(y).elements);
  const bool mixed = of(x).number != of(y).number;
  auto& function = node({x, y});
  if (!mixed) {
    const auto number = of(x).number;
    forward(stream("add", number, elements));
    return make(elements, number, true);
  }
  const auto narrow = of(x).number == Number::fp32 ? y : x;
  forward(stream("add_mixed", of(narrow).number, elements));
  if (of(narrow).needs_grad) function.backward.push_back(stream("cast_to_16", Number::fp32, elements));
  return make(elements, Number::fp32, true);
}

Tensor Eager::multiply(const std::string& name, Tensor x, Tensor y) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x, y});
  save(x);
  save(y);
  const auto product = stream("mul", number, elements);
  forward(product);
  function.backward = {product, product};
  return make(elements, number, true);
}

Tensor Eager::layer_scale(const std::string& name, Tensor x, std::int64_t channels) {
  open(name, {{name, {channels, 1, 1}}});
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x});
  save(x);
  const auto of_scale = parameter_number();
  const bool mixed = number != of_scale;
  forward(stream(mixed || number == Number::fp32 ? "add_mixed" : "mul", number, elements));
  function.backward.push_back(stream("mul", of_scale, elements));  // of x
  function.backward.push_back(
      stream(mixed || number == Number::fp32 ? "add_mixed" : "mul", number, elements));
  function.backward.push_back(rows("bias_sum", of_scale, elements / d(channels), d(channels)));
  if (mixed) function.backward.push_back(stream("cast_to_16", Number::fp32, elements));
  function.parameter_bytes += bytes_of(of_scale) * d(channels);
  return make(elements, mixed ? Number::fp32 : number, true);
}

Tensor Eager::dropout(const std::string& name, Tensor x) {
  open(name);
  return dropped(x);
}

Tensor Eager::dropped(Tensor x) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x});
  save(make(elements / 4, Number::fp32, false));  // the mask: a byte per element
  forward(stream("dropout", number, elements));
  function.backward.push_back(stream("dropout_backward", number, elements));
  return make(elements, number, true);
}

Tensor Eager::contiguous(Tensor x) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto copy = stream("permute", number, elements);
  auto& function = node({x});
  forward(copy);
  function.backward.push_back(copy);
  return make(elements, number, of(x).needs_grad);
}

Tensor Eager::max_pool(const std::string& name, Tensor x, std::int64_t channels, double side,
                       double outputs) {
  open(name);
  const auto number = of(x).number;
  const auto out = outputs * settings_.batch;
  auto& function = node({x});
  save(x);
  save(make(out * index_bytes / fp32_bytes, Number::fp32, false));
  const auto pool = [&](std::string_view direction) {
    return operation(fmt::format("max_pool{} {} {}", direction, name_of(number),
                                 settings_.channels_last ? "nhwc" : "nchw"),
                     {d(settings_.batch), d(channels), side});
  };
  forward(pool(""));
  function.backward.push_back(pool("_backward"));
  return make(out, number, true);
}

Tensor Eager::mean(const std::string& name, Tensor x, double outputs) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x});
  forward(stream("sum", number, elements));
  function.backward.push_back(stream("scale", number, elements));
  return make(outputs * settings_.batch, number, true);
}

Tensor Eager::scale(const std::string& name, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto times = stream("mul", number, elements);
  auto& function = node({x});
  forward(stream("random", Number::fp32, settings_.batch));
  forward(times);
  function.backward.push_back(times);
  return make(elements, number, true);
}

Tensor Eager::slice(Tensor x, std::int64_t elements_of_sample) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x});
  function.backward.push_back(stream("zero", number, elements));
  return view(x, d(elements_of_sample) * settings_.batch);
}

Tensor Eager::concatenate(const std::vector<Tensor>& tensors, double elements_of_sample) {
  double elements = 0;
  const auto number = of(tensors.front()).number;
  auto& function = node({});
  for (const auto tensor : tensors) {
    auto& info = of(tensor);
    elements += info.elements;
    of({info.storage}).last_use = info.consumer = static_cast<std::int32_t>(nodes_.size()) - 1;
    ++info.consumers;
    function.inputs.push_back(tensor);
  }
  const auto copy = stream("copy", number, elements);
  forward(copy);
  function.backward.push_back(copy);
  return make(elements_of_sample * settings_.batch, number, true);
}

Tensor Eager::embedding(const std::string& name, std::int64_t tokens, std::int64_t vocabulary,
                        std::int64_t width) {
  open(name, {{name + ".weight", {vocabulary, width}}});
  const auto m = d(tokens) * settings_.batch;
  auto& function = node({});
  forward(operation("embedding", {m, d(vocabulary), d(width)}));
  function.backward.push_back(operation("embedding_backward", {m, d(vocabulary), d(width)}));
  add_parameter_gradient(function, d(vocabulary) * d(width));
  return make(m * d(width), parameter_number(), true);
}

Tensor Eager::embedding_again(const std::string& name, std::int64_t tokens, std::int64_t vocabulary,
                              std::int64_t width) {
  const auto x = embedding(name, tokens, vocabulary, width);
  layers_.back().parameters.clear();
  auto& node = nodes_.back();
  node.backward.push_back(stream("add", parameter_number(), d(vocabulary) * d(width)));
  node.temporary_backward = std::exchange(node.parameter_bytes, 0);
  return x;
}

Tensor Eager::add_parameters(const std::string& name, Tensor x, std::vector<Parameter> parameters) {
  double trained = 0;
  for (const auto& parameter : parameters) trained += d(parameter.elements());
  open(name, std::move(parameters));
  const auto elements = of(x).elements;
  const auto number = parameter_number();
  auto& function = node({x});
  forward(stream("add", number, elements));
  function.backward.push_back(rows("bias_sum", number, d(settings_.batch), trained));
  add_parameter_gradient(function, trained);
  return make(elements, number, true);
}

Tensor Eager::class_token(const std::string& name, Tensor x, std::int64_t tokens, std::int64_t width) {
  open(name, {{"class_token", {1, 1, width}}, {"pos_embedding", {1, tokens, width}}});
  const auto number = parameter_number();
  x = cast(x, number);
  const auto elements = d(tokens * width) * settings_.batch;
  auto& function = node({x});
  forward(rows("cat", number, d(tokens) * settings_.batch, d(width)));
  forward(stream("add", number, elements));
  function.backward.push_back(rows("bias_sum", number, d(settings_.batch), d(tokens * width)));
  function.backward.push_back(stream("copy", number, elements));
  function.parameter_bytes += bytes_of(number) * d((tokens + 1) * width);
  return make(elements, number, true);
}

std::vector<Layer> Eager::take_layers() {
  return std::move(layers_);
}

}  // namespace gradway
