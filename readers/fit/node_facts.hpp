// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "readers/samples/samples.hpp"
#include "sim/cost/calibration.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// Facts about the GPUs and NCCL that a fit needs and the rows do not contain.
struct NodeFacts {
  int multiprocessors = 0;  ///< Per GPU; 0: unknown.
  /// NCCL channels of a large all-reduce, by transport and ranks.
  std::map<std::pair<Transport, int>, int> channels{};
  std::array<std::optional<FlopsPerSecond>, precision_count> peak{};  ///< Datasheet rate, by precision.
  std::optional<BytesPerSecond> memory_bandwidth{};                   ///< Datasheet rate.
  std::string gpu{};  ///< Name of the GPU's file; empty if unknown.
};

/// Facts from the platform of the measured node: its GPU, and the number of channels that NCCL uses for each
/// transport and number of ranks with contention samples. Facts that the platform lacks stay unknown.
NodeFacts node_facts(const Platform& platform, const Samples& samples);

}  // namespace gradway
