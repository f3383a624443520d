// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/import/topology/nccl_topology.hpp"

namespace gradway {

/// Makes out, or adds, the GPUs of a file that does not say which devices they are; other unnamed devices
/// become NICs. Does nothing where the file names GPUs.
/// @param gpus that the user counted; nothing: did not
/// @return what was assumed, for the user; empty if the file says it all
/// @throws ConfigError if that cannot be, or if nobody counted
std::vector<std::string> find_unlisted_gpus(NcclTopology& topology, std::optional<int> gpus);

}  // namespace gradway
