// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "readers/kineto/work/launch_work.hpp"
#include "readers/kineto/work/operation_work.hpp"
#include "tests/readers/trace_builder.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

using Shapes = std::vector<Operand::Shape>;

Signature signature(const std::string& name, const Shapes& shapes, const std::string& type = "float",
                    std::vector<std::string> values = {}) {
  Signature result{name, {}, std::move(values)};
  for (const auto& shape : shapes) result.operands.push_back({type, {shape}});
  return result;
}

void check(const Signature& operation, KernelClass kind, double flops, double bytes, int products = 1) {
  CAPTURE(operation.name);
  const auto work = work_of(operation);
  CHECK(work.kind == kind);
  CHECK(work.flops.value() == Approx(flops));
  CHECK(work.bytes.value() == Approx(bytes));
  CHECK(work.products == products);
}

}  // namespace

TEST_CASE("matrix products take 2 m n k operations", "[import][work]") {
  using enum KernelClass;
  check(signature("aten::mm", {{3, 5}, {5, 7}}), matrix, 2. * 3 * 5 * 7, 4. * (15 + 35 + 21));
  check(signature("aten::addmm", {{7}, {3, 5}, {5, 7}}, "c10::BFloat16"), matrix, 2. * 3 * 5 * 7,
        2. * (15 + 35 + 21));
  check(signature("aten::bmm", {{2, 3, 5}, {2, 5, 7}}), matrix, 2. * 2 * 3 * 5 * 7, 4. * 2 * (15 + 35 + 21));
  check(signature("aten::baddbmm", {{2, 3, 7}, {2, 3, 5}, {2, 5, 7}}), matrix, 2. * 2 * 3 * 5 * 7,
        4. * 2 * (15 + 35 + 21));
  check(signature("aten::linear", {{2, 3, 5}, {7, 5}, {7}}), matrix, 2. * 6 * 5 * 7, 4. * (30 + 35 + 42));
}

TEST_CASE("a convolution takes two operations for each result and element of a filter", "[import][work]") {
  // 9 x 7 pixels, padding 1, filters of 3 x 3, stride 2: 5 x 4 results of 6 channels from 2 x 3 x 3 each.
  const std::vector<std::string> values{"", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"};
  const double results = 4. * 6 * 5 * 4;
  check(signature("aten::cudnn_convolution", {{4, 2, 9, 7}, {6, 2, 3, 3}}, "float", values),
        KernelClass::matrix, 2 * results * 18, 4 * (4. * 2 * 9 * 7 + 6 * 18 + results));

  // Dilation 2 covers 5 x 5; in two groups each filter meets one channel of two.
  const std::vector<std::string> dilated{"", "", "[0, 0]", "[1, 1]", "[2, 2]", "2"};
  check(signature("aten::cudnn_convolution", {{4, 4, 9, 7}, {6, 2, 3, 3}}, "c10::Half", dilated),
        KernelClass::matrix, 2 * (4. * 6 * 5 * 3) * 18, 2 * (4. * 4 * 63 + 6 * 18 + 4. * 6 * 5 * 3));

  // Without the settings the size of the result is unknown.
  check(signature("aten::cudnn_convolution", {{4, 2, 9, 7}, {6, 2, 3, 3}}), KernelClass::memory, 0,
        4 * (2. * 504 + 108), 0);
}

TEST_CASE("the backward pass of a convolution takes as much for each gradient", "[import][work]") {
  const Shapes shapes{{4, 6, 5, 4}, {4, 2, 9, 7}, {6, 2, 3, 3}};
  const auto with_mask = [&](const std::string& mask, const std::string& transposed = "False") {
    return signature("aten::convolution_backward", shapes, "float",
                     {"", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", transposed, "[0, 0]", "1", mask});
  };
  const double forward = 2 * (4. * 6 * 5 * 4) * 18;
  const double tensors = 4 * (480. + 504 + 108);

  check(with_mask("[True, True, False]"), KernelClass::matrix, 2 * forward, 2 * tensors, 2);
  check(with_mask("[False, True, False]"), KernelClass::matrix, forward, tensors, 1);
  check(with_mask("[True, False, True]"), KernelClass::matrix, forward, tensors, 1);
  // Transposed: each filter meets each element of the input.
  check(with_mask("[True, True, False]", "True"), KernelClass::matrix, 2 * 2 * 504. * 18, 2 * tensors, 2);
}

TEST_CASE("a depthwise convolution is bound by memory", "[import][work]") {
  CHECK(work_of(signature("aten::_conv_depthwise2d", {{4, 6, 9, 9}, {6, 1, 3, 3}})).kind ==
        KernelClass::memory);
  CHECK(work_of(signature("aten::convolution_backward", {{4, 6, 7, 7}, {4, 6, 9, 9}, {6, 1, 3, 3}})).flops ==
        Flops{});
}

TEST_CASE("attention takes 4 b h s s d operations, half if causal, 2.5 times backward", "[import][work]") {
  using enum KernelClass;
  const Shapes heads_first{{2, 3, 50, 8}, {2, 3, 50, 8}, {2, 3, 50, 8}};
  const Shapes tokens_first{{2, 50, 3, 8}, {2, 50, 3, 8}, {2, 50, 3, 8}};
  const double full = 4. * 2 * 3 * 50 * 50 * 8;
  const double bytes = 4 * 4. * 2 * 3 * 50 * 8;
  const auto backward = [](Shapes shapes) {
    shapes.insert(shapes.begin(), shapes[0]);
    return shapes;
  };
  const auto arguments = [](std::size_t place, const std::string& value) {
    std::vector<std::string> values(place + 1);
    values[place] = value;
    return values;
  };

  check(signature("aten::_efficient_attention_forward", tokens_first), attention, full, bytes);
  check(signature("aten::_efficient_attention_forward", tokens_first, "float", arguments(9, "1")), attention,
        full / 2, bytes);
  check(signature("aten::_efficient_attention_forward", tokens_first, "float", arguments(9, "0")), attention,
        full, bytes);
  check(signature("aten::_flash_attention_forward", tokens_first, "float", arguments(8, "True")), attention,
        full / 2, bytes);
  check(signature("aten::_cudnn_attention_forward", heads_first, "float", arguments(10, "True")), attention,
        full / 2, bytes);
  check(signature("aten::_flash_attention_backward", backward(tokens_first), "float", arguments(11, "False")),
        attention, 2.5 * full, 2 * bytes);
  check(signature("aten::_cudnn_attention_backward", backward(heads_first), "float", arguments(14, "True")),
        attention, 2.5 * full / 2, 2 * bytes);
  check(signature("aten::_efficient_attention_backward", backward(tokens_first)), attention, 2.5 * full,
        2 * bytes);
}

TEST_CASE("other operations move their operands and a result", "[import][work]") {
  using enum KernelClass;
  check(signature("aten::add", {{4, 8}, {8}}), memory, 0, 4. * (32 + 8 + 32), 0);
  check(signature("aten::copy_", {{4, 8}, {4, 8}}, "c10::Half"), memory, 0, 2. * 64, 0);
  check(signature("aten::fill_", {{4, 8}}, "double"), memory, 0, 8. * 32, 0);
  check(signature("aten::cat", {{4, 8}}, "TensorList"), memory, 0, 0, 0);  // of unknown elements
}

TEST_CASE("the products of an operation belong to its matrix kernels", "[import][work]") {
  // The gradients of input and filters of a convolution, between changes of layout.
  auto step = small_step();
  const Op op{"aten::convolution_backward", "[[4,6,5,4],[4,2,9,7],[6,2,3,3]]", R"(["float","float","float"])",
              R"(["","","","","","","","False","","","[True, True, False]"])"};
  step[3].op = op;
  const auto names = {"void nchwToNhwcKernel<float>()", "sm80_xmma_dgrad_tf32", "sm80_xmma_wgrad",
                      "void splitKreduce_kernel<1>()"};
  const Loop loop{.beside = [&](TraceBuilder& trace, int, std::size_t launch, double time) {
    if (launch != 2) return;
    const auto id = trace.op(op, time + 1, 8, autograd_thread);
    double at = time + 1;
    for (const auto* name : names) {
      at += 1.5;
      trace.launch({.name = name, .stream = 8}, at, 1, 1000 + at * 10, 12, id, autograd_thread);
    }
  }};

  const auto launches = import_loop(step, loop).profile.launches;

  REQUIRE(launches.size() == 10);
  const double each = 2 * (4. * 6 * 5 * 4) * 18;
  const double bytes = 4 * (480. + 504 + 108);
  CHECK(launches[3].kind == KernelClass::memory);
  CHECK(launches[3].flops == Flops{});
  CHECK(launches[3].name == "convolution_backward nchwToNhwcKernel");
  CHECK(launches[4].kind == KernelClass::matrix);
  CHECK(launches[4].flops.value() == Approx(each));
  CHECK(launches[4].bytes.value() == Approx(bytes));
  CHECK(launches[4].precision == Precision::tf32);
  CHECK(launches[4].name == "convolution_backward");
  CHECK(launches[5].flops.value() == Approx(each));
  CHECK(launches[5].precision == Precision::fp32);
  CHECK(launches[6].kind == KernelClass::memory);
  // The step's own launch has one kernel with an unknown name, which must be the product.
  CHECK(launches[7].kind == KernelClass::matrix);
  CHECK(launches[7].flops.value() == Approx(2 * each));
}

TEST_CASE("kernels of an operation that take no time share its work evenly", "[import][work]") {
  const auto operation = signature("aten::mm", {{64, 32}, {32, 16}}, "float");
  Trace trace;
  trace.signatures = {operation};
  const TracedOperation traced_operation;
  std::vector<TracedActivity> activities(2);
  for (auto& activity : activities) activity.name = trace.names.id("sgemm_tn");
  std::vector<TracedLaunch> traced(2);
  for (std::size_t i = 0; i < traced.size(); ++i) {
    traced[i].activity = &activities[i];
    traced[i].operation = &traced_operation;
  }
  std::vector<Launch> launches(2);
  find_work(trace, traced, launches);
  for (const auto& launch : launches) CHECK(launch.flops.value() == Approx(64. * 32 * 16));
}

TEST_CASE("the precision is that of most operations", "[import][work]") {
  auto step = small_step();
  CHECK(import_loop(step).profile.precision == Precision::fp32);
  step[1].op.types = R"(["c10::BFloat16","c10::BFloat16"])";
  step[1].op.shapes = "[[40,80],[80,160]]";
  CHECK(import_loop(step).profile.precision == Precision::bf16);
  step[1].op.types = R"(["c10::Half","c10::Half"])";
  CHECK(import_loop(step).profile.precision == Precision::fp16);
  step[1].op.types = R"(["float","float"])";
  step[1].kernel.name = "sm90_xmma_gemm_f32f32_tf32f32_f32";
  CHECK(import_loop(step).profile.precision == Precision::tf32);
  ImportOptions as_fp32;
  as_fp32.precision = Precision::fp32;
  CHECK(import_loop(step, {}, as_fp32).profile.precision == Precision::fp32);
}

TEST_CASE("persistent kernels take the tiles of their results from a scheduler", "[import][work]") {
  const auto* const nvjet = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";
  CHECK(tiles_of(nvjet, signature("aten::mm", {{4096, 8192}, {8192, 2048}})) == 16 * 16);
  CHECK(tiles_of(nvjet, signature("aten::addmm", {{2048}, {16384, 2048}, {2048, 2048}})) == 64 * 16);
  CHECK(tiles_of(nvjet, signature("aten::linear", {{4, 1024, 2048}, {8192, 2048}, {8192}})) == 16 * 64);
  CHECK(tiles_of(nvjet, signature("aten::bmm", {{3, 256, 64}, {3, 64, 128}})) == 3);
  CHECK(tiles_of("nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN",
                 signature("aten::addmm", {{6144}, {16384, 2048}, {2048, 6144}})) == 86 * 32);
  const auto attention = signature("aten::_scaled_dot_product_cudnn_attention", {{16, 16, 1000, 128}});
  CHECK(tiles_of("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128",
                 attention) == 16 * 16 * 8);
  // Others have a block for each tile, or no scheduler; without shapes it is unknown.
  CHECK(tiles_of("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8",
                 signature("aten::mm", {{4096, 8192}, {8192, 2048}})) == 0);
  CHECK(tiles_of("sm90_xmma_fprop_implicit_gemm_bf16bf16", signature("aten::cudnn_convolution", {})) == 0);
  CHECK(tiles_of(nvjet, signature("aten::mm", {})) == 0);
  CHECK(tiles_of("nvjet_without_a_size", signature("aten::mm", {{4, 4}, {4, 4}})) == 0);
}
