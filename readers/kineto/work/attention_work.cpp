// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/operation_work.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace gradway {
namespace {

/// Position of an operation's queries, keys and values, and of the argument that says whether attention is
/// causal.
struct Attention {
  std::string_view operation;
  std::size_t query;     ///< Operand; the keys and values follow.
  std::size_t sequence;  ///< Dimension of the tokens; heads are dimension 3 - sequence.
  std::size_t causal;    ///< Argument: "True", or a mask type other than 0.
};

// ATen/native/native_functions.yaml of PyTorch 2.11. [batch, heads, tokens, width] or [batch, tokens, heads,
// width].
constexpr std::array attentions{Attention{"aten::_flash_attention_forward", 0, 1, 8},
                                Attention{"aten::_flash_attention_backward", 1, 1, 11},
                                Attention{"aten::_efficient_attention_forward", 0, 1, 9},
                                Attention{"aten::_efficient_attention_backward", 1, 1, 14},
                                Attention{"aten::_cudnn_attention_forward", 0, 2, 10},
                                Attention{"aten::_cudnn_attention_backward", 1, 2, 14},
                                Attention{"aten::_scaled_dot_product_flash_attention", 0, 2, 4},
                                Attention{"aten::_scaled_dot_product_flash_attention_backward", 1, 2, 11},
                                Attention{"aten::_scaled_dot_product_efficient_attention", 0, 2, 6},
                                Attention{"aten::_scaled_dot_product_efficient_attention_backward", 1, 2, 11},
                                Attention{"aten::_scaled_dot_product_cudnn_attention", 0, 2, 6},
                                Attention{"aten::_scaled_dot_product_cudnn_attention_backward", 1, 2, 14}};

constexpr double backward_factor = 2.5;

double dimension(const Operand::Shape& shape, std::size_t index) {
  return static_cast<double>(shape[index]);
}

bool is_causal(const Signature& signature, std::size_t argument) {
  if (argument >= signature.values.size()) return false;
  const auto& value = signature.values[argument];
  return value == "True" || value == "1" || value == "2";
}

}  // namespace

std::optional<OperationWork> attention_work(const Signature& signature) {
  const auto* const kind = std::ranges::find(attentions, signature.name, &Attention::operation);
  if (kind == attentions.end()) return std::nullopt;
  const auto& operands = signature.operands;
  OperationWork work{.kind = KernelClass::attention, .flops = {}, .products = 1, .bytes = {}};
  if (operands.size() < kind->query + 3) return work;
  const auto& queries = operands[kind->query].shapes;
  const auto& keys = operands[kind->query + 1].shapes;
  if (queries.size() != 1 || keys.size() != 1 || queries[0].size() != 4 || keys[0].size() != 4) return work;
  const auto& q = queries[0];
  const auto heads = dimension(q, 3 - kind->sequence);
  const double scores =
      dimension(q, 0) * heads * dimension(q, kind->sequence) * dimension(keys[0], kind->sequence);
  const bool is_backward = kind->query == 1;
  work.flops = Flops{4 * scores * dimension(q, 3) * (is_causal(signature, kind->causal) ? 0.5 : 1) *
                     (is_backward ? backward_factor : 1)};
  // Queries, keys, values and result; backward also the three gradients and that of the result.
  const double tensors = 2 * (elements(signature, kind->query) + elements(signature, kind->query + 1));
  work.bytes = Bytes{element_bytes(operands[kind->query].type) * tensors * (is_backward ? 2 : 1)};
  return work;
}

}  // namespace gradway
