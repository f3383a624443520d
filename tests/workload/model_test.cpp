// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

double forward_flops(const Model& model) {
  double sum = 0;
  for (const auto& layer : model.layers) sum += layer.forward.flops_per_sample.value();
  return sum;
}

Model vit_l_32() {
  return model_of(vision_transformer({224, 32, 24, 16, 1024, 4096, 1000}));
}

}  // namespace

TEST_CASE("vit_l_32 has exactly torchvision's parameters") {
  CHECK(vit_l_32().parameter_count() == 306535400);
  // 2 for patches, 2 embeddings, 12 per block, 2 for the last norm, 2 for the head
  CHECK(vit_l_32().parameter_tensors() == 2 + 2 + 24 * 12 + 2 + 2);
}

TEST_CASE("other vision transformers have torchvision's published parameters") {
  // torchvision's model table: vit_b_16, vit_b_32, vit_l_16
  CHECK(model_of(vision_transformer({224, 16, 12, 12, 768, 3072, 1000})).parameter_count() == 86567656);
  CHECK(model_of(vision_transformer({224, 32, 12, 12, 768, 3072, 1000})).parameter_count() == 88224232);
  CHECK(model_of(vision_transformer({224, 16, 24, 16, 1024, 4096, 1000})).parameter_count() == 304326632);
}

TEST_CASE("vit_l_32 does torchvision's published work") {
  // torchvision's model table: 15.378 GFLOPS, which counts a multiply-add once.
  CHECK(forward_flops(vit_l_32()) / 2e9 == Approx(15.378).epsilon(1e-4));
}

TEST_CASE("a GPT-2 of 12 layers has 163,109,376 parameters, or 124,475,904 with a tied output layer") {
  DecoderShape shape;
  CHECK(model_of(decoder(shape)).parameter_count() == 163109376);
  shape.tied_output = true;
  CHECK(model_of(decoder(shape)).parameter_count() == 163109376 - 50304 * 768);
}

TEST_CASE("residual networks have torchvision's published parameters and work") {
  // torchvision's model table: parameters, and GFLOPS, which count a multiply-add once.
  struct Published {
    ResidualShape shape;
    std::int64_t parameters;
    double giga;
  };
  const auto published = GENERATE(Published{{224, {3, 4, 6, 3}}, 25557032, 4.089},
                                  Published{{224, {3, 4, 23, 3}}, 44549160, 7.801},
                                  Published{{224, {3, 4, 6, 3}, 32, 4}, 25028904, 4.230},
                                  Published{{224, {3, 4, 23, 3}, 32, 8}, 88791336, 16.414});
  const auto model = model_of(residual_network(published.shape));
  CHECK(model.parameter_count() == published.parameters);
  CHECK(forward_flops(model) / 2e9 == Approx(published.giga).epsilon(2e-4));
}

TEST_CASE("BERT has Google's parameters") {
  EncoderShape shape;
  shape.outputs = 2;
  // without the output layer on top
  CHECK(model_of(encoder(shape)).parameter_count() - (2 * 768 + 2) == 109482240);
  shape = {24, 16, 1024, 4096};
  CHECK(model_of(encoder(shape)).parameter_count() - (2 * 1024 + 2) == 335141888);
  const auto with_pooler = model_of(encoder(shape)).parameter_count();
  shape.pooler = false;
  CHECK(with_pooler - model_of(encoder(shape)).parameter_count() == 1024 * 1024 + 1024);
}

TEST_CASE("BERT does two operations per weight and token, plus those of attention") {
  const EncoderShape shape{.layers = 1, .vocabulary = 100, .sequence = 128, .outputs = 2, .pooler = false};
  const double weights = 4.0 * 768 * 768 + 2.0 * 768 * 3072 + 2.0 * 768;
  CHECK(forward_flops(model_of(encoder(shape))) == Approx(2 * 128 * weights + 4.0 * 128 * 128 * 768));
}

TEST_CASE("SSD300 on ResNet-50 has the parameters and boxes of its layers") {
  const auto model = model_of(detector({}));
  // ResNet-50 without its fourth stage and output layer; five further feature maps with 1x1 and 3x3
  // convolutions and their BatchNorms; positions and classes of 30 kinds of boxes on maps of 1024, 512, 512,
  // 256, 256 and 256 channels
  const std::int64_t backbone = 25557032 - 14964736 - 2049000;
  const std::int64_t further = 524288 + 3244032 + 5376;
  const std::int64_t heads = 9 * 85 * (4 * 1024 + 6 * 512 + 6 * 512 + 6 * 256 + 4 * 256 + 4 * 256) + 30 * 85;
  CHECK(model.parameter_count() == backbone + further + heads);
  // 8732 boxes (Liu et al., SSD, 2016); the loss has 81 values per box
  const auto step = eager_step(model, {.batch = 1});
  CHECK(step.layers.back().forward.front().size[0] == 8732);
  CHECK(step.layers.back().forward.front().size[1] == 81);
}

TEST_CASE("shapes propagate through the layers of a plain network") {
  using Kind = LayerShape::Kind;
  // LeNet-5 on 28 x 28: 61,706 parameters
  const auto lenet = model_of(sequential({1, 28, 28}, {{Kind::conv2d, "c1", 6, 5, 1, 2, true},
                                                       {Kind::relu, "r1", 0, 1, 1, 0, true},
                                                       {Kind::average_pool, "p1", 0, 2, 2, 0, true},
                                                       {Kind::conv2d, "c2", 16, 5, 1, 0, true},
                                                       {Kind::average_pool, "p2", 0, 2, 2, 0, true},
                                                       {Kind::linear, "f1", 120, 1, 1, 0, true},
                                                       {Kind::linear, "f2", 84, 1, 1, 0, true},
                                                       {Kind::linear, "f3", 10, 1, 1, 0, true}}));
  CHECK(lenet.parameter_count() == 61706);
}

TEST_CASE("synthetic layers repeat with explicit times") {
  const auto layers = synthetic({{"layer", 3, 1_ms, 2_ms, 100}});
  REQUIRE(layers.size() == 3);
  CHECK(layers[2].name == "layer.2");
  CHECK(layers[2].forward.time == 1_ms);
  CHECK(layers[2].parameter_count() == 100);
}
