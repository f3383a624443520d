// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/run/simulate.hpp"

namespace gradway {

/// A step without its communication, and the communication without the step.
struct Overlap {
  Seconds without_collectives{};  ///< the step if each collective ended as soon as it is ready
  Seconds collectives{};          ///< all of a step alone, back to back
  Seconds links{};  ///< the same if only links and memories bounded them: no latencies, no channels
  std::optional<ChannelLimit> limit;  ///< of the largest collective; empty without NCCL
  std::vector<ProvenanceFact> basis;  ///< of the collectives' rates

  /// Lower bound of the step: the collectives queue on one communicator, and the rest has its own time.
  /// Contention between the two is left out.
  Seconds bound() const { return std::max(without_collectives, collectives); }
};

/// @param engine "auto" or a name from engines()
Overlap overlap_of(const Run& run, std::string_view engine);

}  // namespace gradway
