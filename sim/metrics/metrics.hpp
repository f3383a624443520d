// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace gradway {

/// What a step costs and where its time goes. Times are of a step in the steady state on rank 0, the mean
/// where several alternate; the parts
/// `compute` (without the optimizer's kernels), `optimizer`, `exposed_communication`, `input_wait`,
/// `launch_bound` and `idle` add up to `step_time`. Rates of a step that takes no time are infinite, its
/// shares zero.
struct Metrics {
  Seconds step_time{};
  double steps_per_s = 0;
  double samples_per_s = 0;
  Seconds compute{};                ///< forward, backward and DDP's own kernels run (any of them)
  Seconds communication{};          ///< a collective is under way
  Seconds exposed_communication{};  ///< ... and no kernel runs beside it
  Seconds input_wait{};             ///< nothing but the input copy is under way
  Seconds optimizer{};              ///< the optimizer's kernels run
  Seconds launch_bound{};           ///< the GPU has nothing to do because the CPU has not issued it yet
  Seconds idle{};                   ///< none of these: waiting for other ranks or for latencies
  double gpu_busy_fraction = 0;
  double tflops_per_gpu = 0;     ///< of the model's own operations
  std::int64_t collectives = 0;  ///< a step
  Bytes bytes_sent_per_gpu{};    ///< by collectives, a step
  Bytes peak_memory{};           ///< what PyTorch has allocated on one GPU at the peak; estimate
  std::optional<BytesPerSecond> bus_bandwidth;  ///< of a collective alone, as nccl-tests counts it
  std::optional<UsdPerHour> cost_per_hour;      ///< of the nodes that the ranks lie on, each as a whole
  std::optional<double> cost_usd_per_million_samples;
};

/// Memory of one GPU at the moment of the step when most of it is in use.
struct MemoryUse {
  // In PyTorch's own count (torch.cuda.max_memory_allocated).
  Bytes parameters{};       ///< fp32
  Bytes gradients{};        ///< beside DDP's buckets; none of their own where they are views of these
  Bytes optimizer_state{};  ///< with what its step holds for a moment, if that is the peak
  Bytes buckets{};
  Bytes comm_hook{};      ///< casts in flight; PowerSGD's errors, P and Q
  Bytes weight_copies{};  ///< 16 bit, which autocast keeps until their layer's backward pass
  Bytes activations{};
  Bytes input{};
  Bytes workspace{};  ///< cuBLAS and cuBLASLt
  // What the card must hold beyond that.
  Bytes slack{};    ///< between what is allocated and what PyTorch's allocator has reserved
  Bytes context{};  ///< CUDA's context with the kernels that are loaded
  Bytes nccl{};     ///< buffers of NCCL's channels

  Bytes allocated() const {
    return parameters + gradients + optimizer_state + buckets + comm_hook + weight_copies + activations +
           input + workspace;
  }
  Bytes needed() const { return allocated() + slack + context + nccl; }
};

/// What limits the step, in words.
struct Bottleneck {
  std::string resource;
  std::string why;
};

/// How much of the step a link or memory was in use, and what it carried.
struct ResourceUse {
  std::string name;
  double busy_fraction = 0;     ///< bytes carried over what it could have carried in the step
  Bytes bytes{};                ///< a step
  double wanted_by_others = 0;  ///< share that a neighbour's traffic would like
  std::size_t alike = 0;        ///< others that carry as much at the same time and are not listed
};

/// More links than this are not listed one by one: a report must not grow with the machine.
constexpr std::size_t most_links_listed = 1000;

/// All that a run says of itself.
struct Measured {
  Metrics metrics;
  MemoryUse memory;
  Bottleneck bottleneck;
  /// Links and memories that carried anything, busiest first. Of more than `most_links_listed` one of those
  /// that are alike, and of these the busiest.
  std::vector<ResourceUse> links;
  std::size_t links_left_out = 0;  ///< less busy ones, neither listed nor like one that is
  /// What each resource that stands for itself carried in the step, in order; see Folding.
  std::vector<std::pair<ResourceId, Bytes>> carried;
};

}  // namespace gradway
