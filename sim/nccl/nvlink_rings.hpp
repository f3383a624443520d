// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// Whether NVLinks join some of these GPUs without a switch.
bool has_direct_nvlinks(const Routes& routes, const std::vector<std::size_t>& gpus);

/// The GPU that relays NCCL's traffic over NVLinks between two GPUs without a common NVLink (path type NVB):
/// among the GPUs of the communicator on their node with NVLinks to both, the one whose smaller bond is the
/// largest, then the one with most links to the second GPU, then the first.
/// @source NCCL 2.28.9, src/graph/paths.cc (ncclTopoSetPaths): a second hop over NVLink is worse than one and
///         better than any PCIe switch; of paths of a type those with more bandwidth; paths are
///         computed again without the GPUs of other communicators. In NCCL since 2.8
/// @return empty if NVLinks join the two, or no GPU has NVLinks to both
std::optional<std::size_t> nvlink_relay(const Routes& routes, const std::vector<std::size_t>& gpus,
                                        std::size_t from, std::size_t to);

/// Rings through all GPUs of a node. On a full mesh of XGMI those of `mesh_rings`. If NVLinks join GPUs
/// directly, as many rings along them as possible without a link in two of them (a bond of two counts twice),
/// found greedily in the order of the GPUs; if there is no such ring, as many with relays in place of missing
/// links; else one ring in the order of the GPUs.
/// @source NCCL 2.28.9, src/graph/search.cc (ncclTopoCompute): at one speed direct links are tried before NVB
/// @return at least one
std::vector<std::vector<std::size_t>> nvlink_rings(const Routes& routes, const std::vector<std::size_t>& gpus,
                                                   bool relays = true);

}  // namespace gradway
