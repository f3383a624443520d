// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// What the fit must know of the GPUs and of NCCL, which the rows do not say.
struct NodeFacts {
  int multiprocessors = 0;                            ///< of a GPU; 0: not known
  std::map<std::pair<Transport, int>, int> channels;  ///< of a large all-reduce, by transport and ranks
  std::array<std::optional<FlopsPerSecond>, precision_count> peak{};  ///< of the datasheet
  std::optional<BytesPerSecond> memory_bandwidth{};                   ///< the same
};

}  // namespace gradway
