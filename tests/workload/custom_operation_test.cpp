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

TEST_CASE(
    "elementwise kernels of broadcast operands have the dimensions that no operand lets PyTorch merge") {
  const auto tensor = [](std::vector<std::int64_t> shape,
                         CapturedLayout layout = CapturedLayout::contiguous) {
    return CapturedTensor{CapturedType::fp32, layout, std::move(shape)};
  };
  const auto kernels = [](const char* name, std::vector<CapturedTensor> inputs, CapturedTensor output) {
    std::vector<std::pair<std::string, double>> rows;
    for (const auto& kernel :
         kernels_of(operation_of(name, std::move(inputs), {std::move(output)}), 2, 90).kernels)
      rows.emplace_back(kernel.kernel, kernel.size[0]);
    return rows;
  };
  using Rows = std::vector<std::pair<std::string, double>>;
  const double batch = 2;
  // A number for each row, and a row for all: two dimensions.
  CHECK(kernels("mul", {tensor({8, 4, 32}), tensor({8, 4, 1})}, tensor({8, 4, 32})) ==
        Rows{{"elementwise broadcast fp32", batch * 8 * 4 * 32}});
  CHECK(kernels("mul", {tensor({8, 4, 32}), tensor({32})}, tensor({8, 4, 32})) ==
        Rows{{"elementwise broadcast fp32", batch * 8 * 4 * 32}});
  // An outer product over the third dimension of six, of which neighbours merge: (4 4) 8 16 (2 64).
  CHECK(kernels("mul", {tensor({4, 4, 8, 1, 2, 64}), tensor({4, 4, 1, 16, 2, 64})},
                tensor({4, 4, 8, 16, 2, 64})) ==
        Rows{{"elementwise broadcast_4 fp32", batch * 4 * 4 * 8 * 16 * 2 * 64}});
  // Heads of keys are repeated: written elements count, not read ones.
  CHECK(kernels("clone", {tensor({2, 8, 1, 16, 64})}, tensor({2, 8, 4, 16, 64})) ==
        Rows{{"elementwise broadcast_3 fp32", batch * 2 * 8 * 4 * 16 * 64}});
  // A choice between two numbers is broadcast; one between two tensors reads and writes each of them once.
  const CapturedTensor mask{CapturedType::boolean, CapturedLayout::contiguous, {16, 64}};
  CHECK(kernels("where", {mask, tensor({}), tensor({})}, tensor({16, 64})) ==
        Rows{{"elementwise broadcast fp32", batch * 16 * 64}});
  CHECK(kernels("where", {mask, tensor({16, 64}), tensor({16, 64})}, tensor({16, 64})).front().first ==
        "elementwise copy fp32");
  // A gated layer's half of a row has gaps.
  CHECK(kernels("silu", {tensor({16, 64}, CapturedLayout::strided)}, tensor({16, 64})) ==
        Rows{{"elementwise broadcast fp32", batch * 16 * 64}});
  CHECK(kernels("silu", {tensor({16, 64})}, tensor({16, 64})) ==
        Rows{{"elementwise silu fp32", batch * 16 * 64}});
}

TEST_CASE("sums join rows, columns or all elements") {
  const auto tensor = [](std::vector<std::int64_t> shape) {
    return CapturedTensor{CapturedType::fp32, CapturedLayout::contiguous, std::move(shape)};
  };
  const auto kernel = [&](std::vector<std::int64_t> from, std::vector<std::int64_t> to) {
    return kernels_of(operation_of("sum", {tensor(std::move(from))}, {tensor(std::move(to))}), 2, 90)
        .kernels.front();
  };
  const auto rows = kernel({8, 16, 32}, {8, 16});
  CHECK(rows.kernel == "rows sum fp32");
  CHECK(rows.size[0] == 2 * 8 * 16);
  CHECK(rows.size[1] == 32);
  CHECK(kernel({8, 16, 32}, {8, 16, 1}).kernel == "rows sum fp32");
  CHECK(kernel({8, 16, 32}, {8}).size[1] == 16 * 32);
  CHECK(kernel({8, 16, 32}, {8, 32}).kernel == "elementwise sum fp32");
  CHECK(kernel({8, 16, 32}, {}).kernel == "elementwise sum fp32");
}

TEST_CASE("the gradient of a bag of embeddings is that of an embedding of its indices") {
  const CapturedTensor table{CapturedType::fp32, CapturedLayout::contiguous, {1000, 64}};
  const CapturedTensor indices{CapturedType::int64, CapturedLayout::contiguous, {400}};
  const CapturedTensor bags{CapturedType::fp32, CapturedLayout::contiguous, {100, 64}};
  const auto forward = kernels_of(operation_of("_embedding_bag", {table, indices}, {bags}), 1, 90).kernels;
  const auto backward =
      kernels_of(operation_of("_embedding_bag_backward", {bags, indices}, {table}), 1, 90).kernels;
  REQUIRE(forward.size() == 1);
  REQUIRE(backward.size() == 1);
  CHECK(forward.front().kernel == "embedding");
  CHECK(forward.front().size[0] == (400 + 100) / 2.0);
  CHECK(backward.front().kernel == "embedding_backward");
  CHECK(backward.front().size[0] == 400);
}
