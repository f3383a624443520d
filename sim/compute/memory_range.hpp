// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/scenario/scenario.hpp"
#include "sim/workload/memory_use.hpp"

namespace gradway {

/// The 90 % prediction interval of the memory that a GPU needs, relative to the memory that it has: below it
/// (fits), above it (does not fit), or around it with the expected value below (tight) or above (may not
/// fit).
enum class MemoryVerdict : std::uint8_t { fits, tight, may_not_fit, does_not_fit };
inline constexpr std::array<std::string_view, 4> memory_verdict_words{"fits", "tight", "may not fit",
                                                                      "does not fit"};
constexpr std::string_view name_of(MemoryVerdict verdict) {
  return memory_verdict_words[static_cast<std::size_t>(verdict)];
}

/// 90 % prediction interval of the memory that a GPU needs.
struct MemoryRange {
  Bytes low{};
  Bytes expected{};
  Bytes high{};
  std::string gpu{};
  Bytes capacity{};
  MemoryVerdict verdict = MemoryVerdict::fits;  ///< always `fits` on an ideal GPU
  std::string_view largest_part{};  ///< parameters, gradients, optimizer, activations, buffers or framework

  bool operator==(const MemoryRange&) const = default;
};

/// Whether all memory of a step's passes is known. A profile may lack tensors, and never has the memory of
/// recomputed blocks.
bool knows_memory(const Scenario& scenario);

MemoryRange memory_range(const Scenario& scenario, const MemoryUse& memory);

/// Peaks over a whole run.
struct PeakOfRun {
  Bytes allocated{};  ///< torch.cuda.max_memory_allocated
  Bytes reserved{};   ///< torch.cuda.max_memory_reserved; at most what the GPU leaves PyTorch
  Bytes reserved_low{}, reserved_high{};  ///< its 90 % prediction interval
  Bytes beside{};                         ///< CUDA's context and NCCL's buffers, which nvidia-smi shows, too
  RunPart part = RunPart::step;           ///< that has the peak
  std::string_view decided_by{};  ///< what decides it: largest part of a step's peak, or what the part adds
  int step = 0;                   ///< the only step with this peak; 0: none, or all but the first

  Bytes nvidia_smi() const { return reserved + beside; }
};
PeakOfRun peak_of_run(const Scenario& scenario, const MemoryUse& memory);

/// Whether the expected memory fits: the verdict is `fits` or `tight`.
bool fits(const Scenario& scenario, const MemoryUse& memory);
/// Whether the upper end of the interval fits: the verdict is `fits`.
bool surely_fits(const Scenario& scenario, const MemoryUse& memory);

/// Whether the lower end of the interval does not fit: the verdict is `does_not_fit`.
bool surely_does_not_fit(const Scenario& scenario, const MemoryUse& memory);

/// The verdict in words: "does not fit: 93 of 24 GB on each l4 (88 to 99 GB, most of it activations)".
std::string verdict_in_words(const MemoryRange& range);
std::string verdict_in_words(const Scenario& scenario, const MemoryUse& memory);

}  // namespace gradway
