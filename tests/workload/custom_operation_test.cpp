// SPDX-License-Identifier: Apache-2.0
// Operations of captures that are not PyTorch's own, or have no input.
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
