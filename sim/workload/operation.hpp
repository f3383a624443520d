// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "sim/base/units.hpp"
#include "sim/platform/gpu.hpp"
#include "sim/workload/collective_kind.hpp"
#include "sim/workload/rank_groups.hpp"

namespace gradway {

/// Which implementation of scaled dot-product attention runs.
enum class AttentionKernel : std::uint8_t { automatic, cudnn, flash, flash1, efficient, math, composed };
inline constexpr std::array<std::string_view, 7> attention_kernel_words{
    "auto", "cudnn", "flash", "flash1", "efficient", "math", "composed"};
constexpr std::string_view name_of(AttentionKernel kernel) {
  return attention_kernel_words[static_cast<std::size_t>(kernel)];
}

/// Formats of numbers on the GPU.
enum class Number : std::uint8_t { fp32, bf16, fp16, fp8 };
inline constexpr std::array<std::string_view, 4> number_words{"fp32", "bf16", "fp16", "fp8"};
/// Those that parameters, gradients and messages can have.
inline constexpr std::array<std::string_view, 3> dtype_words{"fp32", "bf16", "fp16"};
inline constexpr double fp32_bytes = 4;
constexpr double bytes_of(Number number) {
  if (number == Number::fp8) return 1;
  return number == Number::fp32 ? fp32_bytes : 2;
}
constexpr std::string_view name_of(Number number) {
  return number_words[static_cast<std::size_t>(number)];
}

/// Classes of kernels, as reports and uncertainties tell them apart.
enum class OperationClass : std::uint8_t {
  product,
  attention,
  convolution,
  normalization,
  elementwise,
  loss
};
inline constexpr std::array<std::string_view, 6> operation_class_words{
    "products", "attention", "convolutions", "norms and sums", "elementwise", "loss and embedding"};

/// Kinds of kernels: the first word of `Operation::kernel`.
enum class KernelFamily : std::uint8_t {
  product,
  batched_product,
  grouped_product,
  attention_forward,
  attention_backward,
  convolution,
  convolution_input,
  convolution_weight,
  batch_norm,
  batch_norm_backward,
  max_pool,
  max_pool_backward,
  elementwise,
  rows,
  embedding,
  embedding_backward,
  optimizer
};

/// How the factors of a product are stored, a letter for each: n as it is in memory, t transposed.
enum class ProductLayout : std::uint8_t { nt, nn, tn };
inline constexpr std::array<std::string_view, 3> product_layout_words{"nt", "nn", "tn"};
constexpr std::string_view name_of(ProductLayout layout) {
  return product_layout_words[static_cast<std::size_t>(layout)];
}

/// Most numbers that a kernel's size has.
inline constexpr std::size_t most_sizes = 8;

/// What PyTorch issues for one call of its library: one kernel, or the few that belong to it.
///
/// `kernel` says which, in words: its kind, and what kinds of that kind there are (sim/cost/kernel_times.hpp
/// lists them):
/// - product NUMBER LAYOUT: m, n, k; a letter a factor, n as it lies in memory, t transposed; fp8 makes
///   bf16, and its nt sums in fp32, nt_fast in the tensor cores alone, nt_rows so with a scale for each row;
///   tn_add and nt_add (of fp8) add what they make to a buffer in fp32
/// - batched_product NUMBER LAYOUT: batch, m, n, k
/// - grouped_product NUMBER LAYOUT: m, n, k, groups: the tokens (m; k in tn) are cut into groups, each with
///   a weight of its own
/// - attention_forward|_backward NUMBER HOW causal|full: batch, heads, seq, head size, heads of keys (0:
/// all),
///   elements of a head of values (0: head size)
/// - convolution|_input|_weight NUMBER nchw|nhwc: n, c, o, kernel, stride, pad, side of the input, groups
/// - batch_norm|_backward, max_pool|_backward NUMBER nchw|nhwc: n, c, side
/// - elementwise WHAT NUMBER: elements; complex_mul: elements of the factors (0: as many)
/// - rows WHAT NUMBER: rows, width
/// - embedding|_backward: rows, vocabulary, width
/// - optimizer WHAT: elements, tensors
///
/// NUMBER is that of what is read.
struct Operation {
  std::string kernel;
  KernelFamily family = KernelFamily::elementwise;
  ProductLayout layout = ProductLayout::nt;                ///< of a product
  bool adds = false;                                       ///< a product is added to a buffer in fp32
  AttentionKernel attention = AttentionKernel::automatic;  ///< of attention
  std::string_view what{};  ///< of elementwise kernels and those of rows; one of the names below
  std::array<double, most_sizes> size{};
  OperationClass kind = OperationClass::elementwise;
  Precision precision = Precision::fp32;  ///< of the arithmetic, if it has `flops`
  Flops flops{};                          ///< of products, convolutions and attention
  Bytes bytes{};                          ///< operands read and results written, each once
  bool of_parameters = false;             ///< makes a parameter's gradient, which no other layer needs
  bool host_waits = false;                ///< the CPU reads what comes of it before it goes on
};

/// @return empty if there is no such kernel
std::optional<Operation> find_operation(std::string kernel, const std::array<double, most_sizes>& size);
/// @pre there is such a kernel
Operation operation(std::string kernel, const std::array<double, most_sizes>& size);

/// What a product moves more because its result is added to a buffer in fp32.
Bytes bytes_of_adding(const Operation& operation);

/// Kernels that take element by element, and those that take row by row; a name that ends in _ works in
/// place.
std::span<const std::string_view> elementwise_kernels();
std::span<const std::string_view> row_kernels();

/// What the ranks that share a layer, its tokens or its experts send each other between its operations.
struct Exchange {
  static constexpr std::size_t next_layer = static_cast<std::size_t>(-1);

  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes{};          ///< as `Call` has them
  std::size_t at = 0;     ///< issued before the operation of this number
  std::size_t until = 0;  ///< ... which waits for it, or `next_layer`
  RankGroup over = RankGroup::tensor;
  bool host_waits = false;  ///< for what comes of it: the CPU must know it before it goes on
};

/// What a layer issues in each direction.
struct LayerOperations {
  std::vector<Operation> forward;
  std::vector<Operation> backward;
  std::vector<Operation> once{};              ///< before the forward pass of a step's first micro-batch
  std::vector<Exchange> forward_exchanges{};  ///< in the order of issue
  std::vector<Exchange> backward_exchanges{};
  /// What of the forward pass runs again before the backward pass of a checkpointed block.
  std::vector<Operation> again{};
  std::vector<Exchange> again_exchanges{};
  Bytes output{};  ///< what the layer hands on
};

/// The words of a kernel, one by one; one more than any kernel that is known has.
using KernelWords = boost::container::static_vector<std::string_view, 5>;
/// What is left over belongs to the last one.
KernelWords words_of(std::string_view kernel);

}  // namespace gradway
