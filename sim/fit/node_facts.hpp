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

/// What the fit must know of the GPUs and of NCCL, which the rows do not say.
struct NodeFacts {
  int multiprocessors = 0;                              ///< of a GPU; 0: not known
  std::map<std::pair<Transport, int>, int> channels{};  ///< of a large all-reduce, by transport and ranks
  std::array<std::optional<FlopsPerSecond>, precision_count> peak{};  ///< of the datasheet
  std::optional<BytesPerSecond> memory_bandwidth{};                   ///< the same
  std::string gpu{};                                                  ///< name of its file; empty: not known
};

/// What a platform tells of the node that samples come from: what its GPU is, and for each transport and
/// number of ranks with samples taken side by side the channels that NCCL would take there. Those that the
/// platform does not have stay unknown.
NodeFacts node_facts(const Platform& platform, const Samples& samples);

}  // namespace gradway
