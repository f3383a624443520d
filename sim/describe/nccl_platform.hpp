// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/describe/matrix_platform.hpp"
#include "sim/describe/nccl_layout.hpp"
#include "sim/import/topology/nccl_topology.hpp"

namespace gradway {

/// The GPU that a topology names by its device number. @return as the driver would name it; empty: it does
/// not say
/// @throws ConfigError at a GPU of another kind than the first one
std::string gpu_of(const NcclTopology& topology);

/// The compute capability that a topology tells of its first GPU, 89 for 8.9.
std::optional<int> capability_of(const NcclTopology& topology);

/// A node as a platform file, from NCCL's topology: parts, connections and speeds of links are the file's,
/// what links of such a speed let through is published. What is assumed says so.
/// @param laid out of the topology
/// @throws ConfigError if the GPU is another one than the file's
WrittenPlatform nccl_platform(const NcclTopology& topology, NcclLayout laid, const DescribedGpu& gpu);

}  // namespace gradway
