// SPDX-License-Identifier: Apache-2.0
// Experts that run one after another; the CPU reads the rows of each.
#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr int layers = 3;

ForwardPass experts_of(int number) {
  DecoderShape shape{.layers = layers,
                     .heads = 4,
                     .hidden = 64,
                     .mlp = 96,
                     .vocabulary = 100,
                     .sequence = 32,
                     .bias = false};
  shape.activation = DecoderShape::Activation::swiglu;
  shape.experts = Experts{.number = number, .top_k = 2, .mlp = 48};
  return decoder(shape);
}

EagerStep step_of(int number, bool loops, bool megatron = false) {
  return eager_step(model_of(experts_of(number)), {.batch = 4,
                                                   .precision = Precision::bf16,
                                                   .half_parameters = true,
                                                   .megatron = megatron,
                                                   .expert_loop = loops});
}

template <class Of>
double sum(const EagerStep& step, bool forward, const Of& of) {
  double all = 0;
  for (const auto& layer : step.layers)
    for (const auto& one : forward ? layer.forward : layer.backward) all += of(one);
  return all;
}

double reads(const Operation& one) {
  return one.host_waits ? 1 : 0;
}

double flops(const Operation& one) {
  return one.flops.value();
}

}  // namespace

// Mixtral and Qwen3 of transformers 5.17 with 4 layers on an H100, 2026-11-25: 164 synchronisations for 32
// experts, 1,264 for 252 experts with rows.
TEST_CASE("the CPU reads five results per expert and one per layer in a loop over experts", "[workload]") {
  for (const int number : {2, 8, 16}) {
    const auto step = step_of(number, true);
    CHECK(sum(step, true, reads) == layers * (1 + 5 * number));
    CHECK(sum(step, false, reads) == 0);
  }
  CHECK(sum(step_of(8, false), true, reads) == 0);
}

TEST_CASE("Megatron's grouped products need the counts on the host once per layer", "[workload]") {
  CHECK(sum(step_of(8, false, true), true, reads) == layers);
}

TEST_CASE("a loop over experts does the work of grouped products in small kernels", "[workload]") {
  const auto grouped = step_of(8, false);
  const auto loop = step_of(8, true);
  for (const bool forward : {true, false})
    CHECK(sum(loop, forward, flops) == Approx(sum(grouped, forward, flops)));
  const auto products = [](const Operation& one) { return one.kernel.starts_with("product") ? 1.0 : 0; };
  const auto grouped_products = [](const Operation& one) {
    return one.kernel.starts_with("grouped_product") ? 1.0 : 0;
  };
  CHECK(sum(loop, true, grouped_products) == 0);
  CHECK(sum(loop, true, products) - sum(grouped, true, products) == 8 * sum(grouped, true, grouped_products));
}

// One expert in the same runs: 16 operations forward, five of which are reads; backward, IndexBackward0 (of
// rows and of shares) with 18 kernels each, and SelectBackward0 with a copy into a tensor of all weights,
// which is added to those of the other experts.
TEST_CASE("the rows of each expert in a loop are gathered, weighted in fp32 and added separately",
          "[workload]") {
  const auto launches = [](int number, bool forward) {
    return sum(step_of(number, true), forward, [](const Operation&) { return 1.0; });
  };
  CHECK(launches(9, true) - launches(8, true) == layers * 14);
  CHECK(launches(9, false) - launches(8, false) == layers * 32);
  const auto casts = [](const Operation& one) {
    return one.kernel == "elementwise cast_to_16 fp32" ? one.size[0] : 0;
  };
  // 64 numbers per pair of token and expert, forward and backward.
  for (const bool forward : {true, false})
    CHECK(sum(step_of(8, true), forward, casts) - sum(step_of(8, false), forward, casts) ==
          Approx(layers * 4 * 32 * 2 * 64));
}

TEST_CASE("the gradient of each expert in a loop has the size of all weights, and these gradients are added",
          "[workload]") {
  const auto zeroed = [](const EagerStep& step) {
    return sum(step, false, [](const Operation& one) {
      return one.kernel.starts_with("elementwise zero") ? one.size[0] : 0;
    });
  };
  // Two weights per layer, of 2 x 48 and 48 columns of 64 numbers per expert; and the rows of all tokens.
  const double weights = 8 * 8 * (3 * 48 * 64);
  const double rows = 8 * 4 * 32 * 64;
  CHECK(zeroed(step_of(8, true)) - zeroed(step_of(8, false)) == Approx(layers * (weights + rows)));
}
