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

std::string why_fused_cannot_run(AttentionKernel kernel, const AttentionCase& it) {
  if (!is_16_bit(it.precision)) return "takes bf16 and fp16 only";
  if (it.compute_capability < ampere) return "needs a GPU of compute capability 8.0 or more";
  if (it.head.size > largest_fused_head)
    return fmt::format("takes heads of up to {} elements, not of {}", largest_fused_head, it.head.size);
  if (kernel == AttentionKernel::cudnn && it.head.size % 8 != 0)
    return fmt::format("takes heads of a multiple of 8 elements, not of {}", it.head.size);
  if (kernel == AttentionKernel::flash1 && it.head.size > largest_head_of_flash1)
    return fmt::format("takes heads of up to {} elements, not of {}", largest_head_of_flash1, it.head.size);
  if (kernel != AttentionKernel::cudnn && it.head.values != it.head.size)
    return fmt::format("takes values of {} elements, as keys have, not of {}", it.head.size, it.head.values);
  return "";
}

/// `minimum_gemm_alignment` there.
std::int64_t alignment(const AttentionCase& it) {
  if (is_16_bit(it.precision)) return 8;
  return it.compute_capability >= ampere ? 4 : 1;
}

std::string why_efficient_cannot_run(const AttentionCase& it) {
  if (it.precision == Precision::bf16 && it.compute_capability < ampere)
    return "takes bf16 only on GPUs of compute capability 8.0 or more";
  if (it.head.size % alignment(it) != 0)
    return fmt::format("takes heads of a multiple of {} elements here, not of {}", alignment(it),
                       it.head.size);
  return "";
}

}  // namespace

std::string why_attention_cannot_run(AttentionKernel kernel, const AttentionCase& it) {
  const bool adds_biases = kernel == AttentionKernel::math || kernel == AttentionKernel::composed ||
                           kernel == AttentionKernel::automatic;
  if (it.head.is_biased && !adds_biases) return "is not what T5 runs, which trains a bias of the scores";
  switch (kernel) {
    case AttentionKernel::cudnn:
    case AttentionKernel::flash:
    case AttentionKernel::flash1:
      return why_fused_cannot_run(kernel, it);
    case AttentionKernel::efficient:
      return why_efficient_cannot_run(it);
    case AttentionKernel::automatic:
    case AttentionKernel::math:
    case AttentionKernel::composed:
      break;
  }
  return "";
}

AttentionKernel automatic_attention(const AttentionCase& it) {
  const bool prefers_cudnn =
      it.compute_capability >= hopper && it.compute_capability < after_datacenter_blackwell;
  for (const auto kernel : {AttentionKernel::cudnn, AttentionKernel::flash, AttentionKernel::efficient}) {
    if (kernel == AttentionKernel::cudnn && !prefers_cudnn) continue;
    if (why_attention_cannot_run(kernel, it).empty()) return kernel;
  }
  return AttentionKernel::math;
}

}  // namespace gradway
