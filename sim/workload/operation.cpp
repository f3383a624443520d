// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/operation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/contract.hpp"

namespace gradway {
namespace {

using Sizes = std::array<double, most_sizes>;

/// Memory traffic of a kernel per element: numbers in the format of its input, and further bytes.
struct Traffic {
  std::string_view what;
  double numbers = 0;
  double bytes = 0;
};

/// Stands for an operation whose time the user gives, in nanoseconds; no kernel is timed by this name.
constexpr std::string_view given_time = "given";

constexpr std::array elementwise{
    Traffic{"copy", 2},
    Traffic{"permute", 2},
    Traffic{"add", 3},
    Traffic{"add_", 3},
    Traffic{"add_mixed", 1, 8},  // 16 bits + fp32 to fp32
    Traffic{"complex_mul", 2},   // without the factors
    Traffic{"mul", 3},
    Traffic{"scale", 2},
    Traffic{"zero", 1},
    Traffic{"sum", 1},
    Traffic{"random", 1},
    Traffic{"count", 2},
    Traffic{"gelu", 2},
    Traffic{"gelu_backward", 3},
    Traffic{"silu", 2},
    Traffic{"silu_backward", 3},
    Traffic{"tanh", 2},
    Traffic{"tanh_backward", 3},
    Traffic{"hardswish", 2},
    Traffic{"hardswish_backward", 3},
    Traffic{"relu_", 2},
    Traffic{"threshold_backward", 3},
    Traffic{"dropout", 2, 1},
    Traffic{"dropout_backward", 2, 1},
    Traffic{"cast_to_16", 1, 2},
    Traffic{"cast_to_32", 1, 4},
    Traffic{"cast_to_8", 1, 1},
    Traffic{"cast_transpose", 1, 2},            // to fp8, also transposed
    Traffic{"cast_nvfp4", 1, 2 * nvfp4_bytes},  // to nvfp4, also transposed
    Traffic{"cast_nvfp4_rows", 1, nvfp4_bytes},
    Traffic{"amax", 1},
    Traffic{"transpose", 2},
    // operands of other layouts: one per row, heads times one per position, heads plus rows, halves of rows
    Traffic{"broadcast", 2},
    // the same over more dimensions than two, for each of which PyTorch divides an element's index
    Traffic{"broadcast_3", 2},
    Traffic{"broadcast_4", 2},
    Traffic{"broadcast_5", 2},
    Traffic{"broadcast_6", 2},
    Traffic{"rotary", 2},
    Traffic{"strided", 3},
    Traffic{"halves", 3},
};

constexpr std::array rows{
    Traffic{"layer_norm", 2},
    Traffic{"layer_norm_backward", 5},  // twice: for the input, and for weight and bias
    Traffic{"rms_norm", 2},
    Traffic{"rms_norm_backward", 5},
    Traffic{"bias_sum", 1},
    Traffic{"sum", 1},  // of each row
    Traffic{"cumsum", 2},
    Traffic{"softmax", 2},
    Traffic{"softmax_backward", 3},
    Traffic{"cat", 2},
    Traffic{"transpose", 2},      // of the matrices formed by 64 rows
    Traffic{"transpose_256", 2},  // by 256 rows, such as an image's channels to its pixels
    Traffic{"strided", 2},
    Traffic{"log_softmax", 2},
    Traffic{"log_softmax_backward", 3},
    Traffic{"nll_loss", 0},
    Traffic{"nll_loss_backward", 1},
    // to fp8 with a scale per row; cast_columns: transposed, with a scale per column, reads twice
    Traffic{"cast_rows", 1, 1},
    Traffic{"cast_columns", 2, 1},
    // with indices of 64 bits; a radix sort passes twice over keys and indices
    Traffic{"sort", 2, 24},
    Traffic{"sort_int64", 0, 48},  // of keys of 64 bits
    Traffic{"topk", 2},
    Traffic{"index", 2},
    Traffic{"index_put", 3},
    Traffic{"index_add", 3},
    Traffic{"scatter_add", 3},
};

bool is_loss(std::string_view kernel) {
  return kernel.starts_with("log_softmax") || kernel.starts_with("nll");
}

double width(Precision number) {
  if (number == Precision::fp8) return 1;
  if (number == Precision::nvfp4) return nvfp4_bytes;
  return number == Precision::bf16 || number == Precision::fp16 ? 2 : 4;
}

std::optional<Precision> number_of(std::string_view word) {
  const auto entry = std::ranges::find(precision_words, word);
  if (entry == precision_words.end()) return std::nullopt;
  return static_cast<Precision>(entry - precision_words.begin());
}

/// Bytes per element: an fp32 buffer is read and written instead of a write of 16 bits.
constexpr double moved_by_adding = 2 * fp32_bytes - 2;

void product(Operation& operation, double batch, double m, double n, double k) {
  operation.kind = OperationClass::product;
  operation.flops = Flops{2 * batch * m * n * k};
  const auto made = width(precision_outside_fp8(operation.precision)) * m * n;
  operation.bytes = Bytes{batch * (width(operation.precision) * (m * k + k * n) + made)};
}

/// Each group has its own weight, or its own weight gradient.
void grouped_product(Operation& operation) {
  const auto [m, n, k, groups, a, b, c, e] = operation.size;
  const bool of_weights = operation.layout == ProductLayout::tn;
  product(operation, 1, m, n, k);
  operation.bytes +=
      Bytes{width(of_weights ? precision_outside_fp8(operation.precision) : operation.precision) *
            (groups - 1) * n * (of_weights ? m : k)};
}

/// Queries and results have `heads` heads, keys and values `kv_heads` (0: as many). Heads of values and
/// results have `values` elements (0: as keys). The backward pass recomputes the scores and computes the
/// gradients of scores, queries, keys and values; it reads queries, keys, values, results and their gradient,
/// and writes three gradients. PyTorch's flash writes gradients of keys and values for all heads, which are
/// summed later (mha_bwd in flash_attn/flash_api.cpp).
/// @source Dao et al., FlashAttention, 2022: the backward pass recomputes the scores
void attention(Operation& operation, bool causal) {
  const bool forward = operation.family == KernelFamily::attention_forward;
  const bool is_flash =
      operation.attention == AttentionKernel::flash || operation.attention == AttentionKernel::flash1;
  const auto [batch, heads, tokens, head, kv_heads, values, a, b] = operation.size;
  const auto elements = batch * heads * tokens * head;
  const auto of_keys = kv_heads > 0 ? elements * kv_heads / heads : elements;
  const auto ratio = values > 0 ? values / head : 1;  // size of a value over that of a key
  operation.kind = OperationClass::attention;
  const auto passes = forward ? 1 + ratio : 3 + 2 * ratio;  // number of products with the scores
  operation.flops = Flops{passes * (causal ? 0.5 : 1) * 2 * tokens * elements};
  const auto of_gradients = is_flash ? elements : of_keys;
  const auto moved =
      forward ? elements + of_keys : 2 * elements + of_keys + of_gradients;  // in the size of keys
  operation.bytes = Bytes{width(operation.precision) * (1 + ratio) * moved};
}

void convolution(Operation& operation) {
  const auto [n, c, o, kernel, stride, pad, side, groups] = operation.size;
  const auto out = std::floor((side + 2 * pad - kernel) / stride) + 1;
  const auto weight = o * c / groups * kernel * kernel;
  operation.kind = OperationClass::convolution;
  operation.flops = Flops{2 * n * out * out * weight};
  operation.bytes = Bytes{width(operation.precision) * (n * c * side * side + n * o * out * out + weight)};
}

template <std::size_t Count>
bool streams(Operation& operation, const std::array<Traffic, Count>& kinds, std::string_view kernel,
             double elements) {
  const auto traffic = std::ranges::find(kinds, kernel, &Traffic::what);
  if (traffic == kinds.end()) return false;
  operation.what = traffic->what;
  operation.bytes = Bytes{elements * (traffic->numbers * width(operation.precision) + traffic->bytes)};
  return true;
}

/// Names in the order of the enum.
constexpr std::array<std::string_view, 17> families{"product",
                                                    "batched_product",
                                                    "grouped_product",
                                                    "attention_forward",
                                                    "attention_backward",
                                                    "convolution",
                                                    "convolution_input",
                                                    "convolution_weight",
                                                    "batch_norm",
                                                    "batch_norm_backward",
                                                    "max_pool",
                                                    "max_pool_backward",
                                                    "elementwise",
                                                    "rows",
                                                    "embedding",
                                                    "embedding_backward",
                                                    "optimizer"};

std::optional<KernelFamily> family_of(std::string_view word) {
  const auto entry = std::ranges::find(families, word);
  if (entry == families.end()) return std::nullopt;
  return static_cast<KernelFamily>(entry - families.begin());
}

ProductLayout layout_of(std::string_view word) {
  if (word.starts_with("nn")) return ProductLayout::nn;
  return word.starts_with("tn") ? ProductLayout::tn : ProductLayout::nt;
}

AttentionKernel attention_of(std::string_view word) {
  const auto entry = std::ranges::find(attention_kernel_words, word);
  return entry == attention_kernel_words.end()
             ? AttentionKernel::automatic
             : static_cast<AttentionKernel>(entry - attention_kernel_words.begin());
}

template <std::size_t count>
constexpr std::array<std::string_view, count> names_of(const std::array<Traffic, count>& kernels) {
  std::array<std::string_view, count> names{};
  for (std::size_t i = 0; i < count; ++i) names[i] = kernels[i].what;
  return names;
}
constexpr auto elementwise_names = names_of(elementwise);
constexpr auto row_names = names_of(rows);

}  // namespace

std::span<const std::string_view> elementwise_kernels() {
  return elementwise_names;
}

std::span<const std::string_view> row_kernels() {
  return row_names;
}

KernelWords kernel_words(std::string_view kernel) {
  KernelWords words;
  while (!kernel.empty()) {
    const bool is_last = words.size() + 1 == words.capacity();
    const auto end = is_last ? kernel.size() : std::min(kernel.find(' '), kernel.size());
    words.push_back(kernel.substr(0, end));
    kernel.remove_prefix(std::min(end + 1, kernel.size()));
  }
  return words;
}

std::optional<Operation> find_operation(std::string kernel, const Sizes& size) {
  using Family = KernelFamily;
  Operation operation;
  operation.size = size;
  const auto words = kernel_words(kernel);
  const auto family = words.empty() ? std::nullopt : family_of(words.front());
  if (!family) return std::nullopt;
  operation.family = *family;
  const bool what_first = operation.family == Family::elementwise || operation.family == Family::rows;
  const auto number =
      words.size() > 1 ? number_of(words[what_first && words.size() > 2 ? 2 : 1]) : std::nullopt;
  if (number) operation.precision = *number;
  const auto how = words.size() > 2 ? words[2] : std::string_view{};
  bool known = number.has_value();
  switch (operation.family) {
    case Family::product:
      operation.layout = layout_of(how);
      operation.adds = how.ends_with("_add");
      product(operation, 1, size[0], size[1], size[2]);
      operation.bytes += bytes_of_adding(operation);
      break;
    case Family::batched_product:
      operation.layout = layout_of(how);
      product(operation, size[0], size[1], size[2], size[3]);
      break;
    case Family::grouped_product:
      known = known && words.size() == 3;
      operation.layout = layout_of(how);
      grouped_product(operation);
      break;
    case Family::attention_forward:
    case Family::attention_backward:
      known = known && words.size() == 4;
      operation.attention = attention_of(how);
      attention(operation, known && words[3] == "causal");
      break;
    case Family::convolution:
    case Family::convolution_input:
    case Family::convolution_weight:
      convolution(operation);
      break;
    case Family::batch_norm:
    case Family::batch_norm_backward: {
      operation.kind = OperationClass::normalization;
      const double passes = operation.family == Family::batch_norm ? 3 : 5;
      operation.bytes = Bytes{passes * size[0] * size[1] * size[2] * size[2] * width(operation.precision)};
      break;
    }
    case Family::max_pool:
    case Family::max_pool_backward:
      operation.bytes =
          Bytes{size[0] * size[1] * size[2] * size[2] * (1.25 * width(operation.precision) + 2)};
      break;
    case Family::elementwise:
      known = known && words.size() == 3 &&
              (streams(operation, elementwise, words[1], size[0]) || words[1] == given_time);
      if (words[1] == given_time) operation.what = given_time;
      if (operation.what == "complex_mul")
        operation.bytes += Bytes{(size[1] > 0 ? size[1] : size[0]) * width(operation.precision)};
      break;
    case Family::rows:
      known = known && words.size() == 3 && streams(operation, rows, words[1], size[0] * size[1]);
      operation.kind = is_loss(operation.what) ? OperationClass::loss : OperationClass::normalization;
      break;
    case Family::embedding:
    case Family::embedding_backward: {
      operation.kind = OperationClass::loss;
      const auto moved =
          2 * size[0] * size[2] + (operation.family == Family::embedding ? 0 : size[1] * size[2]);
      operation.bytes = Bytes{4 * moved};
      known = true;
      break;
    }
    case Family::optimizer:
      operation.bytes = Bytes{4 * size[0]};
      known = words.size() == 2;
      break;
  }
  if (!known) return std::nullopt;
  operation.kernel = std::move(kernel);
  return operation;
}

Bytes bytes_of_adding(const Operation& operation) {
  return Bytes{operation.adds ? moved_by_adding * operation.size[0] * operation.size[1] : 0};
}

Operation operation(std::string kernel, const Sizes& size) {
  auto result = find_operation(std::move(kernel), size);
  expects(result.has_value(), "the kernel must exist");
  return std::move(*result);
}

}  // namespace gradway
