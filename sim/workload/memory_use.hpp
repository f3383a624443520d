// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// Parts of a run in which a GPU holds different tensors. `rebuilt_buckets`: the step in which DDP's first
/// buckets coexist with their replacements; `evaluation`: forward passes without gradients.
enum class RunPart : std::uint8_t { loading, first_step, rebuilt_buckets, step, evaluation, checkpoint };
inline constexpr std::array<std::string_view, 6> run_part_words{"loading", "first_step", "rebuilt_buckets",
                                                                "step",    "evaluation", "checkpoint"};
constexpr std::string_view name_of(RunPart part) {
  return run_part_words[static_cast<std::size_t>(part)];
}

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
  Bytes nccl{};     ///< buffers of NCCL's connections, and its code
  /// The most that the stream of the kernels allocates in a step, and the most of each other stream: the
  /// allocator's blocks belong to a stream, so that none reuses what another has freed.
  Bytes by_stream{};
  /// What PyTorch allocates at most in each part of a run, 0 if the run has no such part. `step` is
  /// `allocated()`.
  std::array<Bytes, run_part_words.size()> of_run{};

  Bytes allocated() const {
    return parameters + gradients + optimizer_state + buckets + gathered + comm_hook + activations + input +
           workspace;
  }
  Bytes in(RunPart part) const { return of_run[static_cast<std::size_t>(part)]; }
  Bytes& in(RunPart part) { return of_run[static_cast<std::size_t>(part)]; }
  /// By which another part of the run exceeds a step. Rebuilt buckets do not count: not every run has both.
  Bytes beyond_step() const {
    const auto most = std::max({in(RunPart::loading), in(RunPart::evaluation), in(RunPart::checkpoint)});
    return std::max(Bytes{}, most - allocated());
  }
  Bytes needed() const { return allocated() + beyond_step() + slack + context + nccl; }
};

}  // namespace gradway
