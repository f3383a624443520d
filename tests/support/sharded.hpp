// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/support/builders.hpp"

namespace gradway::test {

/// Blocks of one layer with explicit times and one parameter of `rows` rows of 1,000 numbers.
inline std::vector<Layer> blocks_of_layers(int count, Seconds forward, Seconds backward, std::int64_t rows) {
  std::vector<Layer> layers;
  for (int i = 0; i < count; ++i) {
    Layer layer;
    layer.name = fmt::format("h.{}.mlp", i);
    if (rows > 0) layer.parameters = {{"weight", {rows, 1000}}};
    layer.forward.time = forward;
    layer.backward.time = backward;
    layers.push_back(std::move(layer));
  }
  return layers;
}

/// A job of such blocks on an ideal ring of 50 GB/s without latency: an all-gather or a reduce-scatter of S
/// bytes takes (N - 1)/N S/50 GB/s.
inline Scenario sharded_ring(int ranks, std::vector<Layer> layers, Strategy strategy) {
  Scenario scenario;
  scenario.name = "test";
  scenario.platform = ring_platform(ranks, 50_GBps, Seconds{});
  scenario.model.name = "synthetic";
  scenario.model.layers = std::move(layers);
  scenario.model.optimizer_time = Seconds{};
  scenario.job.gpus = ranks;
  scenario.job.strategy = std::move(strategy);
  return scenario;
}

}  // namespace gradway::test
