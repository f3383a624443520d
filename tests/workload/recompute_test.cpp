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

TEST_CASE("offloaded inputs of blocks are on the GPU from the recomputation on") {
  const auto settings = settings_of(Recompute::full);
  auto offloads = settings;
  offloads.recompute_offload = true;
  const auto model = model_of(decoder(small_llama(3)));
  const auto on_gpu = eager_step(model, settings).memory;
  const auto offloaded = eager_step(model, offloads).memory;
  const Bytes input{2 * rows * hidden};
  CHECK(offloaded.block_input == input);
  CHECK(kept(3, settings) - kept(3, offloads) == 3 * input.value());
  // When the last block has been recomputed, the inputs of the other two are on the host.
  const auto in_last_block = on_gpu.activations.size() - on_gpu.forward + 5;
  CHECK(on_gpu.activations[in_last_block] - offloaded.activations[in_last_block] == 2 * input);
}

// 16-bit sizes: q of queries, k of keys and values of a rank.
TEST_CASE("PyTorch's ring attention merges parts and adds their gradients in fp32") {
  constexpr int ranks = 4;
  const auto model = model_of([](Eager& run) {
    const auto own = run.tokens(tokens);
    const auto x = run.embedding("e", own, 100, hidden);
    const auto width = hidden;
    const std::vector<Tensor> qkv{run.linear("q", x, own, hidden, width, false),
                                  run.linear("k", x, own, hidden, keys, false),
                                  run.linear("v", x, own, hidden, keys, false)};
    run.attention("attention", qkv,
                  {.heads = heads, .kv_heads = 2, .tokens = own, .head_size = hidden / heads});
  });
  const auto temporaries = [&](ContextMethod method, bool megatron) {
    const auto memory = eager_step(model, {.precision = Precision::bf16,
                                           .half_parameters = true,
                                           .attention = AttentionKernel::cudnn,
                                           .megatron = megatron,
                                           .context = ranks,
                                           .context_method = method})
                            .memory;
    return std::pair{memory.activations[memory.forward - 1].value(),
                     memory.activations[memory.forward].value()};
  };
  const double q = 2 * rows / ranks * hidden;
  const double k = 2 * rows / ranks * 2 * keys;
  for (const auto method : {ContextMethod::ring, ContextMethod::all_gather}) {
    const bool gathers = method == ContextMethod::all_gather;
    const auto [forward, backward] = temporaries(method, false);
    const auto [of_megatron, of_megatron_backward] = temporaries(method, true);
    CHECK(forward - of_megatron == (gathers ? ranks + 1 : 3) * k + 9 * q - (gathers ? ranks : 2) * k);
    CHECK(backward - of_megatron_backward ==
          (gathers ? ranks + 1 : 3) * k + 5 * q + 7 * k - (gathers ? 2 * ranks : 4) * k);
  }
}
