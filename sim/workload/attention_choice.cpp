// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/attention_choice.hpp"

#include <fmt/format.h>

namespace gradway {
namespace {

constexpr int ampere = 80;
constexpr int hopper = 90;
constexpr int after_datacenter_blackwell = 110;
constexpr std::int64_t largest_fused_head = 256;
constexpr std::int64_t largest_head_of_flash1 = 128;

bool is_16_bit(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16;
}

std::string limitation_of_fused(AttentionKernel kernel, const AttentionCase& attention) {
  if (kernel == AttentionKernel::cudnn && attention.is_amd) return "needs a GPU of NVIDIA";
  if (!is_16_bit(attention.precision)) return "supports bf16 and fp16 only";
  if (attention.compute_capability < ampere) return "needs a GPU of compute capability 8.0 or higher";
  if (attention.head.size > largest_fused_head)
    return fmt::format("supports heads of up to {} elements, not {}", largest_fused_head,
                       attention.head.size);
  if (kernel == AttentionKernel::cudnn && attention.head.size % 8 != 0)
    return fmt::format("needs heads of a multiple of 8 elements, not {}", attention.head.size);
  if (kernel == AttentionKernel::flash1 && attention.head.size > largest_head_of_flash1)
    return fmt::format("supports heads of up to {} elements, not {}", largest_head_of_flash1,
                       attention.head.size);
  if (kernel != AttentionKernel::cudnn && attention.head.values != attention.head.size)
    return fmt::format("needs values of as many elements as keys ({}), not {}", attention.head.size,
                       attention.head.values);
  return "";
}

/// `minimum_gemm_alignment` in sdp_utils.cpp.
std::int64_t alignment(const AttentionCase& attention) {
  if (is_16_bit(attention.precision)) return 8;
  return attention.compute_capability >= ampere ? 4 : 1;
}

std::string limitation_of_efficient(const AttentionCase& attention) {
  if (attention.precision == Precision::bf16 && attention.compute_capability < ampere)
    return "supports bf16 only on GPUs of compute capability 8.0 or higher";
  if (attention.head.size % alignment(attention) != 0)
    return fmt::format("needs heads of a multiple of {} elements in this precision, not {}",
                       alignment(attention), attention.head.size);
  return "";
}

}  // namespace

std::string attention_limitation(AttentionKernel kernel, const AttentionCase& attention) {
  const bool adds_biases = kernel == AttentionKernel::math || kernel == AttentionKernel::composed ||
                           kernel == AttentionKernel::automatic;
  if (attention.head.is_biased && !adds_biases)
    return "does not support a trained bias of the scores, which T5 has";
  switch (kernel) {
    case AttentionKernel::cudnn:
    case AttentionKernel::flash:
    case AttentionKernel::flash1:
      return limitation_of_fused(kernel, attention);
    case AttentionKernel::efficient:
      return limitation_of_efficient(attention);
    case AttentionKernel::automatic:
    case AttentionKernel::math:
    case AttentionKernel::composed:
      break;
  }
  return "";
}

AttentionKernel automatic_attention(const AttentionCase& attention) {
  const bool prefers_cudnn =
      attention.compute_capability >= hopper && attention.compute_capability < after_datacenter_blackwell;
  for (const auto kernel : {AttentionKernel::cudnn, AttentionKernel::flash, AttentionKernel::efficient}) {
    if (kernel == AttentionKernel::cudnn && !prefers_cudnn) continue;
    if (attention_limitation(kernel, attention).empty()) return kernel;
  }
  return AttentionKernel::math;
}

}  // namespace gradway
