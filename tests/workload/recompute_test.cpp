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

namespace {

/// All operations of the backward pass, and the bytes that are kept for it.
struct BackwardPass {
  std::size_t operations = 0;
  double products = 0;  ///< products among them
  double kept = 0;
};
BackwardPass with_modules(std::string_view words, bool latent = false) {
  auto shape = small_llama(3);
  shape.experts = Experts{.number = 8, .top_k = 2, .mlp = mlp};
  shape.experts->dense_layers = 1;
  if (latent)
    shape.latent =
        LatentAttention{.q_rank = 24, .kv_rank = 16, .plain_head = 16, .rotary_head = 8, .value_head = 16};
  EagerSettings settings{.precision = Precision::bf16, .megatron = true};
  settings.half_parameters = true;
  settings.recompute = Recompute::selective;
  const auto [modules, unknown] = read_recomputed_modules(words);
  REQUIRE(unknown.empty());
  settings.recompute_modules = modules;
  const auto step = eager_step(model_of(decoder(shape)), settings);
  BackwardPass pass;
  pass.kept = step.memory.activations[step.memory.forward - 1].value();
  for (const auto& layer : step.layers) {
    pass.operations += layer.backward.size();
    for (const auto& operation : layer.backward)
      if (operation.kind == OperationClass::product) ++pass.products;
  }
  return pass;
}

}  // namespace

// Megatron-Core frees the results of these modules and computes them again: two layers have experts.
TEST_CASE("recomputed modules of Megatron keep none of their results", "[recompute]") {
  constexpr double half = 2;  // bytes
  const auto none = with_modules("");
  const auto norms = with_modules("layernorm");
  CHECK(none.kept - norms.kept == Approx(2 * half * rows * hidden).epsilon(0.05));
  CHECK(norms.operations == none.operations + 2);
  const auto activations = with_modules("moe_act");
  CHECK(none.kept - activations.kept == Approx(2 * half * 2 * rows * mlp).epsilon(0.05));
  CHECK(activations.operations == none.operations + 2);
  const auto both = with_modules("layernorm, moe_act");
  CHECK(none.kept - both.kept == Approx(2 * none.kept - norms.kept - activations.kept));
  // The dense layer's MLP: both products, the first one packed, and the activation between them.
  const auto dense = with_modules("mlp");
  CHECK(dense.products == none.products + 2);
  CHECK(none.kept - dense.kept >= half * rows * 3 * mlp);
  // What is part of a recomputed module is recomputed once.
  CHECK(with_modules("moe").operations == with_modules("moe moe_act").operations);
  CHECK(with_modules("moe").kept < activations.kept);
}

TEST_CASE("heads of latent attention are computed again from latent vectors", "[recompute]") {
  const auto none = with_modules("", true);
  const auto heads_again = with_modules("mla_up_proj", true);
  CHECK(heads_again.products == none.products + 3 * 2);  // queries; keys and values
  CHECK(none.kept - heads_again.kept >= 3 * 2 * rows * heads * (24 + 24 + 16));
  CHECK(read_recomputed_modules("layernorm, attention").unknown == "attention");
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
  CHECK(offloaded.offloaded == std::vector<Bytes>(3, input));
  CHECK(kept(3, settings) - kept(3, offloads) == 3 * input.value());
  // When the last block has been recomputed, the inputs of the other two are on the host.
  const auto in_last_block = on_gpu.activations.size() - on_gpu.forward + 5;
  CHECK(on_gpu.activations[in_last_block] - offloaded.activations[in_last_block] == 2 * input);
}

// The copies of a block end with the next block. Statistics of norms have less than 1,024 bytes and stay.
TEST_CASE("a model keeps the activations of its last block only, if all are offloaded") {
  const auto none = settings_of(Recompute::none);
  auto offloads = none;
  offloads.offload_activations = read_offloaded_modules("all").modules;
  const auto memory = [&](int layers) {
    return eager_step(model_of(decoder(small_llama(layers))), offloads).memory;
  };
  const auto of_block = kept(5, none) - kept(4, none);
  const auto stays = kept(5, offloads) - kept(4, offloads);
  CHECK(stays == 2 * 4 * rows);
  CHECK(memory(4).offloaded == std::vector<Bytes>{Bytes{of_block - stays}, Bytes{of_block - stays},
                                                  Bytes{of_block - stays}, Bytes{}});
  // While a block runs, the one before is on its way: back, too.
  const auto peak = [](const StepMemory& step) { return std::ranges::max(step.activations).value(); };
  CHECK(peak(memory(6)) - peak(memory(5)) == stays);
}

TEST_CASE("of recomputed blocks the inputs are offloaded, but not the last one's") {
  const auto full = settings_of(Recompute::full);
  auto offloads = full;
  offloads.offload_activations = read_offloaded_modules("all").modules;
  const auto memory = eager_step(model_of(decoder(small_llama(3))), offloads).memory;
  const Bytes input{2 * rows * hidden};
  CHECK(memory.offloaded == std::vector<Bytes>{input, input, {}});
  CHECK(kept(4, offloads) == kept(3, offloads));
  CHECK(kept(4, full) - kept(3, full) == input.value());
}

// Queries, keys, the packed projection, of which values are a part, and the result.
TEST_CASE("what the core of attention saves is offloaded if that module is named") {
  const auto model = model_of(decoder(small_llama(3)));
  const auto offloaded = [&](const char* modules) {
    auto settings = settings_of(Recompute::none);
    settings.megatron = true;
    settings.batch = 256;
    settings.offload_activations = read_offloaded_modules(modules).modules;
    return eager_step(model, settings).memory.offloaded;
  };
  const Bytes core{256 * 2 * rows * (hidden + keys + (hidden + 2 * keys) + hidden)};
  CHECK(offloaded("core_attn") == std::vector<Bytes>{core, core, {}});
  CHECK(offloaded("[core_attn, attn_proj]") == offloaded("core_attn"));  // its input is the result
  CHECK(offloaded("attn_proj") == std::vector<Bytes>(3));                // which the core saves
  CHECK(read_offloaded_modules("core_attn experts").unknown == "experts");
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
  const double k = 2 * q;  // copied for all heads
  const double of_megatron_k = 2 * rows / ranks * 2 * keys;
  for (const auto method : {ContextMethod::ring, ContextMethod::all_gather}) {
    const bool gathers = method == ContextMethod::all_gather;
    const auto [forward, backward] = temporaries(method, false);
    const auto [of_megatron, of_megatron_backward] = temporaries(method, true);
    const double copies = k;
    CHECK(forward - of_megatron ==
          copies + (gathers ? ranks + 1 : 3) * k + 9 * q - (gathers ? ranks : 2) * of_megatron_k);
    CHECK(backward - of_megatron_backward ==
          copies + (gathers ? ranks + 1 : 3) * k + 5 * q + 7 * k - (gathers ? 2 * ranks : 4) * of_megatron_k);
  }
}

TEST_CASE("an MLP in tiles has one tile at a time, and computes it again") {
  const auto shape = small_llama(3);
  constexpr int tiles = 4;
  auto settings = settings_of(GENERATE(Recompute::none, Recompute::full));
  const auto whole = eager_step(model_of(decoder(shape)), settings);
  settings.mlp_tiles = tiles;
  const auto model = model_of(decoder(shape));
  const auto tiled = eager_step(model, settings);
  // Kept without recomputation: gate, its activation, up and their product. Blocks keep nothing of them.
  const auto last = whole.memory.forward - 1;
  CHECK(whole.memory.activations[last].value() - tiled.memory.activations[last].value() ==
        (settings.recompute == Recompute::none ? 3 * 4 * 2 * rows * mlp : 0));
  // While the last product of a block runs backward: these four and the gradient of the product, and in
  // tiles the gradient of the weight that is added to that of the tiles before.
  const auto layer = std::ranges::find(model.layers, "h.1.mlp.fc2", &Layer::name) - model.layers.begin();
  const auto held = [&](const EagerStep& step) {
    const auto moment = std::find(step.memory.layers.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                  step.memory.layers.end(), layer);
    return step.memory.activations[static_cast<std::size_t>(moment - step.memory.layers.begin())].value();
  };
  const auto of_first_block = settings.recompute == Recompute::none ? 4 * 2 * rows * mlp : 0;
  CHECK(held(whole) - held(tiled) ==
        of_first_block + 5 * 2 * rows * mlp * (1 - 1.0 / tiles) - 2.0 * hidden * mlp);
  const auto count = [&](const std::vector<Operation>& operations, OperationClass kind) {
    return std::ranges::count(operations, kind, &Operation::kind);
  };
  std::ptrdiff_t products = 0;
  double host = 0;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (!model.layers[i].name.starts_with("h.1.mlp")) continue;
    products += count(tiled.layers[i].backward, OperationClass::product);
    for (const auto& operation : tiled.layers[i].forward)
      if (operation.kind == OperationClass::product) host = operation.host;
    for (const auto& operation : whole.layers[i].forward)
      if (operation.kind == OperationClass::product) CHECK(host == Approx(tiles * operation.host));
  }
  CHECK(products == 3 + 2 * 3);
}
