// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"

namespace gradway {
namespace {

/// Linear layers, each but the last of the model with a ReLU. @return the result
Tensor add_mlp(Eager& run, const std::string& name, Tensor x, std::int64_t inputs,
               const std::vector<int>& widths, bool ends_with_relu) {
  for (std::size_t i = 0; i < widths.size(); ++i) {
    x = run.linear(fmt::format("{}.{}", name, 2 * i), x, 1, inputs, widths[i]);
    if (ends_with_relu || i + 1 < widths.size()) x = run.relu(fmt::format("{}.{}", name, 2 * i + 1), x);
    inputs = widths[i];
  }
  return x;
}

}  // namespace

ForwardPass recommender(const RecommenderShape& shape) {
  return [shape](Eager& run) {
    const auto width = shape.bottom.back();
    const auto features = static_cast<std::int64_t>(shape.tables) + 1;
    auto x =
        add_mlp(run, "bottom", run.input(shape.dense_features), shape.dense_features, shape.bottom, true);
    x = run.dot_interaction("interaction", x, features, width);
    x = add_mlp(run, "top", x, width + features * (features - 1) / 2, shape.top, false);
    run.binary_cross_entropy("loss", x);
  };
}

}  // namespace gradway
