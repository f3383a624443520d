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

/// The implementation of scaled dot-product attention.
enum class AttentionKernel : std::uint8_t { automatic, cudnn, flash, flash1, efficient, math, composed };
inline constexpr std::array<std::string_view, 7> attention_kernel_words{
    "auto", "cudnn", "flash", "flash1", "efficient", "math", "composed"};
constexpr std::string_view name_of(AttentionKernel kernel) {
  return attention_kernel_words[static_cast<std::size_t>(kernel)];
}

/// Whose program runs a model's layers: one that uses PyTorch's fused kernels, as torchtitan does, or the
/// models of Hugging Face's transformers. `automatic`: as the model's file says, else fused.
enum class Implementation : std::uint8_t { automatic, fused, hugging_face };
inline constexpr std::array<std::string_view, 3> implementation_words{"auto", "fused", "huggingface"};
constexpr std::string_view name_of(Implementation implementation) {
  return implementation_words[static_cast<std::size_t>(implementation)];
}
constexpr bool is_hugging_face(Implementation of_job, Implementation of_model) {
  return (of_job == Implementation::automatic ? of_model : of_job) == Implementation::hugging_face;
}

/// Which of Megatron-Core's fused kernels run: `activation` for the bias, activation and gate of an MLP,
/// `rope` for rotary positions.
enum class Fusions : std::uint8_t { all, activation, rope, none };
inline constexpr std::array<std::string_view, 4> fusions_words{"all", "activation", "rope", "none"};
constexpr std::string_view name_of(Fusions fusions) {
  return fusions_words[static_cast<std::size_t>(fusions)];
}
constexpr bool fuses_activation(Fusions fusions) {
  return fusions == Fusions::all || fusions == Fusions::activation;
}
constexpr bool fuses_rope(Fusions fusions) {
  return fusions == Fusions::all || fusions == Fusions::rope;
}

/// Number formats on the GPU.
enum class Number : std::uint8_t { fp32, bf16, fp16, fp8, nvfp4 };
inline constexpr std::array<std::string_view, 5> number_words{"fp32", "bf16", "fp16", "fp8", "nvfp4"};
/// Formats that parameters, gradients and messages can have.
inline constexpr std::array<std::string_view, 3> dtype_words{"fp32", "bf16", "fp16"};
inline constexpr double fp32_bytes = 4;
/// 4 bits, and a scale of 8 bits for each 16 numbers.
inline constexpr double nvfp4_bytes = (4 + 8 / 16.0) / 8;
constexpr double bytes_of(Number number) {
  if (number == Number::fp8) return 1;
  if (number == Number::nvfp4) return nvfp4_bytes;
  return number == Number::fp32 ? fp32_bytes : 2;
}
constexpr std::string_view name_of(Number number) {
  return number_words[static_cast<std::size_t>(number)];
}

/// Classes of kernels in reports and in prediction intervals.
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

/// Families of kernels. Their name is the first word of `Operation::kernel`.
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

/// The layout of both factors of a product: n for normal, t for transposed.
enum class ProductLayout : std::uint8_t { nt, nn, tn };
inline constexpr std::array<std::string_view, 3> product_layout_words{"nt", "nn", "tn"};
constexpr std::string_view name_of(ProductLayout layout) {
  return product_layout_words[static_cast<std::size_t>(layout)];
}

/// Largest number of dimensions of a kernel's size.
inline constexpr std::size_t most_sizes = 8;

/// An operation of PyTorch: one kernel, or a few kernels that belong together.
///
/// `kernel` is its name in samples and calibrations (sim/cost/kernel_times.hpp lists which are timed), and
/// `size` has its dimensions:
/// - product NUMBER LAYOUT: m, n, k. Products of fp8 and nvfp4 write bf16: nt accumulates in fp32, nt_fast in
///   the tensor cores (fast accumulation), nt_rows as nt_fast with row-wise scales, nt_blocks with scales per
///   block of 128, nt_mx per 32 numbers. LAYOUT_add adds the result to an fp32 buffer
/// - batched_product NUMBER LAYOUT: batch, m, n, k
/// - grouped_product NUMBER LAYOUT: m, n, k, groups. The tokens (m, or k in tn) are split into groups, each
/// of
///   which has its own weight
/// - attention_forward|_backward NUMBER KERNEL causal|full: batch, heads, sequence, head size, heads of keys
///   (0: as many as heads), elements of a head of values (0: head size)
/// - convolution|_input|_weight NUMBER nchw|nhwc: n, c, o, kernel, stride, padding, side of the input, groups
/// - batch_norm|_backward, max_pool|_backward NUMBER nchw|nhwc: n, c, side
/// - elementwise WHAT NUMBER: elements; complex_mul: also elements of the factors (0: as many)
/// - rows WHAT NUMBER: rows, width
/// - embedding|_backward: rows, vocabulary, width
/// - optimizer WHAT: elements, tensors
///
/// NUMBER is the format of the operands. All other members follow from name and size.
struct Operation {
  std::string kernel;
  KernelFamily family = KernelFamily::elementwise;
  ProductLayout layout = ProductLayout::nt;                ///< products only
  bool adds = false;                                       ///< products only: added to an fp32 buffer
  AttentionKernel attention = AttentionKernel::automatic;  ///< attention only
  std::string_view what{};  ///< elementwise and row kernels only: one of the names below
  std::array<double, most_sizes> size{};
  OperationClass kind = OperationClass::elementwise;
  Precision precision = Precision::fp32;  ///< of the operands
  Flops flops{};                          ///< of products, convolutions and attention
  Bytes bytes{};                          ///< operands read and results written, each once
  bool of_parameters = false;             ///< computes a parameter's gradient, which no other layer needs
  bool host_waits = false;                ///< the CPU waits for its result
  int calls = 1;                          ///< launches of which it consists, such as one for each expert
  double host = 1;                        ///< CPU time of its launch over that of the mean eager operation
  double slowdown = 1;                    ///< attention only: by dropout or by a mask in memory
};

/// @return nothing if there is no such kernel
std::optional<Operation> find_operation(std::string kernel, const std::array<double, most_sizes>& size);
/// @pre the kernel exists
Operation operation(std::string kernel, const std::array<double, most_sizes>& size);

/// Additional bytes that a product moves if its result is added to an fp32 buffer.
Bytes bytes_of_adding(const Operation& operation);

/// Names of elementwise kernels and of row kernels. A name that ends in _ works in place.
std::span<const std::string_view> elementwise_kernels();
std::span<const std::string_view> row_kernels();

/// A collective between operations of a layer, over the ranks that share the layer, its tokens or its
/// experts.
struct Exchange {
  static constexpr std::size_t next_layer = static_cast<std::size_t>(-1);

  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes{};          ///< as in `Call`
  std::size_t at = 0;     ///< number of the operation before which it is issued
  std::size_t until = 0;  ///< number of the operation that waits for it, or `next_layer`
  RankGroup over = RankGroup::tensor;
  bool host_waits = false;  ///< the CPU waits for its result
};

/// The operations and exchanges of a layer in each direction.
struct LayerOperations {
  std::vector<Operation> forward;
  std::vector<Operation> backward;
  std::vector<Operation> once{};              ///< before the forward pass of a step's first micro-batch
  std::vector<Exchange> forward_exchanges{};  ///< in order of issue
  std::vector<Exchange> backward_exchanges{};
  /// Operations of the forward pass that are recomputed before the backward pass of a checkpointed block.
  std::vector<Operation> recomputed{};
  std::vector<Exchange> recomputed_exchanges{};
  Bytes output{};  ///< the input of the next layer
};

/// The words of a kernel's name. Known kernels have at most four.
using KernelWords = boost::container::static_vector<std::string_view, 5>;
/// Splits a kernel's name. The last element has all remaining words.
KernelWords kernel_words(std::string_view kernel);

}  // namespace gradway
