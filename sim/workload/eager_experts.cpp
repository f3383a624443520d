// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts.
#include <fmt/format.h>

#include "sim/workload/eager.hpp"

namespace gradway {

/// The choice of the best reads the rows once more, and is priced as a second softmax.
Tensor Eager::top_k(const std::string& name, Tensor logits, std::int64_t rows_of_sample, std::int64_t experts,
                    std::int64_t k) {
  open(name);
  const auto m = d(rows_of_sample) * settings_.batch;
  logits = cast(logits, Number::fp32);
  auto& at = node({logits});
  const auto softmax = rows("softmax", Number::fp32, m, d(experts));
  forward(softmax);
  forward(softmax);
  forward(stream("scale", Number::fp32, m * d(k)));  // that the shares of the best make 1
  at.backward = {stream("scale", Number::fp32, m * d(k)), stream("zero", Number::fp32, m * d(experts)),
                 rows("softmax_backward", Number::fp32, m, d(experts))};
  save(make(m * d(experts), Number::fp32, false));  // all shares
  return make(m * d(k), Number::fp32, true);
}

Tensor Eager::dispatch(const std::string& name, Tensor x, std::int64_t rows_of_sample, std::int64_t width,
                       std::int64_t k) {
  open(name);
  const auto number = of(x).number;
  const auto elements = d(rows_of_sample * k) * d(width) * settings_.batch;
  auto& at = node({x});
  save(make(2 * d(rows_of_sample * k) * settings_.batch, Number::fp32, false));  // int64: whose row it is
  forward(stream("permute", number, elements));
  at.backward = {stream("permute", number, elements), stream("sum", number, elements)};
  at.temporary_backward = elements * bytes_of(number);
  return make(elements, number, true);
}

Tensor Eager::grouped_linear(const std::string& name, Tensor x, std::int64_t rows_of_sample,
                             std::int64_t inputs, std::int64_t outputs, std::int64_t experts) {
  open(name, {{name + ".weight", {experts, outputs, inputs}}});
  const auto number = is_half() ? half_number() : Number::fp32;
  x = cast(x, number);
  const auto m = d(rows_of_sample) * settings_.batch;
  const auto weight = d(experts * outputs * inputs);
  const auto copy = cast_weight(weight);
  auto& at = node({x});
  save(x);
  if (copy > 0) save(make(weight, number, false));
  const auto product = [&](const char* layout, double rows, double columns, double inner) {
    return operation(fmt::format("grouped_product {} {}", arithmetic(), layout),
                     {rows, columns, inner, d(experts)});
  };
  forward(product("nt", m, d(outputs), d(inputs)));
  at.backward = {product("nn", m, d(inputs), d(outputs)), product("tn", d(outputs), d(inputs), m)};
  weight_back(at, weight);
  return make(m * d(outputs), number, true);
}

Tensor Eager::combine(const std::string& name, Tensor x, Tensor shares, std::int64_t rows_of_sample,
                      std::int64_t width) {
  open(name);
  const auto [elements, number] = std::pair{of(x).elements, of(x).number};
  const auto times = stream("mul", number, elements);
  const auto permute = stream("permute", number, elements);
  const auto sum = stream("sum", number, elements);
  auto& at = node({x, shares});
  save(x);
  save(shares);
  at.forward = {permute, times, sum};
  at.backward = {permute, times, times, sum};  // of the rows, then of their shares
  at.temporary = at.temporary_backward = elements * bytes_of(number);
  return make(d(rows_of_sample * width) * settings_.batch, number, true);
}

}  // namespace gradway
