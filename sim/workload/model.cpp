// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/model.hpp"

#include <functional>
#include <numeric>

namespace gradway {

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

std::int64_t Parameter::elements() const {
  return elements_of(shape);
}

std::int64_t Layer::parameter_count() const {
  return std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0},
                         [](std::int64_t sum, const Parameter& p) { return sum + p.elements(); });
}

Bytes Layer::frozen_size() const {
  return std::accumulate(frozen.begin(), frozen.end(), Bytes{},
                         [](Bytes sum, const FrozenParameter& p) { return sum + p.size(); });
}

std::int64_t Model::parameter_count() const {
  return std::accumulate(layers.begin(), layers.end(), std::int64_t{0},
                         [](std::int64_t sum, const Layer& layer) { return sum + layer.parameter_count(); });
}

std::size_t Model::parameter_tensors() const {
  return std::accumulate(layers.begin(), layers.end(), std::size_t{0},
                         [](std::size_t sum, const Layer& layer) { return sum + layer.parameters.size(); });
}

std::int64_t Model::frozen_count() const {
  std::int64_t count = 0;
  for (const auto& layer : layers)
    for (const auto& weight : layer.frozen) count += weight.parameter.elements();
  return count;
}

Bytes Model::frozen_size() const {
  return std::accumulate(layers.begin(), layers.end(), Bytes{},
                         [](Bytes sum, const Layer& layer) { return sum + layer.frozen_size(); });
}

}  // namespace gradway
