// SPDX-License-Identifier: Apache-2.0
// Operations of captures that are not PyTorch's own, have no input, or have operands of other layouts.
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "sim/workload/captured/captured_step.hpp"

using namespace gradway;

namespace {

CapturedOperation operation_of(std::string name, std::vector<CapturedTensor> inputs,
                               std::vector<CapturedTensor> outputs) {
  CapturedOperation of;
  of.name = std::move(name);
  of.inputs = std::move(inputs);
  of.outputs = std::move(outputs);
  return of;
}

const CapturedTensor image{CapturedType::fp16, CapturedLayout::channels_last, {8, 64, 100, 100}};
const CapturedTensor scale{CapturedType::fp16, CapturedLayout::contiguous, {64}};

}  // namespace

TEST_CASE("a custom operation reads and writes each tensor once, and its kernel is not timed") {
  const auto custom = kernels_of(operation_of("mine.affine_relu", {image, scale}, {image}), 2, 90);
  CHECK_FALSE(custom.is_known);
  REQUIRE(custom.kernels.size() == 1);
  CHECK(custom.kernels.front().bytes.value() == Approx(2 * 2 * (2.0 * 8 * 64 * 100 * 100 + 64)));
  // In PyTorch's own kernels, operands of unequal layouts take as long as a permutation.
  const auto own = kernels_of(operation_of("mul", {image, scale}, {image}), 2, 90);
  REQUIRE_FALSE(own.kernels.empty());
  CHECK(own.kernels.front().kernel != custom.kernels.front().kernel);
}

TEST_CASE("random integers need no input") {
  const CapturedTensor integers{CapturedType::int64, CapturedLayout::contiguous, {16}};
  const auto random = operation_of("randint", {}, {integers});
  CHECK(why_invalid(random).empty());
  CHECK(kernels_of(random, 1, 90).is_known);
}

TEST_CASE("norms and softmax copy operands whose rows are not contiguous") {
  const auto tensor = [](CapturedLayout layout) {
    return CapturedTensor{CapturedType::fp32, layout, {4, 256, 320}};
  };
  const auto plain = tensor(CapturedLayout::contiguous);
  const auto names = [&](const char* name, std::vector<CapturedTensor> inputs) {
    std::vector<std::string> found;
    for (const auto& kernel : kernels_of(operation_of(name, std::move(inputs), {plain}), 2, 90).kernels)
      found.push_back(kernel.kernel);
    return found;
  };
  using Names = std::vector<std::string>;
  const auto turned = tensor(CapturedLayout::transposed);
  CHECK(names("native_layer_norm", {plain}) == Names{"rows layer_norm fp32"});
  CHECK(names("native_layer_norm", {turned}) == Names{"rows transpose_256 fp32", "rows layer_norm fp32"});
  CHECK(names("_softmax", {tensor(CapturedLayout::strided)}) ==
        Names{"elementwise permute fp32", "rows softmax fp32"});
  // The gradient and the input; weights and statistics are smaller.
  CHECK(names("native_layer_norm_backward",
              {turned, turned, {CapturedType::fp32, CapturedLayout::contiguous, {320}}}) ==
        Names{"rows transpose_256 fp32", "rows transpose_256 fp32", "rows layer_norm_backward fp32"});
  // The copy reads and writes each number once, for twice the captured batch.
  const auto copy = kernels_of(operation_of("native_layer_norm", {turned}, {plain}), 2, 90).kernels.front();
  CHECK(copy.bytes.value() == Approx(2 * 2 * 4.0 * 4 * 256 * 320));
}
