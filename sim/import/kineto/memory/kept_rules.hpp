// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// Operations of PyTorch by what autograd keeps of them (@source tools/autograd/derivatives.yaml of
/// PyTorch 2.11).
namespace gradway::kept_rules {

inline constexpr int bytes_of_fp32 = 4;
inline constexpr int bytes_of_index = 8;

/// What autograd keeps of operations that take tensors and give one, of their size after broadcasting.
/// `others`: each operand whose partner needs a gradient, as of a product. `divisor`: the second operand, and
/// the first if the second needs a gradient. `mask`: the operand of truth values.
enum class Keeps { nothing, input, result, inputs, others, divisor, mask };
struct Rule {
  std::string_view operation;  ///< behind "aten::"
  Keeps keeps;
  bool in_place = false;
};
inline constexpr std::array rules{
    Rule{"add", Keeps::nothing},
    Rule{"sub", Keeps::nothing},
    Rule{"rsub", Keeps::nothing},
    Rule{"neg", Keeps::nothing},
    Rule{"clone", Keeps::nothing},
    Rule{"flip", Keeps::nothing},
    Rule{"roll", Keeps::nothing},
    Rule{"tril", Keeps::nothing},
    Rule{"triu", Keeps::nothing},
    Rule{"cumsum", Keeps::nothing},
    Rule{"masked_fill", Keeps::mask},
    Rule{"where", Keeps::mask},
    Rule{"add_", Keeps::nothing, true},
    Rule{"sub_", Keeps::nothing, true},
    Rule{"mul_", Keeps::nothing, true},
    Rule{"div_", Keeps::nothing, true},
    Rule{"copy_", Keeps::nothing, true},
    Rule{"fill_", Keeps::nothing, true},
    Rule{"zero_", Keeps::nothing, true},
    Rule{"clamp_", Keeps::nothing, true},
    Rule{"masked_fill_", Keeps::mask, true},
    Rule{"gelu", Keeps::input},
    Rule{"silu", Keeps::input},
    Rule{"hardswish", Keeps::input},
    Rule{"hardsigmoid", Keeps::input},
    Rule{"leaky_relu", Keeps::input},
    Rule{"elu", Keeps::input},
    Rule{"celu", Keeps::input},
    Rule{"softplus", Keeps::input},
    Rule{"log_sigmoid_forward", Keeps::input},
    Rule{"mish", Keeps::input},
    Rule{"clamp", Keeps::input},
    Rule{"clamp_min", Keeps::input},
    Rule{"clamp_max", Keeps::input},
    Rule{"hardtanh", Keeps::input},
    Rule{"abs", Keeps::input},
    Rule{"log", Keeps::input},
    Rule{"log1p", Keeps::input},
    Rule{"erf", Keeps::input},
    Rule{"pow", Keeps::input},
    Rule{"cos", Keeps::input},
    Rule{"sin", Keeps::input},
    Rule{"relu", Keeps::result},
    Rule{"sigmoid", Keeps::result},
    Rule{"tanh", Keeps::result},
    Rule{"exp", Keeps::result},
    Rule{"sqrt", Keeps::result},
    Rule{"rsqrt", Keeps::result},
    Rule{"reciprocal", Keeps::result},
    Rule{"relu_", Keeps::result, true},
    Rule{"sigmoid_", Keeps::result, true},
    Rule{"tanh_", Keeps::result, true},
    Rule{"leaky_relu_", Keeps::result, true},
    Rule{"hardtanh_", Keeps::result, true},
    Rule{"hardswish_", Keeps::input},  // a copy of it: what it changes is as if it were new
    Rule{"silu_", Keeps::input},
    Rule{"mul", Keeps::others},
    Rule{"div", Keeps::divisor},
    Rule{"minimum", Keeps::inputs},
    Rule{"maximum", Keeps::inputs},
    Rule{"atan2", Keeps::inputs},
};

/// Normalisations keep their input and some fp32 numbers a row or a channel.
inline constexpr std::array<std::string_view, 6> norms{"native_layer_norm", "_fused_rms_norm",
                                                       "native_group_norm", "native_batch_norm",
                                                       "cudnn_batch_norm",  "_batch_norm_with_update"};
/// Losses keep both operands and give a number.
inline constexpr std::array<std::string_view, 8> losses{
    "nll_loss_forward",     "nll_loss2d_forward", "mse_loss",   "binary_cross_entropy_with_logits",
    "binary_cross_entropy", "smooth_l1_loss",     "huber_loss", "l1_loss"};
/// Along one dimension; the result is kept, in fp32 if they say so.
inline constexpr std::array<std::string_view, 3> softmaxes{"_softmax", "_safe_softmax", "_log_softmax"};
/// Over some dimensions; of the first two autograd keeps sizes alone, of the others the input too.
inline constexpr std::array<std::string_view, 10> reductions{
    "mean", "sum", "amax", "amin", "var", "std", "var_mean", "std_mean", "logsumexp", "linalg_vector_norm"};
constexpr std::size_t reductions_that_keep_nothing = 2;
/// Put numbers where indices say, and keep the indices.
inline constexpr std::array<std::string_view, 8> placements{"index_add",   "index_add_",  "index_put_",
                                                            "index_copy_", "scatter",     "scatter_",
                                                            "scatter_add", "scatter_add_"};
/// Another shape of the same numbers; the second argument is that shape.
inline constexpr std::array<std::string_view, 4> views{"view", "_unsafe_view", "_reshape_alias",
                                                       "as_strided"};
/// Make a tensor of the shape that is their first argument.
inline constexpr std::array<std::string_view, 7> creations{"empty", "zeros", "ones",         "full",
                                                           "rand",  "randn", "empty_strided"};
/// Give truth values.
inline constexpr std::array<std::string_view, 11> comparisons{
    "eq", "ne", "lt", "gt", "le", "ge", "bitwise_not", "bitwise_and", "logical_not", "isneginf", "isinf"};
/// Give no tensor that counts, and keep none.
inline constexpr std::array<std::string_view, 20> harmless{
    "arange",  "ones_like",  "zeros_like", "rand_like", "full_like",   "empty_like",   "argmax",
    "all",     "any",        "item",       "detach",    "alias",       "lift_fresh",   "_local_scalar_dense",
    "resize_", "is_nonzero", "uniform_",   "normal_",   "result_type", "scalar_tensor"};
/// Stand in a backward pass only where a forward pass runs again.
inline constexpr std::array<std::string_view, 6> of_forward_passes{
    "aten::linear",   "aten::conv2d", "aten::layer_norm",
    "aten::rms_norm", "aten::gelu",   "aten::scaled_dot_product_attention"};

template <std::size_t size>
bool is_among(std::string_view name, const std::array<std::string_view, size>& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace gradway::kept_rules
