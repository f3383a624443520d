// SPDX-License-Identifier: Apache-2.0
// Copies of DTensor, since collectives gather and scatter along samples but sequence parallelism needs
// tokens; and the cost of weight gradients that are accumulated in buffers.
#include <algorithm>
#include <string_view>

#include <catch2/catch.hpp>

#include "sim/workload/decoder.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;

namespace {

constexpr double tokens = 128;
constexpr double hidden = 512;

/// One block of Llama: three products read its first norm, two its second.
EagerStep llama(const EagerSettings& settings) {
  DecoderShape shape{
      .layers = 1, .heads = 8, .hidden = 512, .mlp = 2048, .vocabulary = 1024, .sequence = 128};
  shape.bias = false;
  shape.norm = DecoderShape::Norm::rms_norm;
  shape.positions = DecoderShape::Positions::rotary;
  shape.activation = DecoderShape::Activation::swiglu;
  return eager_step(test::model_of(decoder(shape)), settings);
}

EagerSettings two_ranks(int batch) {
  return {.batch = batch,
          .precision = Precision::bf16,
          .half_parameters = true,
          .tensor = 2,
          .sequence_parallel = true};
}

struct Sum {
  int count = 0;
  double bytes = 0;
  bool operator==(const Sum&) const = default;
};

Sum all_of(const EagerStep& step, std::string_view kernel) {
  Sum sum;
  for (const auto& of : step.layers) {
    for (const auto* pass : {&of.forward, &of.backward}) {
      for (const auto& one : *pass) {
        if (one.kernel != kernel) continue;
        ++sum.count;
        sum.bytes += one.bytes.value();
      }
    }
  }
  return sum;
}

int exchanges(const EagerStep& step, CollectiveKind kind) {
  int count = 0;
  for (const auto& of : step.layers)
    for (const auto* pass : {&of.forward_exchanges, &of.backward_exchanges})
      count += static_cast<int>(std::ranges::count(*pass, kind, &Exchange::kind));
  return count;
}

}  // namespace

TEST_CASE("DTensor copies gathered tensors and tensors that will be scattered", "[copies]") {
  const auto step = llama(two_ranks(2));
  const double copied = 2 * 2 * (2 * tokens * hidden);  // read and written in bf16, of all tokens
  const auto gathers = exchanges(step, CollectiveKind::all_gather);
  const auto scatters = exchanges(step, CollectiveKind::reduce_scatter);
  REQUIRE(gathers == 2 * 2 + 1 + 1);
  REQUIRE(scatters == 2 * 2 + 1 + 1);
  CHECK(all_of(step, "rows cat bf16") == Sum{scatters, scatters * copied});

  auto megatron = two_ranks(2);
  megatron.megatron = true;  // its first dimension is that of tokens
  auto without = megatron;
  without.sequence_parallel = false;
  CHECK(all_of(llama(megatron), "rows cat bf16") == all_of(llama(without), "rows cat bf16"));
  auto plain = two_ranks(2);
  plain.sequence_parallel = false;
  CHECK(all_of(llama(plain), "rows cat bf16") == Sum{});
  // All other permutations exist without sequence parallelism, too.
  const auto permuted = all_of(llama(plain), "elementwise permute bf16");
  CHECK(all_of(step, "elementwise permute bf16") ==
        Sum{permuted.count + gathers, permuted.bytes + gathers * copied});
}

TEST_CASE("a single gathered sample needs no copy", "[copies]") {
  auto plain = two_ranks(1);
  plain.sequence_parallel = false;
  CHECK(all_of(llama(two_ranks(1)), "elementwise permute bf16") ==
        all_of(llama(plain), "elementwise permute bf16"));
  CHECK(all_of(llama(two_ranks(1)), "rows cat bf16").count == 6);
}

// Exchanges that overlap parts of products need no copies; sums of input gradients, which are not split, do.
TEST_CASE("async tensor parallelism has fewer copies", "[copies]") {
  auto settings = two_ranks(2);
  settings.compiled = true;
  CHECK(all_of(llama(settings), "elementwise copy bf16").count == 6 + 6);
  settings.sends_pieces = true;
  // The embedding's scatter and its gradient's gather, and the gradients of three layers' inputs.
  CHECK(all_of(llama(settings), "elementwise copy bf16").count == 2 + 3);
}

TEST_CASE("products accumulate weight gradients in the fp32 buffers of the strategy", "[copies]") {
  auto settings = two_ranks(1);
  settings.tensor = 1;
  settings.sequence_parallel = false;
  settings.megatron = true;
  const auto plain = llama(settings);
  settings.adds_in_fp32 = true;
  const auto adding = llama(settings);
  const auto products = all_of(plain, "product bf16 tn");
  const auto added = all_of(adding, "product bf16 tn_add");
  CHECK(added.count == products.count);
  CHECK(all_of(adding, "product bf16 tn") == Sum{});
  // Weights: packed queries, keys and values, results, two of the MLP (the first one packed), the output
  // layer.
  const double weights = 4 * hidden * hidden + 3 * hidden * 2048 + hidden * 1024;
  CHECK(added.bytes - products.bytes == 6 * weights);
}
