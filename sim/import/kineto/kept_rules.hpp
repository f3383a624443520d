// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// Operations of PyTorch by what autograd keeps of them.
namespace gradway::kept_rules {

/// What autograd keeps of operations that take tensors and give one of the same size (@source
/// tools/autograd/derivatives.yaml of PyTorch 2.11).
enum class Keeps { nothing, input, result, inputs };
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
    Rule{"masked_fill", Keeps::nothing},
    Rule{"where", Keeps::nothing},
    Rule{"add_", Keeps::nothing, true},
    Rule{"sub_", Keeps::nothing, true},
    Rule{"gelu", Keeps::input},
    Rule{"silu", Keeps::input},
    Rule{"hardswish", Keeps::input},
    Rule{"hardsigmoid", Keeps::input},
    Rule{"leaky_relu", Keeps::input},
    Rule{"elu", Keeps::input},
    Rule{"softplus", Keeps::input},
    Rule{"mish", Keeps::input},
    Rule{"clamp", Keeps::input},
    Rule{"hardtanh", Keeps::input},
    Rule{"abs", Keeps::input},
    Rule{"log", Keeps::input},
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
    Rule{"_softmax", Keeps::result},
    Rule{"relu_", Keeps::result, true},
    Rule{"sigmoid_", Keeps::result, true},
    Rule{"tanh_", Keeps::result, true},
    Rule{"leaky_relu_", Keeps::result, true},
    Rule{"hardtanh_", Keeps::result, true},
    Rule{"hardswish_", Keeps::input},  // a copy of it: what it changes is as if it were new
    Rule{"silu_", Keeps::input},
    Rule{"mul", Keeps::inputs},
    Rule{"div", Keeps::inputs},
};

/// Normalisations keep their input and some fp32 numbers a row or a channel.
inline constexpr std::array<std::string_view, 6> norms{"native_layer_norm", "_fused_rms_norm",
                                                       "native_group_norm", "native_batch_norm",
                                                       "cudnn_batch_norm",  "_batch_norm_with_update"};
/// Losses keep both operands and give a number.
inline constexpr std::array<std::string_view, 8> losses{
    "nll_loss_forward",     "nll_loss2d_forward", "mse_loss",   "binary_cross_entropy_with_logits",
    "binary_cross_entropy", "smooth_l1_loss",     "huber_loss", "l1_loss"};
/// Give no tensor that counts, and keep none.
inline constexpr std::array<std::string_view, 25> harmless{
    "fill_",      "zero_", "arange", "ones",     "zeros",   "ones_like",
    "zeros_like", "full",  "eq",     "ne",       "lt",      "gt",
    "le",         "ge",    "argmax", "item",     "copy_",   "_local_scalar_dense",
    "mul_",       "div_",  "rand",   "uniform_", "normal_", "bitwise_not",
    "logical_not"};
/// Stand in a backward pass only where a forward pass runs again.
inline constexpr std::array<std::string_view, 6> of_forward_passes{
    "aten::linear",   "aten::conv2d", "aten::layer_norm",
    "aten::rms_norm", "aten::gelu",   "aten::scaled_dot_product_attention"};

template <std::size_t size>
bool is_among(std::string_view name, const std::array<std::string_view, size>& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace gradway::kept_rules
