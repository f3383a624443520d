// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/graph/workload.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/platform/platform.hpp"

namespace gradway {

/// By program: what NCCL takes of the memory of one of its GPUs, over all communicators; 0 without NCCL.
std::vector<Bytes> nccl_memory(const Workload& workload, const Communicators& communicators,
                               const Platform& platform);

}  // namespace gradway
