// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "sim/platform/gpu.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// Elements of a head, and what else of attention not every kernel can do.
struct AttentionHead {
  std::int64_t size = 64;  ///< of queries and keys
  std::int64_t values = 64;
  bool is_biased = false;  ///< a trained bias is added to the scores
  auto operator<=>(const AttentionHead&) const = default;
};

/// What PyTorch's choice of an attention kernel goes by.
struct AttentionCase {
  Precision precision = Precision::fp32;  ///< of the job: tf32 tensors are fp32
  int compute_capability = 90;
  AttentionHead head{};
};

/// What the kernel demands and the case does not have, in words that follow its name: "takes bf16 and fp16
/// only"; empty if it runs.
/// @source can_use_cudnn_attention, can_use_flash_attention, can_use_mem_efficient_attention in
///         aten/src/ATen/native/transformers/cuda/sdp_utils.cpp of PyTorch (read at 001f694a, 2026)
std::string why_attention_cannot_run(AttentionKernel kernel, const AttentionCase& it);

/// The one that PyTorch takes by itself: the first that runs of cuDNN's (on compute capability 9.x and 10.x,
/// `check_prefer_cudnn_attention` there), flash, memory-efficient, math.
AttentionKernel automatic_attention(const AttentionCase& it);

}  // namespace gradway
