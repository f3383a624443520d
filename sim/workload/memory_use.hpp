// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"

namespace gradway {

/// Memory of one GPU at the moment of the step when most of it is in use.
struct MemoryUse {
  // In PyTorch's own count (torch.cuda.max_memory_allocated).
  Bytes parameters{};       ///< all copies that a rank keeps
  Bytes gradients{};        ///< beside DDP's buckets; none of their own where they are views of these
  Bytes optimizer_state{};  ///< with what its step holds for a moment, if that is the peak
  Bytes buckets{};
  Bytes gathered{};     ///< of sharded parameters: whole ones, and what is on its way
  Bytes comm_hook{};    ///< casts in flight; PowerSGD's errors, P and Q
  Bytes activations{};  ///< with 16-bit copies of weights, gradients of activations and temporaries
  Bytes input{};
  Bytes workspace{};  ///< cuBLAS and cuBLASLt
  // What the card must hold beyond that.
  Bytes slack{};    ///< between what is allocated and what PyTorch's allocator has reserved
  Bytes context{};  ///< CUDA's context with the kernels that are loaded
  Bytes nccl{};     ///< buffers of NCCL's channels
  /// DDP's buckets of the first step, which may be there for a step beside those that replace them. Not part
  /// of the sums below: steps that follow are without them.
  Bytes first_buckets{};

  Bytes allocated() const {
    return parameters + gradients + optimizer_state + buckets + gathered + comm_hook + activations + input +
           workspace;
  }
  Bytes needed() const { return allocated() + slack + context + nccl; }
};

}  // namespace gradway
