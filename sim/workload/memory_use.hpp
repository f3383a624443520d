// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/units.hpp"

namespace gradway {

/// Peak memory of one GPU in a step.
struct MemoryUse {
  // Memory that torch.cuda.max_memory_allocated counts.
  Bytes parameters{};       ///< all copies of parameters
  Bytes gradients{};        ///< outside DDP's buckets; zero if gradients are views into the buckets
  Bytes optimizer_state{};  ///< with temporaries of the optimizer's step if that is the peak
  Bytes buckets{};
  Bytes gathered{};     ///< sharded strategies: gathered parameters and communication buffers
  Bytes comm_hook{};    ///< casts in flight; PowerSGD's errors, P and Q
  Bytes activations{};  ///< with 16-bit copies of weights, gradients of activations and temporaries
  Bytes input{};
  Bytes workspace{};  ///< cuBLAS and cuBLASLt
  // Further memory of the GPU.
  Bytes slack{};    ///< fragments that PyTorch's allocator cannot release
  Bytes context{};  ///< CUDA context with loaded kernels
  Bytes nccl{};     ///< buffers of NCCL's channels
  /// By which the peak of one step is higher, while DDP's first buckets coexist with their replacements. Not
  /// part of the sums below.
  Bytes first_buckets{};

  Bytes allocated() const {
    return parameters + gradients + optimizer_state + buckets + gathered + comm_hook + activations + input +
           workspace;
  }
  Bytes needed() const { return allocated() + slack + context + nccl; }
};

}  // namespace gradway
