// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "sim/cost/operation_cost.hpp"

using namespace gradway;

namespace {

/// 1e14 operations and 1e12 bytes per second.
Gpu round_gpu() {
  Gpu gpu;
  gpu.name = "round";
  gpu.multiprocessors = 100;
  gpu.memory_bandwidth = BytesPerSecond{1e12};
  gpu.peak.fill(FlopsPerSecond{1e14});
  gpu.matrix_efficiency.fill(1);
  gpu.memory_efficiency = 1;
  return gpu;
}

constexpr double shortest = 1.3e-6;

}  // namespace

TEST_CASE("a kernel name with too many words is unknown") {
  CHECK(find_operation("attention_forward bf16 cudnn causal", {1, 16, 128, 64}).has_value());
  CHECK_FALSE(find_operation("attention_forward bf16 cudnn causal x", {1, 16, 128, 64}).has_value());
}

TEST_CASE("kinds of timed kernels and kernel families are in the same order") {
  for (std::size_t i = 0; i < timed_kinds.size(); ++i) {
    std::string kernel{timed_kinds[i].name};
    for (std::size_t word = 0; word < word_count(timed_kinds[i]); ++word)
      kernel += fmt::format(" {}", choices(timed_kinds[i], word).back());
    CAPTURE(kernel);
    const auto found = find_operation(kernel, {64, 64, 64, 64, 1, 0, 64, 1});
    REQUIRE(found);
    CHECK(static_cast<std::size_t>(found->family) == i);
  }
}

TEST_CASE("the datasheet time is the maximum of arithmetic and memory time plus a latency") {
  const auto gpu = round_gpu();
  // 2 x 4096^3 operations, 3 x 4096^2 numbers
  const auto large = operation("product bf16 nt", {4096, 4096, 4096});
  CHECK(datasheet_time(large, gpu).value() == Approx(shortest + 2 * 4096.0 * 4096 * 4096 / 1e14));
  const auto thin = operation("product fp32 nt", {1, 4096, 4096});
  CHECK(datasheet_time(thin, gpu).value() == Approx(shortest + 4 * (4096 + 4096.0 * 4096 + 4096) / 1e12));
  CHECK(datasheet_time(operation("elementwise add bf16", {1e9}), gpu).value() == Approx(shortest + 6e-3));
  CHECK(datasheet_time(operation("rows layer_norm fp32", {1e6, 1e3}), gpu).value() ==
        Approx(shortest + 8e-3));
}

TEST_CASE("a product hides part of the traffic of its fp32 accumulation") {
  const auto gpu = round_gpu();
  const auto plain = operation("product bf16 tn", {4096, 4096, 4096});
  const auto adding = operation("product bf16 tn_add", {4096, 4096, 4096});
  CHECK(adding.flops == plain.flops);
  CHECK(adding.bytes - plain.bytes == Bytes{(4 + 4 - 2) * 4096.0 * 4096});
  CHECK((datasheet_time(adding, gpu) - datasheet_time(plain, gpu)).value() ==
        Approx(0.35 * 6 * 4096 * 4096 / 1e12));
  // A memory-bound product has all of the additional time.
  const auto thin = [&](const char* kernel) {
    return datasheet_time(operation(kernel, {4096, 4096, 8}), gpu).value();
  };
  CHECK(thin("product bf16 tn_add") - thin("product bf16 tn") == Approx(6 * 4096.0 * 4096 / 1e12));
  // If it was not timed, the factor of the plain product applies.
  const KernelTimes times{"round", "made up", {{"product bf16 tn", {4096, 4096, 4096}, 2_ms}}};
  const OperationCosts costs{times, gpu};
  CHECK(costs.factor(adding) == costs.factor(plain));
}

TEST_CASE("FlashAttention 1 is slower relative to version 2 for longer sequences and larger heads") {
  const auto gpu = round_gpu();
  // Slow-down; both have enough blocks.
  const auto slower = [&](double tokens, double head) {
    const auto time = [&](const char* kernel) {
      return datasheet_time(operation(kernel, {4, 32, tokens, head}), gpu).value() - shortest;
    };
    return time("attention_forward bf16 flash causal") / time("attention_forward bf16 flash1 causal");
  };
  CHECK(slower(512, 64) == Approx(0.83));
  CHECK(slower(1024, 128) == Approx(0.56));
  CHECK(slower(16384, 64) == Approx(0.62));
  CHECK(slower(131072, 128) == Approx(0.47));
  CHECK(slower(256, 64) == Approx(0.83));
  // Half-way between published sizes, the result is between theirs.
  CHECK(slower(1024 * std::sqrt(0.5), 64) == Approx((0.83 + 0.66) / 2));
  CHECK(slower(512, 64 * std::sqrt(2.0)) == Approx((0.83 + 0.70) / 2));
}

TEST_CASE("attention with fewer blocks than multiprocessors leaves some multiprocessors idle") {
  const auto gpu = round_gpu();
  const auto time = [&](double heads) {
    return datasheet_time(operation("attention_forward bf16 cudnn full", {1, heads, 128 * 25, 64}), gpu)
               .value() -
           shortest;
  };
  CHECK(time(4) ==
        Approx(time(1)));  // 25 and 100 blocks: four times the work on four times as many multiprocessors
  CHECK(time(8) == Approx(2 * time(4)));  // all multiprocessors were busy
}

TEST_CASE("a timed kernel has its measured time, which is extrapolated to other GPUs by their datasheets") {
  const auto gpu = round_gpu();
  const KernelTimes times{"round", "made up", {{"product bf16 nt", {1024, 1024, 1024}, 100_us}}};
  const OperationCosts costs{times, gpu};
  const auto timed = operation("product bf16 nt", {1024, 1024, 1024});
  CHECK((datasheet_time(timed, gpu) * costs.factor(timed)).value() == Approx(100e-6));
  auto twice = gpu;
  for (auto& peak : twice.peak) peak = *peak * 2;
  twice.memory_bandwidth = twice.memory_bandwidth * 2;
  CHECK(datasheet_time(timed, twice) * costs.factor(timed) < 0.6 * 100_us);
}

TEST_CASE("a weight gradient in TF32 that is moved to an A100 is as efficient as a forward product") {
  auto a100 = round_gpu();
  a100.compute_capability = 80;
  const auto gradient = operation("product tf32 tn", {1024, 2048, 4096});
  const auto moved = moved_as(gradient, a100);
  CHECK(moved.kernel == "product tf32 nt");
  CHECK(moved.size == gradient.size);
  CHECK(moved.flops == gradient.flops);
  // Products in 16 bits, of other GPUs and of other layouts stay as they are.
  CHECK(moved_as(operation("product bf16 tn", {1024, 2048, 4096}), a100).kernel == "product bf16 tn");
  CHECK(moved_as(operation("product tf32 nn", {1024, 2048, 4096}), a100).kernel == "product tf32 nn");
  a100.compute_capability = 90;
  CHECK(moved_as(gradient, a100).kernel == "product tf32 tn");
}

TEST_CASE("fused attention in 32 bits is a kernel for Ampere, so that Hopper reaches less of its peak") {
  auto gpu = round_gpu();
  const auto attention = operation("attention_forward fp32 efficient full", {64, 16, 4096, 128});
  const auto time = [&](int capability) {
    gpu.compute_capability = capability;
    return datasheet_time(attention, gpu).value() - shortest;
  };
  CHECK(time(90) == Approx(time(80) / 0.525));
}

TEST_CASE("the nearest timed kernels by logarithms of sizes have the largest weight") {
  const auto gpu = round_gpu();
  const auto at = [&](double factor, double m) {
    const auto shape = operation("product bf16 nt", {m, 4096, 4096});
    return KernelTime{"product bf16 nt", {m, 4096, 4096}, datasheet_time(shape, gpu) * factor};
  };
  const OperationCosts costs{{"round", "made up", {at(2, 1024), at(4, 16384)}}, gpu};
  const auto factor = [&](double m) { return costs.factor(operation("product bf16 nt", {m, 4096, 4096})); };
  CHECK(factor(1024) == Approx(2).epsilon(0.01));
  CHECK(factor(4096) == Approx(std::sqrt(8)));  // equally far from both
  CHECK(factor(2048) < factor(4096));
  CHECK(factor(16384) == Approx(4).epsilon(0.01));
}

TEST_CASE("kernels timed on another GPU stand in for those that were not timed on this one") {
  const auto gpu = round_gpu();
  auto faster = gpu;
  faster.memory_bandwidth = faster.memory_bandwidth * 2;
  const auto operation_of = [](double elements) { return operation("elementwise copy fp32", {elements}); };
  const auto timed = [&](double factor, double elements, const Gpu& on) {
    return KernelTime{
        "elementwise copy fp32", {elements}, datasheet_time(operation_of(elements), on) * factor};
  };
  const OperationCosts own{{"round", "made up", {timed(2, 1e6, gpu), timed(2, 1e7, gpu)}}, gpu};
  const OperationCosts other{{"faster", "made up", {timed(5, 1e7, faster), timed(8, 1e9, faster)}}, faster};
  const auto both = own.with(other);
  CHECK(both.source() == own.source());
  // Where both GPUs timed a kernel, this GPU's time counts.
  CHECK(both.factor(operation_of(1e7)) == Approx(2).epsilon(0.01));
  CHECK(both.factor(operation_of(1e9)) == Approx(8).epsilon(0.01));
  // Weights fall with the cube of the distance between the sizes' logarithms: 1 / 8 for the farther of two.
  CHECK(both.factor(operation_of(1e8)) ==
        Approx(std::exp2((1 + 1 / 8.0 + 3) / (2 + 1 / 8.0))).epsilon(0.001));
  CHECK(own.with(own).factor(operation_of(3e6)) == own.factor(operation_of(3e6)));
  // Kernels of a kind that only the other GPU timed
  const OperationCosts gelu{{"faster", "made up", {{"elementwise gelu bf16", {1e6}, 1_ms}}}, faster};
  const auto only_there = operation("elementwise gelu bf16", {1e6});
  CHECK(own.with(gelu).factor(only_there) == gelu.factor(only_there));
}

TEST_CASE("kernels that were not timed use other number formats, plain copies, or the datasheet") {
  const auto gpu = round_gpu();
  const auto copy = operation("elementwise copy fp32", {1e8});
  const OperationCosts costs{
      {"round", "made up", {{"elementwise copy fp32", {1e8}, datasheet_time(copy, gpu) * 3}}}, gpu};
  CHECK(costs.factor(operation("elementwise gelu bf16", {1e8})) == Approx(3));
  CHECK(costs.factor(operation("product bf16 nt", {1024, 1024, 1024})) == 1);
}

TEST_CASE("a grouped product is slower than one product of all rows and has a weight per group") {
  auto gpu = round_gpu();
  const KernelTimes times{"round", "made up", {{"product bf16 nt", {4096, 4096, 4096}, 3_ms}}};
  const OperationCosts costs{times, gpu};
  const auto time = [&](const Operation& of) { return (datasheet_time(of, gpu) * costs.factor(of)).value(); };
  const auto grouped = [](const char* layout, double groups) {
    return operation(fmt::format("grouped_product bf16 {}", layout), {4096, 4096, 4096, groups});
  };
  CHECK(grouped("nt", 8).flops == grouped("nt", 1).flops);
  // 4096 x 4096 numbers of weight for each further group; in tn these are the results
  CHECK((grouped("nt", 8).bytes - grouped("nt", 1).bytes).value() == 7 * 2 * 4096.0 * 4096);
  CHECK(grouped("tn", 8).bytes == grouped("nt", 8).bytes);
  // 8 groups of 512 rows, tiles of 128: 4 / 5 of the rate of one product
  const auto share = [&](double groups) {
    return time(operation("product bf16 nt", {4096, 4096, 4096})) / time(grouped("nt", groups));
  };
  CHECK(share(8) == Approx(0.8).epsilon(0.001));
  CHECK(share(8) > share(32));
  // A timed one has its measured time.
  const KernelTimes also{"round",
                         "made up",
                         {{"product bf16 nt", {4096, 4096, 4096}, 3_ms},
                          {"grouped_product bf16 nt", {4096, 4096, 4096, 8}, 5_ms}}};
  CHECK(
      (datasheet_time(grouped("nt", 8), gpu) * OperationCosts{also, gpu}.factor(grouped("nt", 8))).value() ==
      Approx(5e-3));
}
