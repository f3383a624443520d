// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sim/cost/calibration.hpp"
#include "sim/platform/platform.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Facts about the GPUs and NCCL that a fit needs and the rows do not hold.
struct NodeFacts {
  int multiprocessors = 0;  ///< per GPU; 0: unknown
  std::map<std::pair<Transport, int>, int>
      channels{};  ///< NCCL channels of a large all-reduce, by transport and ranks
  std::array<std::optional<FlopsPerSecond>, precision_count> peak{};  ///< datasheet rate, by precision
  std::optional<BytesPerSecond> memory_bandwidth{};                   ///< datasheet rate
  std::string gpu{};                                                  ///< name of its file; empty: unknown
};

/// Facts from the platform of the measured node: its GPU, and the number of channels that NCCL takes for each
/// transport and number of ranks with samples of contention. Facts that the platform lacks stay unknown.
NodeFacts node_facts(const Platform& platform, const Samples& samples);

}  // namespace gradway
