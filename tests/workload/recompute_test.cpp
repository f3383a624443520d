// SPDX-License-Identifier: Apache-2.0
// Selective activation checkpointing by operations, as in torchtitan.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr int hidden = 64;
constexpr int mlp = 192;
constexpr int keys = 32;  // elements of all heads of keys
constexpr int heads = 4;
constexpr int tokens = 128;
constexpr double rows = tokens;

DecoderShape small_llama(int layers) {
  return {.layers = layers,
          .heads = heads,
          .hidden = hidden,
          .mlp = mlp,
          .vocabulary = 1000,
          .sequence = tokens,
          .bias = false,
          .kv_heads = 2,
          .norm = DecoderShape::Norm::rms_norm,
          .positions = DecoderShape::Positions::rotary,
          .activation = DecoderShape::Activation::swiglu};
}

EagerSettings settings_of(Recompute recompute, int every = 1) {
  return {.precision = Precision::bf16,
          .half_parameters = true,
          .recompute = recompute,
          .recompute_every = every};
}

double kept(int layers, const EagerSettings& settings) {
  const auto step = eager_step(model_of(decoder(small_llama(layers))), settings);
  return step.memory.activations[step.memory.forward - 1].value();
}

/// Recomputed operations of the second of two blocks: products by columns, and others of a kind.
struct RunsAgain {
  std::vector<double> columns;
  int attentions = 0;
  int gathers = 0;
  int scatters = 0;
};
RunsAgain runs_again(const DecoderShape& shape, const EagerSettings& settings) {
  const auto model = model_of(decoder(shape));
  const auto step = eager_step(model, settings);
  RunsAgain found;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (!model.layers[i].name.starts_with("h.1.")) continue;
    for (const auto& one : step.layers[i].recomputed) {
      if (one.kind == OperationClass::product) found.columns.push_back(one.size[1]);
      if (one.kind == OperationClass::attention) ++found.attentions;
    }
    for (const auto& one : step.layers[i].recomputed_exchanges)
      ++(one.kind == CollectiveKind::all_gather ? found.gathers : found.scatters);
  }
  return found;
}

}  // namespace

TEST_CASE("selective_op recomputes every second product and no attention") {
  // Recomputed are the products in capitals: queries, KEYS, values, OUTPUT, gate, UP, last.
  const auto again = runs_again(small_llama(2), settings_of(Recompute::selective_op));
  CHECK(again.columns == std::vector<double>{keys, hidden, mlp});
  CHECK(again.attentions == 0);
  auto compiled = settings_of(Recompute::selective_op);
  compiled.compiled = true;
  CHECK(runs_again(small_llama(2), compiled).columns == again.columns);
}

TEST_CASE("products with biases are different operations, which are all recomputed") {
  const DecoderShape gpt{.layers = 2, .heads = heads, .hidden = hidden, .mlp = mlp, .vocabulary = 1000};
  CHECK(runs_again(gpt, settings_of(Recompute::selective_op)).columns ==
        std::vector<double>{3 * hidden, hidden, mlp, hidden});
}

TEST_CASE("attention by several kernels is recomputed") {
  auto settings = settings_of(Recompute::selective_op);
  settings.attention = AttentionKernel::math;
  CHECK(runs_again(small_llama(2), settings).columns.size() == 5);
}

TEST_CASE("scattered tensors are kept, and gathered ones are gathered again") {
  auto settings = settings_of(Recompute::selective_op);
  settings.tensor = 2;
  settings.sequence_parallel = true;
  const auto again = runs_again(small_llama(2), settings);
  CHECK(again.gathers == 2);
  CHECK(again.scatters == 0);
}

TEST_CASE("a block with selective_op keeps its input and the results that are not recomputed") {
  const auto settings = settings_of(Recompute::selective_op);
  // Input, queries, values, attention with its sums, gate, and the result of the last product.
  CHECK(kept(3, settings) - kept(2, settings) ==
        2 * rows * (hidden + hidden + keys + hidden + mlp + hidden) + 4 * rows * heads);
  CHECK(kept(3, settings_of(Recompute::full)) - kept(2, settings_of(Recompute::full)) == 2 * rows * hidden);
}

// torchao's layers call aten::mm on subclasses of tensors, so that the policy of torchtitan counts and keeps
// their results as those of other products.
TEST_CASE("selective_op keeps the results of every second fp8 product in 16 bits") {
  auto settings = settings_of(Recompute::selective_op);
  const auto of_half = kept(3, settings) - kept(2, settings);
  const auto again = runs_again(small_llama(2), settings).columns;
  settings.fp8 = Fp8{GENERATE(Fp8Recipe::tensorwise, Fp8Recipe::rowwise)};
  CHECK(kept(3, settings) - kept(2, settings) == of_half);
  CHECK(runs_again(small_llama(2), settings).columns == again);
  settings.compiled = true;
  CHECK(runs_again(small_llama(2), settings).columns == again);
}

TEST_CASE("every n-th block is recomputed") {
  auto none = settings_of(Recompute::full);
  none.recompute = Recompute::none;
  const auto of_all = kept(3, none) - kept(2, none);
  CHECK(kept(4, settings_of(Recompute::full, 2)) - kept(2, settings_of(Recompute::full, 2)) ==
        of_all + 2 * rows * hidden);
  CHECK(kept(6, settings_of(Recompute::full, 3)) - kept(3, settings_of(Recompute::full, 3)) ==
        2 * of_all + 2 * rows * hidden);
}
