// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// Operations of PyTorch by what autograd keeps for them (@source tools/autograd/derivatives.yaml of
/// PyTorch 2.11).
namespace gradway::kept_rules {

inline constexpr int bytes_of_fp32 = 4;
inline constexpr int bytes_of_index = 8;

/// Tensors that autograd keeps for operations that take tensors and return one tensor of the broadcast size.
/// `others`: each operand whose partner needs a gradient, as in a product. `divisor`: the second operand, and
/// the first if the second needs a gradient. `mask`: the boolean operand.
/// hardswish_ and silu_ keep a copy of their input, so that the changed tensor counts as a new one.
enum class Keeps { nothing, input, result, inputs, others, divisor, mask };
struct Rule {
  std::string_view operations;  ///< Names without "aten::", separated by blanks.
  Keeps keeps;
  bool in_place = false;
};

inline constexpr std::array rules{
    Rule{"add sub rsub neg clone flip roll tril triu cumsum", Keeps::nothing},
    Rule{"masked_fill where", Keeps::mask},
    Rule{"add_ sub_ mul_ div_ copy_ fill_ zero_ clamp_", Keeps::nothing, true},
    Rule{"masked_fill_", Keeps::mask, true},
    Rule{"gelu silu hardswish hardsigmoid leaky_relu elu celu softplus log_sigmoid_forward mish "
         "clamp clamp_min clamp_max hardtanh abs log log1p erf pow cos sin hardswish_ silu_",
         Keeps::input},
    Rule{"relu sigmoid tanh exp sqrt rsqrt reciprocal", Keeps::result},
    Rule{"relu_ sigmoid_ tanh_ leaky_relu_ hardtanh_", Keeps::result, true},
    Rule{"mul", Keeps::others},
    Rule{"div", Keeps::divisor},
    Rule{"minimum maximum atan2", Keeps::inputs}};

/// Normalisations keep their input and some fp32 numbers per row or channel.
inline constexpr std::string_view norms =
    "native_layer_norm _fused_rms_norm native_group_norm native_batch_norm cudnn_batch_norm "
    "_batch_norm_with_update";
/// Losses keep both operands and return a number.
inline constexpr std::string_view losses =
    "nll_loss_forward nll_loss2d_forward mse_loss binary_cross_entropy_with_logits "
    "binary_cross_entropy smooth_l1_loss huber_loss l1_loss";
/// Softmaxes keep their result, in fp32 if an argument says so.
inline constexpr std::string_view softmaxes = "_softmax _safe_softmax _log_softmax";
/// Reductions: autograd keeps only sizes for the former, and also the input for the latter.
inline constexpr std::string_view reductions_that_keep_nothing = "mean sum";
inline constexpr std::string_view reductions_that_keep_input =
    "amax amin var std var_mean std_mean logsumexp linalg_vector_norm";
/// Write numbers at indices, and keep the indices.
inline constexpr std::string_view placements =
    "index_add index_add_ index_put_ index_copy_ scatter scatter_ scatter_add scatter_add_";
/// Views with another shape, which is the second argument.
inline constexpr std::string_view views = "view _unsafe_view _reshape_alias as_strided";
/// Create a tensor whose shape is the first argument.
inline constexpr std::string_view creations = "empty zeros ones full rand randn empty_strided";
/// Return booleans.
inline constexpr std::string_view comparisons =
    "eq ne lt gt le ge bitwise_not bitwise_and logical_not isneginf isinf";
/// Return no tensor of relevant size, and keep none.
inline constexpr std::string_view harmless =
    "arange ones_like zeros_like rand_like full_like empty_like argmax all any item detach alias "
    "lift_fresh _local_scalar_dense resize_ is_nonzero uniform_ normal_ result_type scalar_tensor";
/// Occur in a backward pass only where a forward pass runs again.
inline constexpr std::string_view of_forward_passes =
    "aten::linear aten::conv2d aten::layer_norm aten::rms_norm aten::gelu "
    "aten::scaled_dot_product_attention";

/// @param names separated by blanks
constexpr bool is_among(std::string_view name, std::string_view names) {
  while (!names.empty()) {
    const auto end = names.find(' ');
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
  }
  return false;
}

}  // namespace gradway::kept_rules
