// SPDX-License-Identifier: Apache-2.0
// Memory and kernels of Megatron's loss over a vocabulary that tensor ranks split.
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr int tokens = 64;
constexpr int hidden = 8;
constexpr int vocabulary = 4096;
constexpr double rows = 2 * tokens;  // 2 samples
constexpr double logits = rows * vocabulary;

/// An embedding, an output layer and the loss.
EagerStep step_of(const EagerSettings& settings) {
  const auto model = model_of([](Eager& run) {
    auto x = run.embedding("e", tokens, 32, hidden);
    x = run.linear("head", x, tokens, hidden, vocabulary, false, false, Eager::Split::outputs);
    run.cross_entropy("loss", x, tokens, vocabulary, true);
  });
  return eager_step(model, settings);
}

EagerSettings settings_of(Precision precision) {
  return {
      .batch = 2, .precision = precision, .half_parameters = precision != Precision::fp32, .megatron = true};
}

/// By moment: memory in bytes without the input of the output layer, or at the end its gradient.
std::vector<double> held(const EagerStep& step, double element_bytes) {
  std::vector<double> bytes;
  for (const auto moment : step.memory.activations)
    bytes.push_back(moment.value() - element_bytes * rows * hidden);
  return bytes;
}

double bytes_of(const std::vector<Operation>& operations) {
  return std::accumulate(operations.begin(), operations.end(), 0.0,
                         [](double sum, const Operation& one) { return sum + one.bytes.value(); });
}

constexpr double scalar = 4;  // the loss itself

}  // namespace

// Three times the 16-bit logits, twice: when their fp32 copy is made, and when the gradient in that copy is
// cast back. The operations between them are in place.
TEST_CASE("Megatron's loss holds three times the logits of a half-precision output layer") {
  const auto of_half = held(step_of(settings_of(Precision::bf16)), 2);
  const double once = 2 * logits;
  const double gradient_of_input = 2 * rows * hidden;
  CHECK(of_half == std::vector<double>{0, once, 3 * once, 3 * once + scalar, 2 * once, 3 * once,
                                       once + gradient_of_input, 0});

  const auto of_single = held(step_of(settings_of(Precision::fp32)), 4);
  const double only = 4 * logits;
  CHECK(of_single == std::vector<double>{0, only, only + scalar, only, only + 4 * rows * hidden, 0});
}

TEST_CASE("Triton's loss of Transformer Engine overwrites the logits with their gradients") {
  auto settings = settings_of(Precision::bf16);
  settings.fused_loss = true;
  settings.tensor = GENERATE(1, 4);
  const auto step = step_of(settings);
  const double once = 2 * logits / settings.tensor;
  const double of_rows = 2 * 4 * rows;
  const double gradient_of_input = 2 * rows * hidden;
  CHECK(held(step, 2) ==
        std::vector<double>{0, once, once + of_rows + scalar, once + of_rows, once + gradient_of_input, 0});
  const auto& exchanges = step.layers.back().forward_exchanges;
  REQUIRE(exchanges.size() == (settings.tensor == 1 ? 0 : 1));
  if (!exchanges.empty()) CHECK(exchanges[0].bytes == Bytes{3.0 * 4 * rows * settings.tensor});
}

TEST_CASE("Megatron's loss passes over its fp32 tensor in place and reduces three numbers per row") {
  auto settings = settings_of(Precision::bf16);
  settings.tensor = GENERATE(1, 2);
  const auto loss = step_of(settings).layers.back();
  const double own = logits / settings.tensor;
  constexpr double number = 2 * 4 * rows;  // reads and writes a number per row
  // cast, maximum, subtraction, exponential, sum, division
  CHECK(bytes_of(loss.forward) == (6 + 4 + 8 + 8 + 4 + 8) * own + 12 * number);
  CHECK(bytes_of(loss.backward) == (8 + 6) * own + 6 * number);
  REQUIRE(loss.forward_exchanges.size() == (settings.tensor == 1 ? 0 : 3));
  for (const auto& exchange : loss.forward_exchanges) {
    CHECK(exchange.kind == CollectiveKind::all_reduce);
    CHECK(exchange.bytes == Bytes{4 * rows});
    // The maximum before the logits are changed, the others when the exponentials are summed.
    const bool is_first = &exchange == loss.forward_exchanges.data();
    CHECK(loss.forward[exchange.at - 1].kernel ==
          (is_first ? "elementwise amax fp32" : "elementwise sum fp32"));
  }
}
