// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/scenario/scenario.hpp"
#include "sim/workload/memory_use.hpp"

namespace gradway {

/// How the 90 % prediction interval of the memory that a GPU needs lies to the memory that it has: below it;
/// around it, with the expected value below or above; above it.
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
  MemoryVerdict verdict = MemoryVerdict::fits;  ///< an ideal GPU holds anything
  std::string_view largest_part{};  ///< parameters, gradients, optimizer, activations, buffers or framework

  bool operator==(const MemoryRange&) const = default;
};

/// Whether all memory of a step's passes is known. A profile may lack some tensors, and says nothing about
/// blocks that run again in the backward pass.
bool knows_memory(const Scenario& scenario);

MemoryRange memory_range(const Scenario& scenario, const MemoryUse& memory);

/// Whether the expected value fits: the verdict is `fits` or `tight`.
bool fits(const Scenario& scenario, const MemoryUse& memory);
/// Whether even the upper end of the interval fits.
bool surely_fits(const Scenario& scenario, const MemoryUse& memory);

/// Whether even the lower end does not: the verdict is `does_not_fit`.
bool surely_does_not_fit(const Scenario& scenario, const MemoryUse& memory);

/// "does not fit: 93 of 24 GB on each l4 (88 to 99 GB, most of it activations)", with the verdict in front.
std::string verdict_in_words(const MemoryRange& range);
std::string verdict_in_words(const Scenario& scenario, const MemoryUse& memory);

}  // namespace gradway
