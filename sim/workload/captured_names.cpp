// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/captured_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gradway {
namespace {

/// A kernel that has the name of an operation, where it reads and writes tensors of the same size.
struct SameName {
  std::string_view operation;
  std::string_view kernel;
};
constexpr std::array kernels_by_element{
    SameName{"gelu", "gelu"},
    SameName{"gelu_backward", "gelu_backward"},
    SameName{"silu", "silu"},
    SameName{"silu_", "silu"},
    SameName{"hardswish_", "hardswish"},
    SameName{"silu_backward", "silu_backward"},
    SameName{"tanh", "tanh"},
    SameName{"tanh_backward", "tanh_backward"},
    SameName{"hardswish", "hardswish"},
    SameName{"hardswish_backward", "hardswish_backward"},
    SameName{"relu_", "relu_"},
    SameName{"threshold_backward", "threshold_backward"},
    SameName{"native_dropout", "dropout"},
    SameName{"native_dropout_backward", "dropout_backward"},
};
constexpr std::array kernels_by_row{
    SameName{"native_layer_norm", "layer_norm"},
    SameName{"native_layer_norm_backward", "layer_norm_backward"},
    SameName{"_fused_rms_norm", "rms_norm"},
    SameName{"_fused_rms_norm_backward", "rms_norm_backward"},
    SameName{"_softmax", "softmax"},
    SameName{"_safe_softmax", "softmax"},
    SameName{"_softmax_backward_data", "softmax_backward"},
    SameName{"_log_softmax", "log_softmax"},
    SameName{"_log_softmax_backward_data", "log_softmax_backward"},
};
/// One kernel that reads its inputs and writes its results.
constexpr std::array<std::string_view, 140> plain_operations{"_adaptive_avg_pool2d",
                                                             "_adaptive_avg_pool2d_backward",
                                                             "_to_copy",
                                                             "abs",
                                                             "acos",
                                                             "add",
                                                             "add_",
                                                             "addcdiv",
                                                             "addcdiv_",
                                                             "addcmul",
                                                             "addcmul_",
                                                             "arange",
                                                             "asin",
                                                             "atan",
                                                             "avg_pool2d",
                                                             "avg_pool2d_backward",
                                                             "bitwise_and",
                                                             "bitwise_not",
                                                             "bitwise_or",
                                                             "bitwise_xor",
                                                             "bucketize",
                                                             "ceil",
                                                             "channel_shuffle",
                                                             "clamp",
                                                             "clamp_",
                                                             "clamp_max",
                                                             "clamp_max_",
                                                             "clamp_min",
                                                             "clamp_min_",
                                                             "clone",
                                                             "copy_",
                                                             "cos",
                                                             "cumprod",
                                                             "cumsum",
                                                             "cumsum_",
                                                             "div",
                                                             "div_",
                                                             "elu",
                                                             "elu_backward",
                                                             "eq",
                                                             "erf",
                                                             "exp",
                                                             "exp_",
                                                             "expm1",
                                                             "eye",
                                                             "fill",
                                                             "fill_",
                                                             "flip",
                                                             "floor",
                                                             "floor_divide",
                                                             "full",
                                                             "full_like",
                                                             "gather",
                                                             "ge",
                                                             "gt",
                                                             "hardsigmoid",
                                                             "hardsigmoid_backward",
                                                             "hardtanh",
                                                             "hardtanh_backward",
                                                             "histc",
                                                             "index",
                                                             "index_copy",
                                                             "index_select",
                                                             "isinf",
                                                             "isnan",
                                                             "isneginf",
                                                             "le",
                                                             "leaky_relu",
                                                             "leaky_relu_backward",
                                                             "lerp",
                                                             "lerp_",
                                                             "lgamma",
                                                             "linspace",
                                                             "log",
                                                             "log1p",
                                                             "log2",
                                                             "log_",
                                                             "log_sigmoid_backward",
                                                             "log_sigmoid_forward",
                                                             "logical_and",
                                                             "logical_not",
                                                             "logical_or",
                                                             "logsumexp",
                                                             "lt",
                                                             "masked_fill",
                                                             "masked_fill_",
                                                             "max_pool2d_with_indices",
                                                             "max_pool2d_with_indices_backward",
                                                             "maximum",
                                                             "minimum",
                                                             "mse_loss",
                                                             "mse_loss_backward",
                                                             "mul",
                                                             "mul_",
                                                             "nan_to_num",
                                                             "ne",
                                                             "neg",
                                                             "new_full",
                                                             "new_ones",
                                                             "new_zeros",
                                                             "nll_loss2d_backward",
                                                             "nll_loss2d_forward",
                                                             "ones",
                                                             "ones_like",
                                                             "pixel_shuffle",
                                                             "pow",
                                                             "pow_",
                                                             "reciprocal",
                                                             "reflection_pad2d",
                                                             "relu",
                                                             "remainder",
                                                             "repeat",
                                                             "roll",
                                                             "round",
                                                             "rsqrt",
                                                             "rsqrt_",
                                                             "rsub",
                                                             "scalar_tensor",
                                                             "sigmoid",
                                                             "sigmoid_backward",
                                                             "sign",
                                                             "sin",
                                                             "softplus",
                                                             "softplus_backward",
                                                             "special_erf",
                                                             "sqrt",
                                                             "sqrt_",
                                                             "stack",
                                                             "sub",
                                                             "sub_",
                                                             "tril",
                                                             "triu",
                                                             "trunc",
                                                             "upsample_bicubic2d",
                                                             "upsample_bilinear2d",
                                                             "upsample_nearest1d",
                                                             "upsample_nearest2d",
                                                             "upsample_nearest2d_backward",
                                                             "where",
                                                             "zero_"};
constexpr std::array<std::string_view, 12> reductions{"sum",      "mean", "amax",   "amin",
                                                      "any",      "all",  "norm",   "linalg_vector_norm",
                                                      "var_mean", "var",  "argmax", "std"};
constexpr std::array<std::string_view, 8> random_operations{
    "bernoulli", "bernoulli_", "rand", "randn", "uniform_", "normal_", "randn_like", "rand_like"};
constexpr std::array<std::string_view, 5> zero_operations{"zeros", "zeros_like", "zero_", "new_zeros",
                                                          "fill_"};

template <std::size_t size>
bool is_among(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

template <std::size_t size>
std::string_view kernel_among(const std::array<SameName, size>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name, &SameName::operation);
  return found == names.end() ? std::string_view{} : found->kernel;
}

}  // namespace

std::string_view kernel_by_element(std::string_view operation) {
  return kernel_among(kernels_by_element, operation);
}

std::string_view kernel_by_row(std::string_view operation) {
  return kernel_among(kernels_by_row, operation);
}

bool is_plain_operation(std::string_view operation) {
  return is_among(plain_operations, operation);
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
