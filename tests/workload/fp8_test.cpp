// SPDX-License-Identifier: Apache-2.0
// Operations and saved tensors of linear layers in fp8 by recipe.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/decoder.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

constexpr double m = 2 * 64;  // rows: 2 samples of 64 tokens
constexpr double inputs = 1024;
constexpr double outputs = 4096;

EagerSettings settings_of(Fp8 fp8, bool compiled = false) {
  return {
      .batch = 2, .precision = Precision::bf16, .fp8 = fp8, .half_parameters = true, .compiled = compiled};
}

/// A block of a norm and one linear layer without bias.
Model one_layer() {
  return model_of([](Eager& run) {
    auto x = run.embedding("e", 64, 32, 1024);
    x = run.layer_norm("h.0.ln", x, 64, 1024, false);
    x = run.linear("h.0.fc", x, 64, 1024, 4096, false);
    run.cross_entropy("loss", x, 64, 4096);
  });
}
constexpr std::size_t layer = 2;

using Row = std::pair<std::string, double>;

/// Kernels with the first dimension of their sizes.
std::vector<Row> rows_of(const std::vector<Operation>& operations) {
  std::vector<Row> rows;
  for (const auto& operation : operations) rows.emplace_back(operation.kernel, operation.size[0]);
  return rows;
}

constexpr double x = m * inputs;
constexpr double w = inputs * outputs;
constexpr double y = m * outputs;

double kept(const EagerStep& step) {
  return step.memory.activations[step.memory.forward - 1].value();
}

/// Two blocks of Llama.
DecoderShape small() {
  DecoderShape shape{
      .layers = 2, .heads = 8, .hidden = 512, .mlp = 2048, .vocabulary = 1024, .sequence = 128};
  shape.bias = false;
  shape.kv_heads = 4;
  shape.norm = DecoderShape::Norm::rms_norm;
  shape.positions = DecoderShape::Positions::rotary;
  shape.activation = DecoderShape::Activation::swiglu;
  return shape;
}

double flops_in(const EagerStep& step, Precision precision) {
  double sum = 0;
  for (const auto& of : step.layers)
    for (const auto* pass : {&of.forward, &of.backward})
      for (const auto& operation : *pass)
        if (operation.kernel.starts_with("product") && operation.precision == precision)
          sum += operation.flops.value();
  return sum;
}

}  // namespace

// torchao/float8/float8_linear.py; the maximum before each cast, and transposed copies for backward products.
TEST_CASE("compiled torchao casts with one scale per tensor", "[fp8]") {
  const auto step = eager_step(one_layer(), settings_of({Fp8Recipe::tensorwise}, true));
  CHECK(rows_of(step.layers[layer].forward) == std::vector<Row>{{"elementwise amax bf16", x},
                                                                {"elementwise cast_to_8 bf16", x},
                                                                {"elementwise amax bf16", w},
                                                                {"elementwise cast_to_8 bf16", w},
                                                                {"product fp8 nt_fast", m}});
  CHECK(rows_of(step.layers[layer].backward) == std::vector<Row>{{"elementwise amax bf16", y},
                                                                 {"elementwise cast_transpose bf16", y},
                                                                 {"elementwise permute fp8", w},
                                                                 {"product fp8 nt", m},
                                                                 {"elementwise permute fp8", x},
                                                                 {"product fp8 nt", outputs}});
  CHECK(step.layers[layer].once.empty());
  CHECK(step.memory.lasting == std::vector<Bytes>(step.layers.size(), 0_B));
}

TEST_CASE("compiled torchao casts with row-wise and column-wise scales", "[fp8]") {
  const auto step = eager_step(one_layer(), settings_of({Fp8Recipe::rowwise}, true));
  CHECK(rows_of(step.layers[layer].forward) == std::vector<Row>{{"rows cast_rows bf16", m},
                                                                {"rows cast_rows bf16", outputs},
                                                                {"product fp8 nt_rows", m}});
  CHECK(rows_of(step.layers[layer].backward) == std::vector<Row>{{"rows cast_rows bf16", m},
                                                                 {"rows cast_columns bf16", outputs},
                                                                 {"product fp8 nt_rows", m},
                                                                 {"rows cast_columns bf16", m},
                                                                 {"rows cast_columns bf16", m},
                                                                 {"product fp8 nt_rows", outputs}});
  const auto& casts = step.layers[layer].backward;
  CHECK(casts[0].bytes == Bytes{(2 + 1) * y});
  CHECK(casts[1].bytes == Bytes{(2 + 2 + 1) * w});  // first read for the maxima
  CHECK(casts[3].bytes == Bytes{(2 + 2 + 1) * y});
  CHECK(casts[4].bytes == Bytes{(2 + 2 + 1) * x});
}

// cast_transpose of Transformer Engine; weights before the first micro-batch only.
TEST_CASE("Transformer Engine casts and transposes in one kernel, and casts weights once per step", "[fp8]") {
  const auto delayed = eager_step(one_layer(), settings_of({Fp8Recipe::delayed, true}));
  CHECK(rows_of(delayed.layers[layer].once) == std::vector<Row>{{"elementwise cast_transpose bf16", w}});
  CHECK(rows_of(delayed.layers[layer].forward) ==
        std::vector<Row>{{"elementwise cast_transpose bf16", x}, {"product fp8 nt_fast", m}});
  CHECK(rows_of(delayed.layers[layer].backward) == std::vector<Row>{{"elementwise cast_transpose bf16", y},
                                                                    {"product fp8 nt", m},
                                                                    {"product fp8 nt", outputs}});
  CHECK(delayed.memory.lasting[layer] == Bytes{2 * w});  // normal and transposed copy
  CHECK(delayed.layers[layer].once.front().bytes == Bytes{(2 + 1 + 1) * w});

  const auto current = eager_step(one_layer(), settings_of({Fp8Recipe::tensorwise, true}));
  CHECK(current.layers[layer].forward.size() == delayed.layers[layer].forward.size() + 1);
  CHECK(current.layers[layer].forward.front().kernel == "elementwise amax bf16");

  // Weights that are gathered in fp8 are only transposed.
  const auto gathered = eager_step(one_layer(), settings_of({Fp8Recipe::delayed, true, true}));
  CHECK(rows_of(gathered.layers[layer].once) == std::vector<Row>{{"elementwise permute fp8", w}});
  CHECK(gathered.memory.lasting[layer] == Bytes{w});
}

// is_non_tn_fp8_gemm_supported: operands of any layout, and fp32 accumulation at full rate.
TEST_CASE("on Blackwell, Transformer Engine keeps no transposed copies with one scale per tensor", "[fp8]") {
  auto settings = settings_of({Fp8Recipe::delayed, true});
  settings.compute_capability = 100;
  const auto step = eager_step(one_layer(), settings);
  CHECK(rows_of(step.layers[layer].once) == std::vector<Row>{{"elementwise cast_to_8 bf16", w}});
  CHECK(rows_of(step.layers[layer].forward) ==
        std::vector<Row>{{"elementwise cast_to_8 bf16", x}, {"product fp8 nt_fast", m}});
  CHECK(rows_of(step.layers[layer].backward) == std::vector<Row>{{"elementwise cast_to_8 bf16", y},
                                                                 {"product fp8 nt_fast", m},
                                                                 {"product fp8 nt_fast", outputs}});
  CHECK(step.memory.lasting[layer] == Bytes{w});
}

// MXFP8BlockScaling and NVFP4BlockScaling of Transformer Engine: scales of 32 and 16 numbers along a
// direction.
TEST_CASE("scales per block need a copy for each direction, made from the original tensor", "[fp8]") {
  auto settings = settings_of({Fp8Recipe::mxfp8, true});
  settings.compute_capability = 100;
  const auto mx = eager_step(one_layer(), settings);
  CHECK(rows_of(mx.layers[layer].once) == std::vector<Row>{{"elementwise cast_transpose bf16", w}});
  CHECK(rows_of(mx.layers[layer].forward) ==
        std::vector<Row>{{"elementwise cast_transpose bf16", x}, {"product fp8 nt_mx", m}});
  CHECK(rows_of(mx.layers[layer].backward) == std::vector<Row>{{"elementwise cast_transpose bf16", y},
                                                               {"product fp8 nt_mx", m},
                                                               {"product fp8 nt_mx", outputs}});

  settings.fp8 = Fp8{Fp8Recipe::nvfp4, true};
  const auto nv = eager_step(one_layer(), settings);
  const std::vector<Row> cast{{"elementwise amax bf16", x}, {"elementwise cast_nvfp4 bf16", x}};
  CHECK(rows_of(nv.layers[layer].forward) ==
        std::vector<Row>{cast[0], cast[1], {"product nvfp4 nt_fast", m}});
  CHECK(nv.layers[layer].backward.back().precision == Precision::nvfp4);
  // 4 bits, and 8 bits of scale for 16 numbers
  CHECK(nv.memory.lasting[layer] == Bytes{2 * 0.5625 * w});
  CHECK(nv.layers[layer].forward[1].bytes == Bytes{(2 + 2 * 0.5625) * x});
}

// x.abs(), max(), four kernels of the scale, x.float(), the product with the scale, clamp, the cast: 10
// kernels per tensor.
TEST_CASE("eager torchao issues every operation of a cast", "[fp8]") {
  const auto step = eager_step(one_layer(), settings_of({Fp8Recipe::tensorwise}));
  CHECK(step.layers[layer].forward.size() == 2 * 10 + 1);
  CHECK(step.layers[layer].backward.size() == 10 + 1 + 1 + 1 + 1 + 1);  // and transposed copies
  const auto turned =
      std::ranges::count(step.layers[layer].backward, "elementwise transpose fp8", &Operation::kernel);
  CHECK(turned == 3);
}

// Differences between bf16 and fp8: the layer's input has 2 bytes or 1 byte per element (row-wise: 2), and
// torchao's copy of the weight 1 byte. The norm always saves its input; its result is freed after the cast.
TEST_CASE("autograd keeps one byte per element of fp8 copies", "[fp8]") {
  const auto model = one_layer();
  auto in_bf16 = settings_of({});
  in_bf16.fp8.reset();
  const auto bf16 = kept(eager_step(model, in_bf16));
  CHECK(kept(eager_step(model, settings_of({Fp8Recipe::delayed, true}))) == bf16 - x);
  CHECK(kept(eager_step(model, settings_of({Fp8Recipe::tensorwise}))) == bf16 - x + w);
  CHECK(kept(eager_step(model, settings_of({Fp8Recipe::rowwise}))) == bf16);
  // torchao's MXLinear saves the input and casts it again, along columns, for the gradient of the weight.
  CHECK(kept(eager_step(model, settings_of({Fp8Recipe::mxfp8}))) == bf16);
}

TEST_CASE("an fp8 product reads one byte per element and writes two", "[fp8]") {
  const auto product = operation("product fp8 nt", {64, 128, 256});
  CHECK(product.bytes == Bytes{64.0 * 256 + 256 * 128 + 2 * 64 * 128});
  CHECK(product.flops == Flops{2.0 * 64 * 128 * 256});
}

TEST_CASE("blocks run in fp8 and the output layer in bf16, with the same number of operations", "[fp8]") {
  const auto model = model_of(decoder(small()));
  const auto recipe =
      GENERATE(Fp8{Fp8Recipe::tensorwise}, Fp8{Fp8Recipe::rowwise}, Fp8{Fp8Recipe::delayed, true});
  const bool compiled = GENERATE(false, true);
  const auto step = eager_step(model, settings_of(recipe, compiled));
  // Per token and block: queries and results 512 x 512, keys and values 512 x 256, three products of 512 x
  // 2048.
  const double of_blocks = 2 * (2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 2048);
  const double tokens = 2 * 128;
  CHECK(flops_in(step, Precision::fp8) == 3 * 2 * tokens * of_blocks);
  CHECK(flops_in(step, Precision::bf16) == 3 * 2 * tokens * 512 * 1024);
}

TEST_CASE("compiled code casts once for all layers that read the same tensor", "[fp8]") {
  const auto model = model_of(decoder(small()));
  const auto casts = [&](bool compiled) {
    int count = 0;
    for (const auto& of : eager_step(model, settings_of({Fp8Recipe::tensorwise}, compiled)).layers)
      count += static_cast<int>(std::ranges::count_if(of.forward, [](const Operation& operation) {
        return operation.kernel.starts_with("elementwise cast_to_8");
      }));
    return count;
  };
  // A block has seven weights with four different inputs.
  CHECK(casts(false) == 2 * (7 + 7));
  CHECK(casts(true) == 2 * (7 + 4));
}

TEST_CASE("routers and layers whose dimensions are not multiples of 16 stay in bf16", "[fp8]") {
  const auto model = model_of([](Eager& run) {
    auto in = run.embedding("e", 64, 32, 256);
    run.set_role(LayerRole::router);
    in = run.linear("h.0.experts.router", in, 64, 256, 64, false);
    run.set_role(LayerRole::other);
    in = run.linear("h.0.odd", in, 64, 64, 24, false);
    in = run.linear("h.0.fits", in, 64, 24 * 16, 32, false);
    run.linear("head", in, 64, 32, 64, false);
  });
  CHECK_FALSE(model.layers[1].takes_fp8);
  CHECK_FALSE(model.layers[2].takes_fp8);
  CHECK(model.layers[3].takes_fp8);
  CHECK_FALSE(model.layers[4].takes_fp8);
}

// With sequence parallelism, a block gathers twice forward (inputs of queries and of the MLP) and twice
// backward (gradients of its results); Megatron also gathers the inputs again. Reductions are in bf16.
TEST_CASE("tensor ranks gather fp8 and reduce 16-bit numbers", "[fp8]") {
  const auto model = model_of(decoder(small()));
  const bool megatron = GENERATE(false, true);
  auto settings = settings_of({megatron ? Fp8Recipe::delayed : Fp8Recipe::tensorwise, megatron}, !megatron);
  settings.tensor = 2;
  settings.sequence_parallel = true;
  settings.megatron = megatron;
  const auto step = eager_step(model, settings);
  const double whole = 2.0 * 128 * 512;  // elements of all tokens
  double gathered = 0;
  double reduced = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    if (!step.of_rank[i].name.starts_with("h.")) continue;
    for (const auto* pass : {&step.layers[i].forward_exchanges, &step.layers[i].backward_exchanges}) {
      for (const auto& exchange : *pass)
        (exchange.kind == CollectiveKind::all_gather ? gathered : reduced) += exchange.bytes.value();
    }
  }
  CHECK(gathered == 2 * (megatron ? 6 : 4) * whole);
  CHECK(reduced == 2 * 4 * 2 * whole);
}

namespace {

/// Bytes of exchanges of a kind within blocks, in both passes.
double sent(const EagerStep& step, CollectiveKind kind) {
  double bytes = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i)
    for (const auto* pass : {&step.layers[i].forward_exchanges, &step.layers[i].backward_exchanges})
      for (const auto& exchange : *pass)
        if (exchange.kind == kind && step.of_rank[i].name.starts_with("h.")) bytes += exchange.bytes.value();
  return bytes;
}

}  // namespace

// The ring sends p - 1 of p parts, each during the product of a part.
TEST_CASE("userbuffers send a part of the rows during each part of a product", "[fp8][userbuffers]") {
  const auto model = model_of(decoder(small()));
  auto settings = settings_of({});
  const bool in_fp8 = GENERATE(false, true);
  settings.fp8.reset();
  if (in_fp8) settings.fp8 = Fp8{Fp8Recipe::delayed, true};
  settings.tensor = 4;
  settings.sequence_parallel = settings.megatron = true;
  const auto plain = eager_step(model, settings);
  settings.sends_pieces = true;
  const auto cut = eager_step(model, settings);
  const auto precision = in_fp8 ? Precision::fp8 : Precision::bf16;
  CHECK(flops_in(cut, precision) == flops_in(plain, precision));

  const double whole = 2.0 * 128 * 512;
  const double width = in_fp8 ? 1 : 2;
  // Per block, the ring moves the inputs of two layers and the sums of two layers forward, and the gradients
  // of these two sums backward.
  CHECK(sent(plain, CollectiveKind::send_recv) == 0);
  CHECK(sent(cut, CollectiveKind::send_recv) == Approx(2 * 0.75 * whole * (2 * width + 2 * 2 + 2 * width)));
  // Inputs that are gathered again in the backward pass, and their gradients, are not split.
  CHECK(sent(cut, CollectiveKind::all_gather) == 2 * 2 * width * whole);
  CHECK(sent(cut, CollectiveKind::reduce_scatter) == 2 * 2 * 2 * whole);
}

// PyTorch splits all products that read a gathered tensor, sends its parts during the first of them, and does
// not split sums of the gradients of several products.
TEST_CASE("async tensor parallelism sends a part of the rows during each part of a product",
          "[fp8][async_tp]") {
  const auto model = model_of(decoder(small()));
  auto settings = settings_of({});
  const bool in_fp8 = GENERATE(false, true);
  settings.fp8.reset();
  if (in_fp8) settings.fp8 = Fp8{Fp8Recipe::tensorwise};
  settings.tensor = 4;
  settings.sequence_parallel = settings.compiled = true;
  const auto plain = eager_step(model, settings);
  settings.sends_pieces = true;
  const auto cut = eager_step(model, settings);
  for (const auto precision : {Precision::bf16, Precision::fp8})
    CHECK(flops_in(cut, precision) == flops_in(plain, precision));

  // Four gathers and four sums in each of two blocks; sums of input gradients are not split.
  CHECK(sent(plain, CollectiveKind::send_recv) == 0);
  CHECK(sent(cut, CollectiveKind::all_gather) == 0);
  const double whole = 2.0 * 128 * 512;
  CHECK(sent(cut, CollectiveKind::reduce_scatter) == 2 * 2 * 2 * whole);
  CHECK(sent(cut, CollectiveKind::send_recv) ==
        Approx(0.75 *
               (sent(plain, CollectiveKind::all_gather) + sent(plain, CollectiveKind::reduce_scatter) / 2)));
}
