// SPDX-License-Identifier: Apache-2.0
// LayerNorm, RMSNorm and BatchNorm.
#include <fmt/format.h>

#include "sim/workload/eager/eager.hpp"

namespace gradway {

Tensor Eager::norm(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t width,
                   std::string_view kernel, std::vector<Parameter> parameters) {
  double trained = 0;
  for (const auto& parameter : parameters) trained += d(parameter.elements());
  open(name, std::move(parameters));
  const auto number = parameter_number();
  x = cast(x, number);
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto elements = of(x).elements;
  auto& function = node({x});
  save(x);
  save(make(m * (kernel == "layer_norm" ? 2 : 1), Number::fp32, false));
  forward(rows(kernel, number, m, d(width)));
  // With frozen parameters, only x has a gradient. The kernel then has the traffic of a softmax's.
  function.backward.push_back(
      rows(settings_.lora ? "softmax_backward" : fmt::format("{}_backward", kernel), number, m, d(width)));
  add_parameter_gradient(function, trained);
  return make(elements, number, true);
}

Tensor Eager::layer_norm(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t width,
                         bool bias) {
  return norm(name, x, rows_of_sample, width, "layer_norm", weight_and_bias(name, {width}, width, bias));
}

/// RMSNorm as separate operations in fp32. A frozen one keeps no factors of its weight's gradient. @source
/// rms_norm_composite in aten/src/ATen/native/layer_norm.cpp of PyTorch; T5LayerNorm and LlamaRMSNorm of
/// github.com/huggingface/transformers do the same
Tensor Eager::composed_rms_norm(const std::string& name, Tensor x, double m, std::int64_t width) {
  open(name, weight_and_bias(name, {width}, width, false));
  constexpr auto wide = Number::fp32;
  const auto [number, n] = std::pair{of(x).number, of(x).elements};
  auto& function = node({x});
  const auto of_all = [&](const char* kernel) { return stream(kernel, wide, n); };
  const auto of_rows = stream("scale", wide, m);
  const bool widens = number != wide;
  if (widens) {
    save(make(n, wide, false));  // the input
  } else {
    save(x);
  }
  if (!settings_.lora) save(make(n, wide, false));  // the input over its root mean square
  save(make(m, wide, false));
  // Squares, their mean and its root; the input divided by it and multiplied by the weight.
  function.forward = {of_all("scale"), of_all("sum"), of_rows, of_rows, of_all("scale"), of_all("scale")};
  // Gradients of the weight, the input, and the root mean square with the squares; their sum.
  function.backward = {of_all("scale"), of_all("scale"), of_all("mul"), of_all("sum"),
                       of_rows,         of_rows,         of_rows,       of_all("scale"),
                       of_all("scale"), of_all("scale"), of_all("add")};
  if (!settings_.lora)
    function.backward.insert(function.backward.begin() + 1, {of_all("mul"), of_all("sum")});
  if (widens) {
    for (auto* pass : {&function.forward, &function.backward}) {
      pass->insert(pass->begin(), stream("cast_to_32", number, n));
      pass->push_back(stream("cast_to_16", wide, n));
    }
  }
  add_parameter_gradient(function, d(width));
  return make(n, number, true);
}

/// PyTorch has no fused kernel for a 16-bit tensor and an fp32 weight, as under autocast (PyTorch 2.11 warns
/// about it). torch.compile fuses the separate operations.
Tensor Eager::rms_norm(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t width,
                       bool composed) {
  const bool has_kernel = of(x).number == Number::fp32 || parameter_number() != Number::fp32;
  const bool has_choice = !settings_.megatron && !settings_.compiled;
  if (has_choice && is_hugging_face())
    return hugging_face_rms_norm(name, x, d(rows_of_sample) * settings_.batch, width);
  if (has_choice && (composed || settings_.composed_norms || (!has_kernel && !settings_.lora)))
    return composed_rms_norm(name, x, d(rows_of_sample) * settings_.batch, width);
  const auto number = of(x).number;
  const auto y =
      norm(name, x, rows_of_sample, width, "rms_norm", weight_and_bias(name, {width}, width, false));
  return settings_.compiled ? cast(y, number) : y;
}

Tensor Eager::batch_norm(const std::string& name, Tensor x, std::int64_t channels, double side) {
  const auto role = std::exchange(role_, LayerRole::batch_norm);
  open(name, weight_and_bias(name, {channels}, channels, true));
  role_ = role;
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  auto& function = node({x});
  save(x);
  save(make(2 * d(channels), Number::fp32, false));
  const auto normalize = [&](std::string_view direction) {
    return operation(fmt::format("batch_norm{} {} {}", direction, name_of(number),
                                 settings_.channels_last ? "nhwc" : "nchw"),
                     {d(settings_.batch), d(channels), side});
  };
  forward(normalize(""));
  forward(stream("count", Number::fp32, 1));  // num_batches_tracked += 1
  function.backward.push_back(normalize("_backward"));
  function.parameter_bytes += 2 * bytes_of(parameter_number()) * d(channels);
  return make(elements, number, true);
}

}  // namespace gradway
