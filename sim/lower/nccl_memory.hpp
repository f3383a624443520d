// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// By program: NCCL's channels over all communicators of one of its actors; 0 without NCCL.
std::vector<int> nccl_channels(const Workload& workload, const Communicators& communicators,
                               const Platform& platform);

}  // namespace gradway
