// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// Some of the GPUs of these gpus are joined by NVLinks without a switch.
bool has_direct_nvlinks(const Routes& routes, const std::vector<std::size_t>& gpus);

/// The GPU through which NCCL takes NVLinks between two that none joins (its path type NVB): of those of the
/// communicator on their node that are joined with both the one whose lesser bond is the largest, then that
/// with most links to the second, then the first.
/// @source NCCL 2.28.9, src/graph/paths.cc (ncclTopoSetPaths): a second hop over NVLink is worse than one and
///         better than any PCIe switch; of paths of a type those with more bandwidth; paths are found anew
///         when the GPUs of others are gone from the topology. In NCCL since 2.8
/// @return nothing if NVLinks join the two, or no GPU is joined with both
std::optional<std::size_t> nvlink_relay(const Routes& routes, const std::vector<std::size_t>& gpus,
                                        std::size_t from, std::size_t to);

/// Rings through all gpus of a node. Where NVLinks join GPUs directly, as many rings along them as can be
/// found with no link in two of them (a bond of two counts twice), found greedily in the order of the gpus;
/// where that makes no ring, as many in which relays stand for links that are not there; else one ring in the
/// order of the gpus.
/// @source NCCL 2.28.9, src/graph/search.cc (ncclTopoCompute): of one speed direct links are tried before NVB
/// @return at least one
std::vector<std::vector<std::size_t>> nvlink_rings(const Routes& routes, const std::vector<std::size_t>& gpus,
                                                   bool relays = true);

}  // namespace gradway
