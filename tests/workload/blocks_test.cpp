// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>

#include "sim/workload/architectures.hpp"
#include "sim/workload/blocks.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using namespace gradway::test;

TEST_CASE("blocks follow from the names of layers") {
  Model model;
  for (const auto* name : {"wte", "h.0.ln_1", "h.0.mlp.fc1", "h.1.ln_1", "encoder.encoder_layer_7.mlp.0",
                           "layer1.0.downsample.1", "head.2"}) {
    model.layers.emplace_back();
    model.layers.back().name = name;
  }
  const auto blocks = blocks_of(model);
  CHECK(blocks.count == 4);
  CHECK(blocks.of_layer == std::vector<std::int32_t>{-1, 0, 0, 1, 2, 3, -1});
}

TEST_CASE("all 24 blocks of a vision transformer are found") {
  CHECK(blocks_of(model_of(vision_transformer({224, 32, 24, 16, 1024, 4096, 1000}))).count == 24);
}

namespace {

/// Three blocks of two gradients between an embedding and a head, with two kernels in each direction.
Model profiled() {
  auto profile = std::make_shared<Profile>();
  Model model;
  const auto launch = [&](ProfiledPhase phase, const char* name) {
    Launch one;
    one.phase = phase;
    one.name = name;
    profile->launches.push_back(one);
  };
  const auto gradient = [&](std::vector<std::int64_t> shape) {
    profile->gradients.push_back({shape, 4, profile->launches.size()});
    Layer layer;
    layer.parameters = {{"weight", shape}};
    model.layers.insert(model.layers.begin(), layer);
  };
  launch(ProfiledPhase::forward, "embedding");
  for (int i = 0; i < 3; ++i)
    for (const auto* name : {"norm", "mm"}) launch(ProfiledPhase::forward, name);
  launch(ProfiledPhase::forward, "head");
  launch(ProfiledPhase::backward, "head_backward");
  gradient({100, 8});
  for (int i = 0; i < 3; ++i) {
    launch(ProfiledPhase::backward, "mm_backward");
    gradient({8, 8});
    launch(ProfiledPhase::backward, "norm_backward");
    gradient({8});
  }
  launch(ProfiledPhase::backward, "embedding_backward");
  gradient({50, 8});
  model.profile = std::move(profile);
  return model;
}

}  // namespace

TEST_CASE("blocks of a profile are repetitions of its gradients and kernels") {
  const auto blocks = blocks_of(profiled());
  CHECK(blocks.count == 3);
  CHECK(blocks.of_layer == std::vector<std::int32_t>{-1, 0, 0, 1, 1, 2, 2, -1});
  CHECK(blocks.of_launch == std::vector<std::int32_t>{-1, 0, 0, 1, 1, 2, 2, -1, -1, 2, 2, 1, 1, 0, 0, -1});
}

TEST_CASE("a profile with few repetitions has no blocks") {
  auto model = profiled();
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    model.layers[i].parameters.front().shape = {static_cast<std::int64_t>(i + 1)};
  CHECK(blocks_of(model).count == 0);
}
