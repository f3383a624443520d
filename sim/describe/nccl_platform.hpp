// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sim/describe/matrix_platform.hpp"
#include "sim/describe/nccl_layout.hpp"
#include "sim/import/topology/nccl_topology.hpp"

namespace gradway {

/// The GPU that a topology names by its PCI device number. @return the driver's name of it; empty if unknown
/// @throws ConfigError at a GPU of another kind than the first one
std::string gpu_of(const NcclTopology& topology);

/// Compute capability of a topology's first GPU, 89 for 8.9.
std::optional<int> capability_of(const NcclTopology& topology);

/// Writes a platform file of a node from NCCL's topology. Parts, connections and link speeds are those of the
/// topology; achieved rates are published figures for links of such a speed. The file marks every assumption.
/// @param node layout of the topology's first node
/// @throws ConfigError if the GPU is another one than the file's
WrittenPlatform nccl_platform(const NcclTopology& topology, NcclNodeLayout node, const DescribedGpu& gpu);

}  // namespace gradway
