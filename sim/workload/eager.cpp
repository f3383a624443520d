// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/eager.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

constexpr double fp32_bytes = 4;
constexpr double index_bytes = 8;  // int64, as PyTorch's indices are

double d(std::int64_t value) {
  return static_cast<double>(value);
}

double bytes_of(Number number) {
  return number == Number::fp32 ? 4 : 2;
}

std::string_view word(Number number) {
  constexpr std::array<std::string_view, 3> words{"fp32", "bf16", "fp16"};
  return words[static_cast<std::size_t>(number)];
}

std::vector<Parameter> weight_and_bias(const std::string& name, std::vector<std::int64_t> weight,
                                       std::int64_t outputs, bool bias) {
  std::vector<Parameter> parameters{{name + ".weight", std::move(weight)}};
  if (bias) parameters.push_back({name + ".bias", {outputs}});
  return parameters;
}

}  // namespace

std::string_view Eager::arithmetic() const {
  return name_of(settings_.precision);
}

void Eager::open(const std::string& name, std::vector<Parameter> parameters) {
  Layer layer;
  layer.name = name;
  layer.parameters = std::move(parameters);
  layers_.push_back(std::move(layer));
  operations_.emplace_back();
}

Tensor Eager::make(double elements, Number number, bool needs_grad) {
  const auto now = static_cast<std::int32_t>(nodes_.size()) - 1;
  const auto id = static_cast<std::int32_t>(tensors_.size());
  Info info;
  info.elements = elements;
  info.number = number;
  info.needs_grad = needs_grad;
  info.storage = id;
  info.made = info.last_use = now;
  tensors_.push_back(info);
  if (!nodes_.empty()) nodes_.back().result = {id};  // the last that is made is what the node returns
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

/// The first node to save a tensor is the last that needs it.
void Eager::save(Tensor tensor) {
  nodes_.back().saves.push_back(tensor);
  const auto storage = of(tensor).storage;
  if (storage < 0) return;
  auto& info = of({storage});
  const auto now = static_cast<std::int32_t>(nodes_.size()) - 1;
  if (info.saved_for < 0) info.saved_for = now;
}

void Eager::forward(Operation operation) {
  nodes_.back().forward.push_back(std::move(operation));
}

Operation Eager::stream(std::string_view what, Number number, double elements) const {
  return operation(fmt::format("elementwise {} {}", what, word(number)), {elements});
}

Operation Eager::rows(std::string_view what, Number number, double rows, double width) const {
  return operation(fmt::format("rows {} {}", what, word(number)), {rows, width});
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
  auto& at = node({x});
  forward(stream(narrows ? "cast_to_16" : "cast_to_32", from, elements));
  if (of(x).needs_grad)
    at.backward.push_back(stream(narrows ? "cast_to_32" : "cast_to_16", number, elements));
  return make(elements, number, of(x).needs_grad);
}

double Eager::cast_weight(double elements) {
  if (!is_half()) return 0;
  casts_.push_back(stream("cast_to_16", Number::fp32, elements));
  return 2 * elements;
}

/// The gradient of a weight's 16-bit copy is cast to that of the weight.
void Eager::weight_back(Node& at, double elements) {
  at.parameter_bytes += fp32_bytes * elements;
  if (!is_half()) return;
  at.backward.push_back(stream("cast_to_32", half_number(), elements));
  at.temporary_backward = std::max(at.temporary_backward, 2 * elements);
}

Tensor Eager::linear(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t inputs,
                     std::int64_t outputs, bool bias, bool tied) {
  open(name, tied ? std::vector<Parameter>{} : weight_and_bias(name, {outputs, inputs}, outputs, bias));
  if (is_half()) x = cast(x, half_number());
  const auto number = is_half() ? half_number() : Number::fp32;
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto weight = d(inputs) * d(outputs);
  const auto copy = cast_weight(weight);
  if (bias) cast_weight(d(outputs));
  auto& at = node({x});
  save(x);
  if (copy > 0) {
    const auto kept = make(weight, number, false);
    save(kept);
  }
  forward(product("nt", m, d(outputs), d(inputs)));
  if (of(x).needs_grad) at.backward.push_back(product("nn", m, d(inputs), d(outputs)));
  at.backward.push_back(product("tn", d(outputs), d(inputs), m));
  if (bias) at.backward.push_back(rows("bias_sum", number, m, d(outputs)));
  weight_back(at, weight);
  if (tied) {  // a second gradient of the embedding, added to the first
    at.backward.push_back(stream("add", Number::fp32, weight));
  }
  if (bias) weight_back(at, d(outputs));
  return make(m * d(outputs), number, true);
}

Tensor Eager::conv2d(const std::string& name, Tensor x, const Conv2d& shape) {
  const auto fan_in = shape.in_channels / shape.groups;
  open(name, weight_and_bias(name, {shape.out_channels, fan_in, shape.kernel, shape.kernel},
                             shape.out_channels, shape.bias));
  if (is_half()) x = cast(x, half_number());
  const auto number = is_half() ? half_number() : Number::fp32;
  const double height = shape.height > 0 ? shape.height : d(shape.side);
  const auto shrink = [&](double side) {
    return static_cast<double>(
        (static_cast<std::int64_t>(side) + 2 * shape.padding - shape.kernel) / shape.stride + 1);
  };
  const auto out = d(shape.out_channels) * shrink(height) * shrink(d(shape.side)) * settings_.batch;
  const auto weight = d(shape.out_channels * fan_in * shape.kernel * shape.kernel);
  const auto copy = cast_weight(weight);
  if (shape.bias) cast_weight(d(shape.out_channels));
  auto& at = node({x});
  save(x);
  if (copy > 0) save(make(weight, number, false));
  const auto convolution = [&](std::string_view direction) {
    return operation(fmt::format("convolution{} {} {}", direction, arithmetic(),
                                 settings_.channels_last || shape.channels_last ? "nhwc" : "nchw"),
                     {d(settings_.batch), d(shape.in_channels), d(shape.out_channels), d(shape.kernel),
                      d(shape.stride), d(shape.padding), d(shape.side), d(shape.groups)});
  };
  forward(convolution(""));
  if (of(x).needs_grad) at.backward.push_back(convolution("_input"));
  at.backward.push_back(convolution("_weight"));
  if (shape.bias)
    at.backward.push_back(rows("bias_sum", number, out / d(shape.out_channels), d(shape.out_channels)));
  weight_back(at, weight);
  if (shape.bias) weight_back(at, d(shape.out_channels));
  return make(out, number, true);
}

Tensor Eager::norm(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t width,
                   std::string_view what, std::vector<Parameter> parameters) {
  double trained = 0;
  for (const auto& parameter : parameters) trained += d(parameter.elements());
  open(name, std::move(parameters));
  x = cast(x, Number::fp32);
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto elements = of(x).elements;
  auto& at = node({x});
  save(x);
  save(make(m * (what == "layer_norm" ? 2 : 1), Number::fp32, false));
  forward(rows(what, Number::fp32, m, d(width)));
  at.backward.push_back(rows(fmt::format("{}_backward", what), Number::fp32, m, d(width)));
  at.parameter_bytes += fp32_bytes * trained;
  return make(elements, Number::fp32, true);
}

Tensor Eager::layer_norm(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t width,
                         bool bias) {
  return norm(name, x, rows_of_sample, width, "layer_norm", weight_and_bias(name, {width}, width, bias));
}

Tensor Eager::rms_norm(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t width) {
  return norm(name, x, rows_of_sample, width, "rms_norm", weight_and_bias(name, {width}, width, false));
}

Tensor Eager::batch_norm(const std::string& name, Tensor x, std::int64_t channels, double side) {
  open(name, weight_and_bias(name, {channels}, channels, true));
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x});
  save(x);
  save(make(2 * d(channels), Number::fp32, false));
  const auto normalize = [&](std::string_view direction) {
    return operation(
        fmt::format("batch_norm{} {} {}", direction, word(number), settings_.channels_last ? "nhwc" : "nchw"),
        {d(settings_.batch), d(channels), side});
  };
  forward(normalize(""));
  forward(stream("count", Number::fp32, 1));  // num_batches_tracked += 1
  at.backward.push_back(normalize("_backward"));
  at.parameter_bytes += 2 * fp32_bytes * d(channels);
  return make(elements, number, true);
}

Tensor Eager::activation(const std::string& name, std::string_view function, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x});
  save(x);
  forward(stream(function, number, elements));
  at.backward.push_back(stream(fmt::format("{}_backward", function), number, elements));
  return make(elements, number, true);
}

Tensor Eager::relu(const std::string& name, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x});
  save(x);
  forward(stream("relu_", number, elements));
  at.backward.push_back(stream("threshold_backward", number, elements));
  return view(x, elements);
}

Tensor Eager::add(const std::string& name, Tensor x, Tensor y) {
  open(name);
  const auto elements = std::max(of(x).elements, of(y).elements);
  const bool mixed = of(x).number != of(y).number;
  auto& at = node({x, y});
  if (!mixed) {
    const auto number = of(x).number;
    forward(stream("add", number, elements));
    return make(elements, number, true);
  }
  const auto narrow = of(x).number == Number::fp32 ? y : x;
  forward(stream("add_mixed", of(narrow).number, elements));
  if (of(narrow).needs_grad) at.backward.push_back(stream("cast_to_16", Number::fp32, elements));
  return make(elements, Number::fp32, true);
}

Tensor Eager::multiply(const std::string& name, Tensor x, Tensor y) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x, y});
  save(x);
  save(y);
  const auto product = stream("mul", number, elements);
  forward(product);
  at.backward = {product, product};
  return make(elements, number, true);
}

Tensor Eager::layer_scale(const std::string& name, Tensor x, std::int64_t channels) {
  open(name, {{name, {channels, 1, 1}}});
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x});
  save(x);
  forward(stream("add_mixed", number, elements));
  at.backward.push_back(stream("mul", Number::fp32, elements));  // of x
  at.backward.push_back(stream("add_mixed", number, elements));
  at.backward.push_back(rows("bias_sum", Number::fp32, elements / d(channels), d(channels)));
  if (number != Number::fp32) at.backward.push_back(stream("cast_to_16", Number::fp32, elements));
  at.parameter_bytes += fp32_bytes * d(channels);
  return make(elements, Number::fp32, true);
}

Tensor Eager::dropout(const std::string& name, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x});
  save(make(elements / 4, Number::fp32, false));  // a byte an element
  forward(stream("dropout", number, elements));
  at.backward.push_back(stream("dropout_backward", number, elements));
  return make(elements, number, true);
}

Tensor Eager::contiguous(Tensor x) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto copy = stream("permute", number, elements);
  auto& at = node({x});
  forward(copy);
  at.backward.push_back(copy);
  return make(elements, number, of(x).needs_grad);
}

Tensor Eager::max_pool(const std::string& name, Tensor x, std::int64_t channels, double side,
                       double outputs) {
  open(name);
  const auto number = of(x).number;
  const auto out = outputs * settings_.batch;
  auto& at = node({x});
  save(x);
  save(make(out * index_bytes / fp32_bytes, Number::fp32, false));
  const auto pool = [&](std::string_view direction) {
    return operation(
        fmt::format("max_pool{} {} {}", direction, word(number), settings_.channels_last ? "nhwc" : "nchw"),
        {d(settings_.batch), d(channels), side});
  };
  forward(pool(""));
  at.backward.push_back(pool("_backward"));
  return make(out, number, true);
}

Tensor Eager::mean(const std::string& name, Tensor x, double outputs) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x});
  forward(stream("sum", number, elements));
  at.backward.push_back(stream("scale", number, elements));
  return make(outputs * settings_.batch, number, true);
}

Tensor Eager::scale(const std::string& name, Tensor x) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto times = stream("mul", number, elements);
  auto& at = node({x});
  forward(stream("random", Number::fp32, settings_.batch));
  forward(times);
  at.backward.push_back(times);
  return make(elements, number, true);
}

Tensor Eager::slice(Tensor x, std::int64_t elements_of_sample) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& at = node({x});
  at.backward.push_back(stream("zero", number, elements));
  return view(x, d(elements_of_sample) * settings_.batch);
}

Tensor Eager::concatenate(const std::vector<Tensor>& parts, double elements_of_sample) {
  double elements = 0;
  const auto number = of(parts.front()).number;
  auto& at = node({});
  for (const auto part : parts) {
    auto& info = of(part);
    elements += info.elements;
    of({info.storage}).last_use = info.consumer = static_cast<std::int32_t>(nodes_.size()) - 1;
    ++info.consumers;
    at.inputs.push_back(part);
  }
  const auto copy = stream("copy", number, elements);
  forward(copy);
  at.backward.push_back(copy);
  return make(elements_of_sample * settings_.batch, number, true);
}

Tensor Eager::embedding(const std::string& name, std::int64_t tokens, std::int64_t vocabulary,
                        std::int64_t width) {
  open(name, {{name + ".weight", {vocabulary, width}}});
  const auto m = d(tokens) * settings_.batch;
  auto& at = node({});
  forward(operation("embedding", {m, d(vocabulary), d(width)}));
  at.backward.push_back(operation("embedding_backward", {m, d(vocabulary), d(width)}));
  at.parameter_bytes += fp32_bytes * d(vocabulary) * d(width);
  return make(m * d(width), Number::fp32, true);
}

Tensor Eager::add_parameters(const std::string& name, Tensor x, std::vector<Parameter> parameters) {
  double trained = 0;
  for (const auto& parameter : parameters) trained += d(parameter.elements());
  open(name, std::move(parameters));
  const auto elements = of(x).elements;
  auto& at = node({x});
  forward(stream("add", Number::fp32, elements));
  at.backward.push_back(rows("bias_sum", Number::fp32, d(settings_.batch), trained));
  at.parameter_bytes += fp32_bytes * trained;
  return make(elements, Number::fp32, true);
}

Tensor Eager::class_token(const std::string& name, Tensor x, std::int64_t tokens, std::int64_t width) {
  open(name, {{"class_token", {1, 1, width}}, {"pos_embedding", {1, tokens, width}}});
  x = cast(x, Number::fp32);
  const auto elements = d(tokens * width) * settings_.batch;
  auto& at = node({x});
  forward(rows("cat", Number::fp32, d(tokens) * settings_.batch, d(width)));
  forward(stream("add", Number::fp32, elements));
  at.backward.push_back(rows("bias_sum", Number::fp32, d(settings_.batch), d(tokens * width)));
  at.backward.push_back(stream("copy", Number::fp32, elements));
  at.parameter_bytes += fp32_bytes * d((tokens + 1) * width);
  return make(elements, Number::fp32, true);
}

/// PyTorch 2.11's own choice: cuDNN's on Hopper and later, flash attention on Ampere and later, both only in
/// 16 bits; else the memory-efficient kernel.
AttentionKernel Eager::attention_kernel() const {
  constexpr int ampere = 80;
  constexpr int hopper = 90;
  const auto wanted = settings_.attention;
  const bool is_16_bit = is_half();
  if (wanted != AttentionKernel::automatic && (is_16_bit || wanted == AttentionKernel::math)) return wanted;
  if (!is_16_bit || settings_.compute_capability < ampere) return AttentionKernel::efficient;
  return settings_.compute_capability >= hopper ? AttentionKernel::cudnn : AttentionKernel::flash;
}

Tensor Eager::attention(const std::string& name, const std::vector<Tensor>& qkv, const Attention& shape) {
  expects(qkv.size() == 1 || qkv.size() == 3, "queries, keys and values come packed or apart");
  open(name);
  const auto number = of(qkv.front()).number;
  const auto batch = d(settings_.batch);
  const auto queries = batch * d(shape.heads * shape.tokens * shape.head_size);
  const auto how = attention_kernel();
  auto& at = qkv.size() == 1 ? node({qkv[0]}) : node({qkv[0], qkv[1], qkv[2]});
  for (const auto part : qkv) save(part);
  const auto out = make(queries, number, true);
  if (how == AttentionKernel::math) {
    math_attention(shape, number, out);
  } else {
    save(out);
    save(make(batch * d(shape.heads * shape.tokens), Number::fp32, false));  // logarithms of the sums
    constexpr std::array<std::string_view, 4> hows{"", "cudnn", "flash", "efficient"};
    const auto fused = [&](std::string_view direction) {
      return operation(fmt::format("attention_{} {} {} {}", direction, arithmetic(),
                                   hows[static_cast<std::size_t>(how)], shape.causal ? "causal" : "full"),
                       {batch, d(shape.heads), d(shape.tokens), d(shape.head_size)});
    };
    forward(fused("forward"));
    at.backward.push_back(fused("backward"));
  }
  if (qkv.size() == 1 && shape.splits) {
    const auto width = 3.0 * d(shape.heads * shape.head_size);
    at.backward.push_back(rows("cat", number, batch * d(shape.tokens), width));
  }
  at.result = out;
  return out;
}

/// Scores, their softmax and products with them, one after the other.
void Eager::math_attention(const Attention& shape, Number number, Tensor out) {
  const auto groups = d(shape.heads) * settings_.batch;
  const auto [tokens, size] = std::pair{d(shape.tokens), d(shape.head_size)};
  const auto scores = groups * tokens * tokens;
  const auto bytes = bytes_of(number);
  auto& at = nodes_.back();
  save(make(scores, number, false));  // the probabilities
  save(out);
  const auto batched = [&](const char* layout, double m, double n, double k) {
    return operation(fmt::format("batched_product {} {}", arithmetic(), layout), {groups, m, n, k});
  };
  forward(batched("nt", tokens, tokens, size));
  if (shape.causal) forward(stream("add", number, scores));
  forward(rows("softmax", number, groups * tokens, tokens));
  forward(batched("nn", tokens, size, tokens));
  at.backward = {batched("nn", tokens, size, tokens), batched("nt", tokens, tokens, size),
                 rows("softmax_backward", number, groups * tokens, tokens),
                 batched("nn", tokens, size, tokens), batched("nn", tokens, size, tokens)};
  at.temporary = bytes * scores;
  at.temporary_backward = 2 * bytes * scores;
}

Tensor Eager::rotary(const std::string& name, Tensor x) {
  open(name);
  const auto number = of(x).number;
  x = cast(x, Number::fp32);
  const auto elements = of(x).elements;
  const auto turn = stream("complex_mul", Number::fp32, elements);
  auto& at = node({x});
  forward(turn);
  at.backward.push_back(turn);
  return cast(make(elements, Number::fp32, true), number);
}

/// Counted in traces of vit_b_16 in bf16 and tf32. Sequences come first there, so much is copied into another
/// order.
Tensor Eager::unpack_heads(Tensor qkv) {
  const auto [elements, number] = std::pair{of(qkv).elements, of(qkv).number};
  const auto part = elements / 3;
  auto& at = node({qkv});
  forward(stream("permute", Number::fp32, part));
  forward(stream("permute", number, elements));  // the bias, added by itself
  forward(stream("permute", number, elements));
  const auto copies = [&](std::vector<Operation>& to, int count, Number of) {
    for (int i = 0; i < count; ++i) to.push_back(stream("permute", of, part));
  };
  copies(at.forward, is_half() ? 1 : 4, number);
  for (int i = 0; i < 3;
       ++i) {  // the gradient of each part, put into zeros of all three, which are then added
    at.backward.push_back(stream("zero", number, elements));
    at.backward.push_back(stream("copy", number, part));
    if (i > 0) at.backward.push_back(stream("add", number, elements));
  }
  at.backward.push_back(stream("permute", number, elements));
  copies(at.backward, is_half() ? 1 : 5, number);
  copies(at.backward, 4, Number::fp32);
  at.temporary_backward = elements * bytes_of(number);
  return make(elements, number, true);
}

void Eager::cross_entropy(const std::string& name, Tensor logits, std::int64_t rows_of_sample,
                          std::int64_t classes) {
  open(name);
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto [elements, number] = std::pair{of(logits).elements, of(logits).number};
  auto& at = node({logits});
  if (settings_.holds_output) of({of(logits).storage}).saved_for = 0;
  forward(rows("log_softmax", number, m, d(classes)));
  at.backward.push_back(rows("log_softmax_backward", number, m, d(classes)));
  auto logs = make(elements, number, true);
  save(logs);
  logs = cast(logs, Number::fp32);
  auto& loss = node({logs});
  save(logs);
  forward(rows("nll_loss", Number::fp32, m, d(classes)));
  loss.backward.push_back(rows("nll_loss_backward", Number::fp32, m, d(classes)));
  make(1, Number::fp32, true);
}

std::vector<Layer> Eager::take_layers() {
  return std::move(layers_);
}

void Eager::finish() {
  if (settings_.compiled) {
    issue_fused();
  } else {
    issue();
  }
  account();
}

void Eager::issue() {
  std::vector<char> has_gradient(tensors_.size(), 0);
  for (const auto& at : nodes_) {
    auto& to = operations_[static_cast<std::size_t>(at.layer)].forward;
    to.insert(to.end(), at.forward.begin(), at.forward.end());
  }
  for (auto at = nodes_.rbegin(); at != nodes_.rend(); ++at) {
    auto& to = operations_[static_cast<std::size_t>(at->layer)].backward;
    to.insert(to.end(), at->backward.begin(), at->backward.end());
    for (const auto input : at->inputs) {  // a gradient from a second place is added to the first
      const auto& info = of(input);
      if (std::exchange(has_gradient[static_cast<std::size_t>(input.id)], 1) == 1)
        to.push_back(stream("add", info.number, info.elements));
    }
  }
}

/// A kernel that only moves so many bytes.
Operation Eager::fused(double bytes) const {
  return stream("copy", Number::fp32, bytes / (2 * fp32_bytes));
}

/// What Inductor does, about: everything between two products, convolutions, attentions or losses becomes one
/// kernel, which reads what comes from outside and writes what is needed outside, each once. BatchNorm's sums
/// need passes of their own.
void Eager::issue_fused() {
  const auto fuses = [](const Node& at) {
    const auto moves = [](const Operation& operation) {
      return operation.kind == OperationClass::elementwise || operation.kind == OperationClass::normalization;
    };
    return at.forward.size() + at.backward.size() > 0 && std::ranges::all_of(at.forward, moves) &&
           std::ranges::all_of(at.backward, moves) && !at.inputs.empty();
  };
  const auto size = [&](Tensor tensor) { return of(tensor).elements * bytes_of(of(tensor).number); };
  const auto is_batch_norm = [](const Node& at) {
    return !at.forward.empty() && at.forward.front().kernel.starts_with("batch_norm");
  };
  const auto count = static_cast<std::int32_t>(nodes_.size());
  const auto node_at = [&](std::int32_t n) -> Node& { return nodes_[static_cast<std::size_t>(n)]; };

  for (std::int32_t first = 0; first < count;) {
    if (!fuses(node_at(first))) {
      const auto& at = node_at(first++);
      auto& to = operations_[static_cast<std::size_t>(at.layer)].forward;
      to.insert(to.end(), at.forward.begin(), at.forward.end());
      continue;
    }
    auto end = first;
    while (end < count && fuses(node_at(end))) ++end;
    double bytes = 0;
    std::set<std::int32_t> seen;
    for (auto n = first; n < end; ++n) {
      const auto& at = node_at(n);
      for (const auto read : at.reads) {
        if (of(read).made < first && seen.insert(of(read).storage).second) bytes += size(read);
      }
      const auto& kept = of({std::max(of(at.result).storage, 0)});
      if ((kept.saved_for >= 0 || kept.last_use >= end) && seen.insert(of(at.result).storage).second)
        bytes += size(at.result);
      if (is_batch_norm(at)) bytes += size(at.reads.front());
    }
    operations_[static_cast<std::size_t>(node_at(end - 1).layer)].forward.push_back(fused(bytes));
    first = end;
  }

  for (auto last = count; last-- > 0;) {
    const auto& at = node_at(last);
    if (!fuses(at)) {
      auto& to = operations_[static_cast<std::size_t>(at.layer)].backward;
      to.insert(to.end(), at.backward.begin(), at.backward.end());
      continue;
    }
    auto first = last;
    while (first > 0 && fuses(node_at(first - 1))) --first;
    double bytes = 0;
    std::set<std::int32_t> read;
    std::set<std::int32_t> written;
    for (auto n = last; n >= first; --n) {
      const auto& part = node_at(n);
      if (of(part.result).consumer > last) bytes += size(part.result);
      double kept = 0;
      for (const auto tensor : part.saves) {
        if (read.insert(of(tensor).storage).second) kept += size(tensor);
      }
      bytes += kept;
      for (const auto input : part.inputs) {
        if (of(input).made < first && written.insert(input.id).second) bytes += size(input);
      }
      if (is_batch_norm(part)) bytes += 2 * size(part.reads.front());
    }
    operations_[static_cast<std::size_t>(node_at(first).layer)].backward.push_back(fused(bytes));
    last = first;
  }
}

void Eager::account() {
  const auto count = static_cast<std::int32_t>(nodes_.size());
  // Bytes that come and go at each moment: node n runs at n, its backward pass at 2 count - 1 - n.
  const auto moments = 2 * static_cast<std::size_t>(count);
  std::vector<double> change(moments + 1, 0);
  std::vector<double> gradients(moments, 0);
  const auto hold = [&](std::int32_t from, std::int32_t to, double bytes) {
    change[static_cast<std::size_t>(std::max(from, 0))] += bytes;
    change[static_cast<std::size_t>(to) + 1] -= bytes;
  };
  const auto back = [&](std::int32_t n) { return 2 * count - 1 - n; };
  for (const auto& info : tensors_) {
    const auto bytes = info.elements * bytes_of(info.number);
    const bool owns = info.storage == static_cast<std::int32_t>(&info - tensors_.data());
    if (owns) hold(info.made, info.saved_for >= 0 ? back(info.saved_for) : info.last_use, bytes);
    if (info.storage >= 0 && info.needs_grad && info.consumers > 0)
      hold(back(info.consumer), back(std::max(info.made, 0)), bytes);
  }
  for (std::int32_t n = 0; n < count; ++n) {
    const auto& at = nodes_[static_cast<std::size_t>(n)];
    hold(n, n, at.temporary);
    hold(back(n), back(n), at.temporary_backward);
    gradients[static_cast<std::size_t>(back(n))] += at.parameter_bytes;
  }
  double held = 0;
  double gradient = 0;
  for (std::size_t i = 0; i < moments; ++i) {
    held += change[i];
    gradient += gradients[i];
    memory_.activations.push_back(Bytes{held});
    memory_.gradients.push_back(Bytes{gradient});
  }
}

EagerStep eager_step(const Model& model, const EagerSettings& settings) {
  expects(static_cast<bool>(model.run), "a model described by layers can be run");
  Eager eager{settings};
  model.run(eager);
  eager.finish();
  return {eager.operations(), eager.memory()};
}

}  // namespace gradway
