// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/captured/captured_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gradway {
namespace {

/// Timed kernel of an operation.
struct OperationKernel {
  std::string_view operation;
  std::string_view kernel;
};
constexpr std::array kernels_by_element{
    OperationKernel{"gelu", "gelu"},
    OperationKernel{"gelu_backward", "gelu_backward"},
    OperationKernel{"silu", "silu"},
    OperationKernel{"silu_", "silu"},
    OperationKernel{"hardswish_", "hardswish"},
    OperationKernel{"silu_backward", "silu_backward"},
    OperationKernel{"tanh", "tanh"},
    OperationKernel{"tanh_backward", "tanh_backward"},
    OperationKernel{"hardswish", "hardswish"},
    OperationKernel{"hardswish_backward", "hardswish_backward"},
    OperationKernel{"relu_", "relu_"},
    OperationKernel{"threshold_backward", "threshold_backward"},
    OperationKernel{"native_dropout", "dropout"},
    OperationKernel{"native_dropout_backward", "dropout_backward"},
};
constexpr std::array kernels_by_row{
    OperationKernel{"native_layer_norm", "layer_norm"},
    OperationKernel{"native_layer_norm_backward", "layer_norm_backward"},
    OperationKernel{"_fused_rms_norm", "rms_norm"},
    OperationKernel{"_fused_rms_norm_backward", "rms_norm_backward"},
    OperationKernel{"_softmax", "softmax"},
    OperationKernel{"_safe_softmax", "softmax"},
    OperationKernel{"_softmax_backward_data", "softmax_backward"},
    OperationKernel{"_log_softmax", "log_softmax"},
    OperationKernel{"_log_softmax_backward_data", "log_softmax_backward"},
};
/// Single kernels that read their inputs and write their outputs once.
constexpr std::string_view plain_operations = R"(
_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _to_copy abs acos add add_ addcdiv addcdiv_ addcmul
addcmul_ arange asin atan avg_pool2d avg_pool2d_backward bitwise_and bitwise_not bitwise_or bitwise_xor
bucketize ceil channel_shuffle clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clone copy_ cos
cumprod cumsum cumsum_ div div_ elu elu_backward eq erf exp exp_ expm1 eye fill fill_ flip floor
floor_divide full full_like gather ge gt hardsigmoid hardsigmoid_backward hardtanh hardtanh_backward histc
index index_copy index_select isinf isnan isneginf le leaky_relu leaky_relu_backward lerp lerp_ lgamma
linspace log log1p log2 log_ log_sigmoid_backward log_sigmoid_forward logical_and logical_not logical_or
logsumexp lt masked_fill masked_fill_ max_pool2d_with_indices max_pool2d_with_indices_backward maximum
minimum mse_loss mse_loss_backward mul mul_ nan_to_num ne neg new_full new_ones new_zeros
nll_loss2d_backward nll_loss2d_forward ones ones_like pixel_shuffle pow pow_ reciprocal reflection_pad2d
relu remainder repeat roll round rsqrt rsqrt_ rsub scalar_tensor sigmoid sigmoid_backward sgn sign sin
softplus softplus_backward special_erf sqrt sqrt_ stack sub sub_ tril triu trunc upsample_bicubic2d
upsample_bilinear2d upsample_nearest1d upsample_nearest2d upsample_nearest2d_backward where zero_
)";
constexpr std::array<std::string_view, 12> reductions{"sum",      "mean", "amax",   "amin",
                                                      "any",      "all",  "norm",   "linalg_vector_norm",
                                                      "var_mean", "var",  "argmax", "std"};
constexpr std::array<std::string_view, 11> random_operations{
    "bernoulli", "bernoulli_", "rand",      "randn",   "uniform_",    "normal_",
    "random_",   "randn_like", "rand_like", "randint", "randint_like"};
constexpr std::array<std::string_view, 5> zero_operations{"zeros", "zeros_like", "zero_", "new_zeros",
                                                          "fill_"};

template <std::size_t size>
bool is_among(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// @pre the words begin and end with a line break
bool is_word_of(std::string_view words, std::string_view word) {
  const auto is_space = [&](std::size_t index) { return words[index] == ' ' || words[index] == '\n'; };
  for (auto begin = words.find(word); begin != std::string_view::npos; begin = words.find(word, begin + 1))
    if (is_space(begin - 1) && is_space(begin + word.size())) return !word.empty();
  return false;
}

template <std::size_t size>
std::string_view kernel_among(const std::array<OperationKernel, size>& names, std::string_view name) {
  const auto entry = std::ranges::find(names, name, &OperationKernel::operation);
  return entry == names.end() ? std::string_view{} : entry->kernel;
}

}  // namespace

std::string_view kernel_by_element(std::string_view operation) {
  return kernel_among(kernels_by_element, operation);
}

std::string_view kernel_by_row(std::string_view operation) {
  return kernel_among(kernels_by_row, operation);
}

bool is_plain_operation(std::string_view operation) {
  return is_word_of(plain_operations, operation);
}

bool is_scattered(std::string_view operation) {
  constexpr std::array<std::string_view, 9> names{"index_put", "index_put_",  "_index_put_impl_",
                                                  "index_add", "index_add_",  "scatter",
                                                  "scatter_",  "scatter_add", "scatter_add_"};
  return std::ranges::find(names, operation) != names.end();
}

bool is_padded(std::string_view operation) {
  constexpr std::array<std::string_view, 5> names{"slice_backward", "select_backward", "constant_pad_nd",
                                                  "slice_scatter", "select_scatter"};
  return std::ranges::find(names, operation) != names.end();
}

bool is_product(std::string_view operation) {
  constexpr std::array<std::string_view, 6> products{"mm",      "addmm",       "bmm",
                                                     "baddbmm", "_grouped_mm", "_scaled_mm"};
  return std::ranges::find(products, operation) != products.end();
}

bool is_reduction(std::string_view operation) {
  return is_among(reductions, operation);
}

bool is_random(std::string_view operation) {
  return is_among(random_operations, operation);
}

bool is_zeroing(std::string_view operation) {
  return is_among(zero_operations, operation);
}

}  // namespace gradway
