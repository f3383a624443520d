// SPDX-License-Identifier: Apache-2.0
// Losses in checkpointed chunks of tokens.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr int tokens = 256;
constexpr int hidden = 8;
constexpr int vocabulary = 4096;
constexpr double logits = 2.0 * tokens * vocabulary;  // bytes in 16 bits

/// An embedding, an output layer and the loss of transformers, which casts the logits to fp32.
EagerStep step_of(int loss_chunk, bool is_fused = false) {
  const auto model = model_of([](Eager& run) {
    auto x = run.embedding("e", tokens, 32, hidden);
    x = run.linear("head", x, tokens, hidden, vocabulary, false);
    run.cross_entropy("loss", x, tokens, vocabulary, true);
  });
  return eager_step(model, {.precision = Precision::bf16,
                            .half_parameters = true,
                            .fused_loss = is_fused,
                            .loss_chunk = loss_chunk,
                            .hugging_face = true});
}

/// By moment: bytes without the input of the output layer.
std::vector<double> held(const EagerStep& step) {
  std::vector<double> bytes;
  for (const auto moment : step.memory.activations) bytes.push_back(moment.value() - 2.0 * tokens * hidden);
  return bytes;
}

std::int64_t products(const std::vector<Operation>& operations) {
  return std::ranges::count(operations, OperationClass::product, &Operation::kind);
}

}  // namespace

TEST_CASE("logits of a loss in chunks exist for one chunk at a time") {
  const auto whole = held(step_of(0));
  const auto chunked = held(step_of(tokens / 4));
  REQUIRE(chunked.size() == whole.size());
  constexpr double scalar = 4;  // the loss itself
  for (std::size_t i = 0; i + 2 < whole.size(); ++i) CHECK(chunked[i] == Approx(whole[i] / 4).margin(scalar));
  // The backward pass of the output layer: gradients of a chunk's logits and of all its input, and the
  // gradient of the weight, to which that of the chunk is added.
  CHECK(chunked[whole.size() - 2] == logits / 4 + 2 * tokens * hidden + 2 * vocabulary * hidden);
  CHECK(held(step_of(tokens)) == whole);
}

TEST_CASE("the backward pass of a loss in chunks computes the logits again") {
  const auto whole = step_of(0);
  const auto chunked = step_of(tokens / 4);
  CHECK(products(whole.layers.back().backward) == 0);
  CHECK(products(chunked.layers.back().backward) == 1);
  CHECK(chunked.layers.back().backward.size() ==
        whole.layers.back().backward.size() + whole.layers.back().forward.size() + 1);
}

TEST_CASE("a fused loss in chunks makes the gradients with the loss and computes no logits again") {
  const auto whole = step_of(0, true);
  const auto chunked = step_of(tokens / 4, true);
  CHECK(chunked.layers.back().backward.size() == whole.layers.back().backward.size());
  CHECK(*std::ranges::max_element(chunked.memory.activations) <
        *std::ranges::max_element(whole.memory.activations));
}
