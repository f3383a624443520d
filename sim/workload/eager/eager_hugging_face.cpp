// SPDX-License-Identifier: Apache-2.0
// Operations that the models of Hugging Face's transformers write out, where PyTorch has one kernel. All
// lists of kernels are those of own traces of Llama 3.2 1B, Qwen2.5 0.5B, Phi-3 mini and GPT-2 on an H100,
// 2026-11-24, PyTorch 2.11 and transformers 5.17.
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/eager/eager.hpp"

namespace gradway {

/// Norms in fp32, then multiplies by the weight in the format of the input. Under autocast the weight has
/// fp32, and so has the result. @source LlamaRMSNorm of transformers, models/llama/modeling_llama.py
Tensor Eager::hugging_face_rms_norm(const std::string& name, Tensor x, double m, std::int64_t width) {
  open(name, weight_and_bias(name, {width}, width, false));
  constexpr auto wide = Number::fp32;
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  const auto result = parameter_number() == wide ? wide : number;
  const bool widens = number != wide;
  auto& function = node({x});
  const auto of_all = [&](const char* kernel) { return stream(kernel, wide, n); };
  const auto of_rows = stream("scale", wide, m);
  if (widens) {
    save(make(n, wide, false));  // the input
  } else {
    save(x);
  }
  if (!settings_.lora) save(make(n, number, false));  // the input over its root mean square
  save(make(m, wide, false));
  if (widens) forward(stream("cast_to_32", number, n));
  // Squares, their mean, a small number and the root; the input divided by it.
  for (const auto& operation : {of_all("scale"), of_all("sum"), of_rows, of_rows, of_all("scale")})
    forward(operation);
  if (widens) forward(stream("cast_to_16", wide, n));
  forward(stream(result == number ? "scale" : "cast_to_32", number, n));
  // Gradients of the norm and of the weight.
  function.backward = {stream("scale", result, n)};
  if (result != number) function.backward.push_back(stream("cast_to_16", result, n));
  if (!settings_.lora) {
    function.backward.push_back(stream("mul", result, n));
    function.backward.push_back(rows("bias_sum", result, m, d(width)));
  }
  if (widens) function.backward.push_back(stream("cast_to_32", number, n));
  // Gradients of the root and of the input; of the root's parts; of the mean and the squares; their sum.
  function.backward.insert(function.backward.end(),
                           {of_all("mul"), of_all("scale"), of_all("sum"), of_rows, of_rows, of_rows,
                            of_all("scale"), of_all("copy"), of_all("scale"), of_all("mul"), of_all("add")});
  if (widens) function.backward.push_back(stream("cast_to_16", wide, n));
  function.temporary = function.temporary_backward = 2 * n * bytes_of(wide);
  add_parameter_gradient(function, d(width));
  return make(n, result, true);
}

/// Computes x cos + [-x2, x1] sin, where x1 and x2 are the halves of a head. Under autocast the sines are in
/// fp32, and so is the result. In the backward pass the gradient of each half is padded to whole heads.
/// @source apply_rotary_pos_emb and rotate_half of transformers, models/llama/modeling_llama.py
Tensor Eager::composed_rotary(const std::string& name, Tensor x) {
  open(name);
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  const auto result = casts() ? Number::fp32 : number;
  const bool widens = result != number;
  const auto of_all = [&](const char* kernel) { return stream(kernel, number, n); };
  const auto half = [&](const char* kernel) { return stream(kernel, number, n / 2); };
  const auto times = of_all(widens ? "cast_to_32" : "scale");
  auto& function = node({x});
  function.forward = {times, half("scale"), of_all("permute"), times, stream("add", result, n)};
  for (const bool is_second : {false, true}) {
    function.backward.push_back(stream("scale", result, n));
    if (widens) function.backward.push_back(stream("cast_to_16", result, n));
    if (is_second) break;
    function.backward.insert(function.backward.end(), {half("scale"), of_all("zero"), half("permute"),
                                                       of_all("zero"), half("permute"), of_all("add")});
  }
  function.backward.insert(function.backward.end(), {of_all("add"), of_all("permute")});
  function.temporary = function.temporary_backward = 2 * n * bytes_of(result);
  return make(n, result, true);
}

std::vector<Tensor> Eager::slices(Tensor x, std::int64_t rows_of_sample,
                                  const std::vector<std::int64_t>& widths) {
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  auto& function = node({x});
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    function.backward.push_back(stream("zero", number, n));
    function.backward.push_back(stream("permute", number, m * d(widths[i])));
    if (i > 0) function.backward.push_back(stream("add", number, n));
  }
  function.temporary_backward = n * bytes_of(number);
  std::vector<Tensor> views;
  for (const auto width : widths) views.push_back(view(x, m * d(width)));
  return views;
}

/// 0.5 x (1 + tanh(c (x + 0.044715 x^3))). Autocast computes the power, and what follows from it, in fp32.
/// @source NewGELUActivation of transformers, activations.py
Tensor Eager::gelu_new(const std::string& name, Tensor x) {
  if (!is_hugging_face() || settings_.compiled) return activation(name, "gelu", x);
  open(name);
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  const auto inner = casts() ? Number::fp32 : number;
  const bool widens = inner != number;
  const auto in = [&](const char* kernel) { return stream(kernel, inner, n); };
  const auto narrow = [&](const char* kernel) { return stream(kernel, number, n); };
  const auto times = narrow(widens ? "add_mixed" : "mul");  // of x and of a number of `inner`
  auto& function = node({x});
  if (widens) {
    save(make(n, inner, false));  // the input of the power
  } else {
    save(x);
  }
  for (const auto saved : {inner, inner, number}) save(make(n, saved, false));  // tanh, 1 + tanh, 0.5 x
  forward(narrow("scale"));
  if (widens) forward(narrow("cast_to_32"));
  for (const auto& operation : {in("scale"), in("scale"), times, in("scale"), in("tanh"), in("scale"), times})
    forward(operation);
  const auto cast_back = [&] {
    if (widens) function.backward.push_back(in("cast_to_16"));
  };
  function.backward = {times, in("mul")};
  cast_back();
  function.backward.insert(function.backward.end(), {in("tanh_backward"), in("scale")});
  cast_back();
  function.backward.insert(function.backward.end(), {in("scale"), in("scale"), in("scale"), in("mul")});
  cast_back();
  function.backward.insert(function.backward.end(), {narrow("add"), narrow("scale"), narrow("add")});
  function.temporary = function.temporary_backward = 2 * n * bytes_of(inner);
  return make(n, inner, true);
}

Tensor Eager::soft_cap(const std::string& name, Tensor x) {
  open(name);
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  const auto scale = stream("scale", number, n);
  auto& function = node({x});
  save(make(n, number, false));  // tanh
  function.forward = {scale, stream("tanh", number, n), scale};
  function.backward = {scale, stream("tanh_backward", number, n), scale};
  return make(n, number, true);
}

Tensor Eager::scaled(Tensor x) {
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x});
  forward(stream("scale", number, elements));
  function.backward.push_back(stream("scale", number, elements));
  return make(elements, number, of(x).needs_grad);
}

/// cuDNN runs it as the product of a matrix of windows with the weight; the bias is added afterwards.
Tensor Eager::conv1d(const std::string& name, Tensor x, std::int64_t in_channels, std::int64_t out_channels,
                     std::int64_t kernel, std::int64_t stride, std::int64_t places) {
  open(name, weight_and_bias(name, {out_channels, in_channels, kernel}, out_channels, true));
  if (is_half()) x = cast(x, half_number());
  const auto number = is_half() ? half_number() : Number::fp32;
  const auto m = d((places + 2 - kernel) / stride + 1) * settings_.batch;
  const auto [n, k] = std::pair{d(out_channels), d(in_channels * kernel)};
  const auto copy = cast_weight(n * k);
  cast_weight(n);
  auto& function = node({x});
  save(x);
  if (copy > 0) save(make(n * k, number, false));
  forward(stream("permute", number, of(x).elements));
  forward(product("nt", m, n, k));
  forward(stream("permute", number, m * n));
  forward(stream("add_", number, m * n));
  function.backward.push_back(stream("permute", number, m * n));
  if (of(x).needs_grad) function.backward.push_back(product("nn", m, k, n));
  function.backward.push_back(product("tn", n, k, m));
  function.backward.push_back(rows("bias_sum", number, m, n));
  add_weight_gradient(function, n * k);
  add_weight_gradient(function, n);
  return make(m * n, number, true);
}

}  // namespace gradway
