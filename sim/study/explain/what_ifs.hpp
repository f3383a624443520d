// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/set_keys.hpp"
#include "sim/nccl/communicator.hpp"
#include "sim/run/simulate.hpp"

namespace gradway {

/// Factor of an infinitely fast part: a step of a day would shrink to less than the latency of a collective.
inline constexpr double practically_infinite = 1e9;

/// A change of a scenario that may make its step shorter.
struct WhatIf {
  std::string name{};     ///< "host_memory_2x"; unique
  std::string words{};    ///< "host memory twice as fast"
  Settings set{};         ///< keys of the scenario
  bool is_bound = false;  ///< the keys cannot be set like this, which gives a bound
};

/// What could be changed about a job: the hardware that it uses, settings of a sharded strategy, the loader,
/// its storage, what its program does, and the network between its nodes. Values that a key cannot have are
/// left out.
/// @param limit of the largest collective
/// @param drive of a node, to which a dataset outside the nodes might be staged
std::vector<WhatIf> what_ifs(const Run& run, const std::optional<ChannelLimit>& limit,
                             const std::optional<StorageTier>& drive);

/// What can save memory of the GPU without other samples in a step, each as one change. Those of the same
/// name save more and more.
std::vector<WhatIf> memory_what_ifs(const Scenario& scenario);

/// Other settings of the exchanges between the workers of local SGD. @pre workers exchange over a WAN
std::vector<WhatIf> exchange_what_ifs(const Job& job);

}  // namespace gradway
