// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "sim/platform/gpu.hpp"
#include "sim/workload/operation.hpp"

namespace gradway {

/// Properties of attention that not every kernel supports.
struct AttentionHead {
  std::int64_t size = 64;    ///< elements of a head of queries and keys
  std::int64_t values = 64;  ///< elements of a head of values
  bool is_biased = false;    ///< a trained bias is added to the scores
  auto operator<=>(const AttentionHead&) const = default;
};

/// What PyTorch chooses an attention kernel by.
struct AttentionCase {
  Precision precision = Precision::fp32;  ///< of the job; tf32 tensors are fp32
  int compute_capability = 90;
  AttentionHead head{};
  bool is_amd = false;  ///< ROCm, which has no cuDNN
};

/// Why a kernel does not support a case, as a phrase that follows its name: "supports bf16 and fp16 only".
/// Empty if it does.
/// @source can_use_cudnn_attention, can_use_flash_attention, can_use_mem_efficient_attention in
///         aten/src/ATen/native/transformers/cuda/sdp_utils.cpp of PyTorch (read at 001f694a, 2026)
std::string attention_limitation(AttentionKernel kernel, const AttentionCase& attention);

/// The kernel that PyTorch chooses: the first that supports the case of cuDNN (compute capability 9.x and
/// 10.x only, see `check_prefer_cudnn_attention` there), flash, memory-efficient, math.
AttentionKernel automatic_attention(const AttentionCase& attention);

}  // namespace gradway
