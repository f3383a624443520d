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

std::string limitation_of_fused(AttentionKernel kernel, const AttentionCase& of) {
  if (kernel == AttentionKernel::cudnn && of.is_amd) return "needs a GPU of NVIDIA";
  if (!is_16_bit(of.precision)) return "supports bf16 and fp16 only";
  if (of.compute_capability < ampere) return "needs a GPU of compute capability 8.0 or higher";
  if (of.head.size > largest_fused_head)
    return fmt::format("supports heads of up to {} elements, not {}", largest_fused_head, of.head.size);
  if (kernel == AttentionKernel::cudnn && of.head.size % 8 != 0)
    return fmt::format("needs heads of a multiple of 8 elements, not {}", of.head.size);
  if (kernel == AttentionKernel::flash1 && of.head.size > largest_head_of_flash1)
    return fmt::format("supports heads of up to {} elements, not {}", largest_head_of_flash1, of.head.size);
  if (kernel != AttentionKernel::cudnn && of.head.values != of.head.size)
    return fmt::format("needs values of as many elements as keys ({}), not {}", of.head.size, of.head.values);
  return "";
}

/// `minimum_gemm_alignment` in sdp_utils.cpp.
std::int64_t alignment(const AttentionCase& of) {
  if (is_16_bit(of.precision)) return 8;
  return of.compute_capability >= ampere ? 4 : 1;
}

std::string limitation_of_efficient(const AttentionCase& of) {
  if (of.precision == Precision::bf16 && of.compute_capability < ampere)
    return "supports bf16 only on GPUs of compute capability 8.0 or higher";
  if (of.head.size % alignment(of) != 0)
    return fmt::format("needs heads of a multiple of {} elements in this precision, not {}", alignment(of),
                       of.head.size);
  return "";
}

}  // namespace

std::string attention_limitation(AttentionKernel kernel, const AttentionCase& of) {
  const bool adds_biases = kernel == AttentionKernel::math || kernel == AttentionKernel::composed ||
                           kernel == AttentionKernel::automatic;
  if (of.head.is_biased && !adds_biases) return "does not support a trained bias of the scores, which T5 has";
  switch (kernel) {
    case AttentionKernel::cudnn:
    case AttentionKernel::flash:
    case AttentionKernel::flash1:
      return limitation_of_fused(kernel, of);
    case AttentionKernel::efficient:
      return limitation_of_efficient(of);
    case AttentionKernel::automatic:
    case AttentionKernel::math:
    case AttentionKernel::composed:
      break;
  }
  return "";
}

AttentionKernel automatic_attention(const AttentionCase& of) {
  const bool prefers_cudnn =
      of.compute_capability >= hopper && of.compute_capability < after_datacenter_blackwell;
  for (const auto kernel : {AttentionKernel::cudnn, AttentionKernel::flash, AttentionKernel::efficient}) {
    if (kernel == AttentionKernel::cudnn && !prefers_cudnn) continue;
    if (attention_limitation(kernel, of).empty()) return kernel;
  }
  return AttentionKernel::math;
}

}  // namespace gradway
