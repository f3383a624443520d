// SPDX-License-Identifier: Apache-2.0
// Kernels around the experts of Megatron-Core.
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/decoder.hpp"
#include "sim/workload/eager/eager.hpp"
#include "sim/workload/launch_times.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr double tokens = 2 * 64;  // 2 samples of 64 tokens
constexpr double hidden = 64;
constexpr double rows = 2 * tokens;  // of the 2 best experts of each token
constexpr double bf16 = 2;

DecoderShape mixture(bool bias) {
  DecoderShape shape{.layers = 1, .heads = 4, .hidden = 64, .mlp = 192, .vocabulary = 128, .sequence = 64};
  shape.bias = false;
  shape.norm = DecoderShape::Norm::rms_norm;
  shape.activation = DecoderShape::Activation::swiglu;
  shape.positions = DecoderShape::Positions::rotary;
  shape.experts = Experts{.number = 8, .top_k = 2, .mlp = 32, .bias = bias};
  return shape;
}

/// The operations of a layer of 8 experts under Megatron.
LayerOperations layer_of(const std::string& name, EagerSettings settings, bool bias = false) {
  auto model = model_of(decoder(mixture(bias)));
  model.layers = layers_of(model.run, 0, true, {}, false, false, Fusions::all);
  settings.batch = 2;
  settings.precision = Precision::bf16;
  settings.half_parameters = true;
  settings.megatron = true;
  const auto step = eager_step(model, settings);
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (model.layers[i].name == name) return step.layers[i];
  throw std::runtime_error{"no layer " + name};
}

double bytes_of(const std::vector<Operation>& operations) {
  double sum = 0;
  for (const auto& operation : operations) sum += operation.bytes.value();
  return sum;
}

}  // namespace

TEST_CASE("Megatron's experts multiply rows by their shares in the activation, and sum them once",
          "[workload][experts]") {
  const auto combine = layer_of("h.0.experts.combine", {});
  CHECK(combine.forward.size() == 2);  // zeroes the sums and adds rows to them
  CHECK(bytes_of(combine.forward) == Approx((tokens + rows) * hidden * bf16));
  CHECK(combine.backward.size() == 1);  // copies the gradient of a token to its rows
  CHECK(bytes_of(combine.backward) == Approx(2 * rows * hidden * bf16));

  // The activation reads two halves and writes one; its gradient reads three and writes two, and that of the
  // shares reads three.
  const auto product = layer_of("h.0.experts.product", {});
  CHECK(bytes_of(product.forward) == Approx(3 * rows * 32 * bf16));
  CHECK(bytes_of(product.backward) == Approx((5 + 3) * rows * 32 * bf16));
}

TEST_CASE("DeepEP and HybridEP take tokens as they are and bring them back summed", "[workload][experts]") {
  const EagerSettings sorted{.expert = 4};
  const EagerSettings sent{.expert = 4, .sends_tokens = true};
  // Rows are sorted by expert after they arrived; without DeepEP also by rank before they leave.
  CHECK(layer_of("h.0.experts.dispatch", sorted).forward.size() == 2);
  CHECK(layer_of("h.0.experts.dispatch", sent).forward.size() == 1);
  CHECK(layer_of("h.0.experts.combine", sent).forward.empty());
  CHECK(layer_of("h.0.experts.combine", sent).backward.empty());
}

TEST_CASE("Transformer Engine launches products of experts one by one, unless one graph has the step",
          "[workload][experts]") {
  const auto host = [](const EagerSettings& settings) {
    const auto fc1 = layer_of("h.0.experts.fc1", settings);
    return fc1.forward.front().host;
  };
  // 8 experts on this rank, or 2 of 4 ranks
  CHECK(host({}) - host({.graph_of_step = true}) == Approx(7 * host_share_of_expert_product));
  CHECK(host({.expert = 4}) - host({.expert = 4, .graph_of_step = true}) ==
        Approx(1 * host_share_of_expert_product));
}

TEST_CASE("gpt-oss clamps both halves of what its activation reads, and joins them", "[workload][experts]") {
  const auto extra = [](auto pass) {
    return bytes_of(layer_of("h.0.experts.fc1", {}, true).*pass) -
           bytes_of(layer_of("h.0.experts.fc1", {}, false).*pass);
  };
  constexpr double halves = rows * 2 * 32 * bf16;
  // Forward: each half is read and written, then all. Backward: each half is read twice and written, then
  // all; the gradients of biases read all.
  CHECK(extra(&LayerOperations::forward) == Approx(4 * halves));
  CHECK(extra(&LayerOperations::backward) == Approx((3 + 2 + 1) * halves));
}

TEST_CASE("with a graph of the step on Blackwell, activation and casts are part of products in mxfp8",
          "[workload][experts]") {
  const auto step = [](bool graph, int capability) {
    return EagerSettings{.fp8 = Fp8{.recipe = Fp8Recipe::mxfp8, .by_transformer_engine = true},
                         .compute_capability = capability,
                         .graph_of_step = graph};
  };
  constexpr auto product = "h.0.experts.product";
  constexpr auto fc2 = "h.0.experts.fc2";
  CHECK(layer_of(product, step(true, 100)).forward.empty());
  CHECK(layer_of(product, step(true, 100)).backward.empty());
  CHECK(layer_of(fc2, step(true, 100)).forward.size() == 1);  // no cast
  for (const auto& apart : {step(false, 100), step(true, 90)}) {
    CHECK(layer_of(product, apart).forward.size() == 1);
    CHECK(layer_of(fc2, apart).forward.size() == 2);
  }
}

TEST_CASE("Megatron adds the biases of experts one expert at a time, unless one graph has the step",
          "[workload][experts]") {
  const auto apart = layer_of("h.0.experts.fc2", {}, true);
  const auto fused = layer_of("h.0.experts.fc2", {.graph_of_step = true}, true);
  CHECK(apart.forward.size() - fused.forward.size() == 2 * 8 + 2);
  CHECK(apart.backward.size() - fused.backward.size() == 5 * 8 + 2);
  // fp32 products of biases and shares are written, added to bf16 rows, joined and cast.
  CHECK(bytes_of(apart.forward) - bytes_of(fused.forward) == Approx((4 + 10 + 8 + 6) * rows * hidden));
}
