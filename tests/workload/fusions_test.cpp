// SPDX-License-Identifier: Apache-2.0
// Kernels of Megatron's modules with and without its fusions.
#include <array>
#include <string>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/decoder.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr double rows = 2 * 64;  // 2 samples of 64 tokens
constexpr double bf16 = 2;
constexpr double fp32 = 4;

/// A block of Llama with 4 heads of 16 elements, and 2 of keys.
DecoderShape llama() {
  DecoderShape shape{.layers = 1, .heads = 4, .hidden = 64, .mlp = 192, .vocabulary = 128, .sequence = 64};
  shape.kv_heads = 2;
  shape.bias = false;
  shape.norm = DecoderShape::Norm::rms_norm;
  shape.activation = DecoderShape::Activation::swiglu;
  shape.positions = DecoderShape::Positions::rotary;
  return shape;
}

EagerStep step_of(const DecoderShape& shape, Fusions fusions) {
  auto model = model_of(decoder(shape));
  model.layers = layers_of(model.run, 0, true, {}, false, false, fusions);
  return eager_step(model, {.batch = 2,
                            .precision = Precision::bf16,
                            .half_parameters = true,
                            .megatron = true,
                            .fusions = fusions});
}

struct Pass {
  int kernels = 0;
  double bytes = 0;
  bool operator==(const Pass&) const = default;
};

/// What the unfused form adds to the forward and to the backward pass.
std::array<Pass, 2> added(const DecoderShape& shape, Fusions fused, Fusions unfused) {
  std::array<Pass, 2> passes;
  for (const auto& [fusions, sign] : {std::pair{unfused, 1}, std::pair{fused, -1}}) {
    const auto step = step_of(shape, fusions);
    for (const auto& layer : step.layers) {
      for (const auto& one : layer.forward) {
        passes[0].kernels += sign;
        passes[0].bytes += sign * one.bytes.value();
      }
      for (const auto& one : layer.backward) {
        passes[1].kernels += sign;
        passes[1].bytes += sign * one.bytes.value();
      }
    }
  }
  return passes;
}

double kept(const EagerStep& step) {
  return step.memory.activations[step.memory.forward - 1].value();
}

}  // namespace

TEST_CASE("a fused gate reads its halves and writes their product once") {
  const double n = bf16 * rows * 192;
  for (const auto& [fused, unfused] :
       {std::pair{Fusions::all, Fusions::rope}, std::pair{Fusions::activation, Fusions::none}}) {
    const auto [forward, backward] = added(llama(), fused, unfused);
    // silu: 2, product: 3; fused: 3
    CHECK(forward == Pass{1, (2 + 3 - 3) * n});
    // two products: 3 each, silu: 3, concatenation of both gradients: 4; fused: 5
    CHECK(backward == Pass{3, (3 + 3 + 3 + 4 - 5) * n});
  }
  // The activation is kept beside both halves.
  CHECK(kept(step_of(llama(), Fusions::rope)) - kept(step_of(llama(), Fusions::all)) == Approx(n));
}

TEST_CASE("fused rotary positions read and write queries and keys once") {
  const double n = rows * (4 + 2) * 16;  // elements of queries and keys
  const double angles = 2 * 64 * 16;     // of both
  for (const auto& [fused, unfused] :
       {std::pair{Fusions::all, Fusions::activation}, std::pair{Fusions::rope, Fusions::none}}) {
    const auto [forward, backward] = added(llama(), fused, unfused);
    const double of_fused = 2 * bf16 * n + fp32 * angles;
    // Cosine, its factor and its cast, and the same for the sine; two products, half of them negated, two
    // concatenations and a sum.
    const double of_angles = 2 * (2 * 2 * fp32 + fp32 + bf16) * angles;
    CHECK(forward.kernels == 2 * (12 - 1));
    CHECK(forward.bytes == Approx(of_angles + (2 + 2 + 1 + 2 + 2 + 3) * bf16 * n - of_fused));
    // Two products, half of them negated, a concatenation, two sums and the zeros of the empty part.
    CHECK(backward.kernels == 2 * (7 - 1));
    CHECK(backward.bytes == Approx((2 + 2 + 1 + 2 + 3 + 3 + 1) * bf16 * n - of_fused));
  }
  // cosines and sines
  CHECK(kept(step_of(llama(), Fusions::activation)) - kept(step_of(llama(), Fusions::all)) ==
        Approx(2 * bf16 * angles));
}

TEST_CASE("without fusions a kernel adds the bias of the first layer of an MLP") {
  auto gelu = llama();
  gelu.activation = DecoderShape::Activation::gelu;
  gelu.mlp_bias = true;
  const double n = bf16 * rows * 192;
  CHECK(added(gelu, Fusions::all, Fusions::rope) == std::array{Pass{1, 2 * n}, Pass{}});
  gelu.mlp_bias = false;
  CHECK(added(gelu, Fusions::all, Fusions::rope) == std::array{Pass{}, Pass{}});
  auto gated = llama();
  gated.mlp_bias = true;
  CHECK(added(gated, Fusions::all, Fusions::rope)[0] == Pass{2, (2 + 3 - 3 + 4) * n});
}

TEST_CASE("the gates of experts follow the same fusion") {
  auto shape = llama();
  shape.experts = Experts{.number = 4, .top_k = 2, .mlp = 32};
  const double n = bf16 * 2 * rows * 32;
  // As of a gate; and the multiplication by shares, fused: 0 forward, 3 backward; else 2 and 2 + 2.
  CHECK(added(shape, Fusions::all, Fusions::rope) == std::array{Pass{2, 4 * n}, Pass{4, 9 * n}});
}
