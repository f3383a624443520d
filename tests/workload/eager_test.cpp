// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "sim/workload/architectures.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/models.hpp"

using namespace gradway;
using test::model_of;

namespace {

int count_of(const std::vector<Operation>& operations, const std::string& kernel) {
  return static_cast<int>(std::ranges::count(operations, kernel, &Operation::kernel));
}

double bytes_kept(const EagerStep& step) {
  return step.memory.activations[step.memory.activations.size() / 2 - 1].value();
}

}  // namespace

TEST_CASE("a linear layer is one product forward and two backward, with casts under autocast") {
  const auto model = model_of([](Eager& run) {
    auto x = run.embedding("e", 50, 10, 1024);  // needs a gradient
    x = run.linear("fc", x, 50, 1024, 4096);
    run.cross_entropy("loss", x, 50, 4096);
  });
  CHECK(model.layers[1].forward.flops_per_sample.value() == 2.0 * 50 * 1024 * 4096);
  CHECK(model.layers[1].backward.flops_per_sample == 2 * model.layers[1].forward.flops_per_sample);

  const auto fp32 = eager_step(model, {.batch = 2});
  REQUIRE(fp32.layers[1].forward.size() == 1);
  CHECK(fp32.layers[1].forward[0].size == std::array<double, most_sizes>{100, 4096, 1024});
  CHECK(fp32.layers[1].backward.size() == 3);  // two products and the sum of the bias gradient

  const auto bf16 = eager_step(model, {.batch = 2, .precision = Precision::bf16});
  CHECK(count_of(bf16.layers[1].forward, "product bf16 nt") == 1);
  CHECK(count_of(bf16.layers[1].forward, "elementwise cast_to_16 fp32") == 3);   // x, weight, bias
  CHECK(count_of(bf16.layers[1].backward, "elementwise cast_to_32 bf16") == 3);  // their gradients
}

TEST_CASE("the first convolution needs no gradient of its input") {
  const auto model = model_of([](Eager& run) {
    auto x = run.input(3 * 224 * 224);
    x = run.conv2d("conv1", x, {3, 64, 7, 2, 3, 224, false});
    run.cross_entropy("loss", x, 1, 64 * 112 * 112);
  });
  // ResNet's first layer: 118 million multiply-adds
  CHECK(model.layers[0].forward.flops_per_sample.value() == 2 * 118013952.0);
  CHECK(model.layers[0].backward.flops_per_sample == model.layers[0].forward.flops_per_sample);
  CHECK(model.layers[0].parameter_count() == 9408);
}

TEST_CASE("causal attention does half of the products, and its backward pass 2.5 times as many") {
  const auto with_mask = [](bool causal) {
    return model_of([causal](Eager& run) {
      const auto x = run.embedding("e", 128, 10, 3 * 512);
      run.attention("a", {x}, {8, 8, 128, 64, causal});
    });
  };
  const auto full = with_mask(false);
  const auto causal = with_mask(true);
  CHECK(full.layers[1].forward.flops_per_sample.value() == 4.0 * 128 * 128 * 512);
  CHECK(causal.layers[1].forward.flops_per_sample == full.layers[1].forward.flops_per_sample / 2);
  CHECK(full.layers[1].backward.flops_per_sample == 2.5 * full.layers[1].forward.flops_per_sample);
}

TEST_CASE("the attention kernel is PyTorch's choice by precision and GPU, or the requested one") {
  const auto model = model_of([](Eager& run) {
    auto x = run.embedding("e", 128, 10, 512);
    x = run.linear("qkv", x, 128, 512, 3 * 512);
    x = run.attention("a", {x}, {8, 8, 128, 64, true});
    run.cross_entropy("loss", x, 128, 512);
  });
  const auto kernel = [&](const EagerSettings& settings) {
    return eager_step(model, settings).layers[2].forward.front().kernel;
  };
  CHECK(kernel({.precision = Precision::bf16}) == "attention_forward bf16 cudnn causal");
  CHECK(kernel({.precision = Precision::bf16, .compute_capability = 80}) ==
        "attention_forward bf16 flash causal");
  CHECK(kernel({.precision = Precision::fp16, .compute_capability = 70}) ==
        "attention_forward fp16 efficient causal");
  CHECK(kernel({.precision = Precision::tf32}) == "attention_forward tf32 efficient causal");
  CHECK(kernel({.precision = Precision::bf16, .compute_capability = 120}) ==
        "attention_forward bf16 flash causal");
  CHECK(kernel({.precision = Precision::bf16, .attention = AttentionKernel::flash1}) ==
        "attention_forward bf16 flash1 causal");
}

TEST_CASE("math attention runs in fp32 in PyTorch and in the job's precision in Megatron") {
  const auto model = model_of(decoder({.layers = 1, .heads = 2, .hidden = 128, .mlp = 512}));
  const auto products = [&](EagerSettings settings) {
    settings.attention = AttentionKernel::math;
    std::vector<std::string> kernels;
    for (const auto& layer : eager_step(model, settings).layers) {
      for (const auto* pass : {&layer.forward, &layer.backward}) {
        for (const auto& operation : *pass) {
          if (operation.kernel.starts_with("batched_product")) kernels.push_back(operation.kernel);
        }
      }
    }
    return kernels;
  };
  const std::vector<std::string> layouts{"nt", "nn", "nn", "nt", "nn", "nn"};
  const auto all_in = [&](const std::string& number) {
    std::vector<std::string> kernels;
    for (const auto& layout : layouts) kernels.push_back("batched_product " + number + " " + layout);
    return kernels;
  };
  CHECK(products({.precision = Precision::bf16}) == all_in("fp32"));
  CHECK(products({.precision = Precision::tf32}) == all_in("tf32"));
  CHECK(products({.precision = Precision::bf16, .megatron = true}) == all_in("bf16"));
}

TEST_CASE("a 16-bit norm with an fp32 weight runs as separate operations") {
  const auto norms = [](EagerSettings settings) {
    const auto step = eager_step(model_of([](Eager& run) {
                                   auto x = run.linear("in", run.input(64), 1, 64, 64, false);
                                   run.rms_norm("norm", x, 1, 64);
                                 }),
                                 settings);
    std::vector<std::string> kernels;
    for (const auto& operation : step.layers.back().forward) kernels.push_back(operation.kernel);
    return kernels;
  };
  CHECK(norms({.precision = Precision::fp32}) == std::vector<std::string>{"rows rms_norm fp32"});
  CHECK(norms({.precision = Precision::bf16, .half_parameters = true}) ==
        std::vector<std::string>{"rows rms_norm bf16"});
  const std::vector<std::string> steps{"elementwise scale fp32", "elementwise sum fp32",
                                       "elementwise scale fp32", "elementwise scale fp32",
                                       "elementwise scale fp32", "elementwise scale fp32"};
  auto with_casts = steps;
  with_casts.insert(with_casts.begin(), "elementwise cast_to_32 bf16");
  with_casts.emplace_back("elementwise cast_to_16 fp32");
  CHECK(norms({.precision = Precision::bf16}) == with_casts);
  // All RMSNorms with composed_norms, except Megatron's.
  CHECK(norms({.precision = Precision::bf16, .half_parameters = true, .composed_norms = true}) == with_casts);
  CHECK(norms({.precision = Precision::fp32, .composed_norms = true}) == steps);
  CHECK(norms({.precision = Precision::bf16,
               .half_parameters = true,
               .composed_norms = true,
               .megatron = true}) == std::vector<std::string>{"rows rms_norm bf16"});
}

// Llama 3.2 1B of transformers 5.17 on an H100, PyTorch 2.11: mul, neg, cat, mul, add forward; backward two
// products, for each half a zero, a copy and an add, and a neg and a copy.
TEST_CASE("rotary positions are one complex product, or separate operations in the model's precision") {
  const auto rotary = [](const EagerSettings& settings) {
    const auto step = eager_step(model_of([](Eager& run) {
                                   const auto x = run.linear("in", run.input(64), 1, 64, 64, false);
                                   run.rotary("rotary", x, 64);
                                 }),
                                 settings);
    std::pair<std::size_t, std::size_t> launched{step.layers.back().forward.size(),
                                                 step.layers.back().backward.size()};
    return launched;
  };
  using Launched = std::pair<std::size_t, std::size_t>;
  CHECK(rotary({.precision = Precision::bf16, .half_parameters = true}).first == 3);
  EagerSettings composed{.precision = Precision::bf16, .half_parameters = true, .hugging_face = true};
  CHECK(rotary(composed) == Launched{5, 10});
  composed.compiled = true;
  CHECK(rotary(composed).first < 5);
}

TEST_CASE("the saved tensors of a GPT have exactly the bytes that PyTorch keeps") {
  // torch.autograd.graph.saved_tensors_hooks over the forward pass, own runs on an H100, 2026-11-22: all
  // tensors but parameters, by storage.
  DecoderShape shape{.layers = 24, .heads = 16, .hidden = 1024, .mlp = 4096};
  const auto bf16 = eager_step(model_of(decoder(shape)), {.batch = 16, .precision = Precision::bf16});
  const double logits =
      1024.0 * 50304;  // per sample; the call of the loss keeps them alive, autograd does not
  CHECK(bytes_kept(bf16) - 16 * 2 * logits == Approx(20280123908.0).epsilon(1e-4));
  const auto tf32 = eager_step(model_of(decoder(shape)), {.batch = 4, .precision = Precision::tf32});
  CHECK(bytes_kept(tf32) - 4 * 4 * logits == Approx(7308156964.0).epsilon(1e-4));
}

TEST_CASE(
    "ResNet-50 keeps each activation once, since a ReLU's result is the saved input of the next "
    "convolution") {
  const auto step = eager_step(model_of(residual_network({})), {.batch = 64});
  // the same runs: 5,498,889,732 bytes, including 38,535,168 bytes of images, which count as the job's input
  CHECK(bytes_kept(step) == Approx(5498889732.0 - 38535168).epsilon(1e-3));
}

TEST_CASE("a compiled step moves fewer bytes and does the same products") {
  DecoderShape shape{.layers = 4, .heads = 16, .hidden = 1024, .mlp = 4096};
  const auto model = model_of(decoder(shape));
  const auto sum = [](const EagerStep& step) {
    std::pair<double, double> all{};
    for (const auto& layer : step.layers) {
      for (const auto* operations : {&layer.forward, &layer.backward}) {
        for (const auto& operation : *operations) {
          all.first += operation.flops.value();
          if (operation.flops == Flops{}) all.second += operation.bytes.value();
        }
      }
    }
    return all;
  };
  const auto eager = sum(eager_step(model, {.batch = 4, .precision = Precision::bf16}));
  const auto compiled = sum(eager_step(model, {.batch = 4, .precision = Precision::bf16, .compiled = true}));
  CHECK(compiled.first == eager.first);
  CHECK(compiled.second < 0.9 * eager.second);
}

TEST_CASE("grouped-query attention reads fewer heads of keys and values") {
  const auto bytes = [](const std::string& kernel, double kv_heads) {
    return operation(kernel, {2, 8, 128, 64, kv_heads}).bytes.value();
  };
  const double all = 2.0 * 2 * 8 * 128 * 64;  // bytes of the queries in bf16
  CHECK(bytes("attention_forward bf16 cudnn causal", 8) == 4 * all);
  CHECK(bytes("attention_forward bf16 cudnn causal", 0) ==
        4 * all);  // 0: as many heads of keys as of queries
  CHECK(bytes("attention_forward bf16 cudnn causal", 2) == (2 + 2 * 0.25) * all);
  CHECK(bytes("attention_backward bf16 cudnn causal", 8) == 8 * all);
  CHECK(bytes("attention_backward bf16 cudnn causal", 2) == (4 + 4 * 0.25) * all);
  // flash writes gradients of keys and values for all heads and sums them
  CHECK(bytes("attention_backward bf16 flash causal", 2) == (6 + 2 * 0.25) * all);
}

// repeat_kv of transformers returns what it is given if there is a head of keys for each head of queries.
TEST_CASE("composed attention copies keys and values only where heads share them") {
  const auto copies = [](std::int64_t kv_heads, bool hugging_face) {
    const auto model = model_of([kv_heads](Eager& run) {
      const auto x = run.embedding("e", 64, 10, 512);
      const std::vector<Tensor> qkv{run.linear("q", x, 64, 512, 512, false),
                                    run.linear("k", x, 64, 512, 64 * kv_heads, false),
                                    run.linear("v", x, 64, 512, 64 * kv_heads, false)};
      run.attention("attention", qkv,
                    {.heads = 8, .kv_heads = kv_heads, .tokens = 64, .head_size = 64, .causal = true});
    });
    const auto step = eager_step(model, {.precision = Precision::bf16,
                                         .half_parameters = true,
                                         .attention = AttentionKernel::composed,
                                         .hugging_face = hugging_face});
    return count_of(step.layers[4].forward, "elementwise permute bf16");
  };
  CHECK(copies(8, true) == 0);
  CHECK(copies(2, true) == 2);
  CHECK(copies(8, false) == 0);
}

TEST_CASE("all heads and samples share the factors of rotary positions") {
  const double all = 4.0 * (1 << 20);
  CHECK(operation("elementwise complex_mul fp32", {1 << 20}).bytes.value() ==
        3 * all);  // as in timed kernels
  CHECK(operation("elementwise complex_mul fp32", {1 << 20, 1 << 10}).bytes.value() ==
        2 * all + 4.0 * (1 << 10));
}
