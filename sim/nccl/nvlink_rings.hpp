// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/platform/routes.hpp"

namespace gradway {

/// Some of the GPUs of these gpus are joined by NVLinks without a switch.
bool has_direct_nvlinks(const Routes& routes, const std::vector<std::size_t>& gpus);

/// Rings through all gpus of a node. Where NVLinks join GPUs directly, as many rings along them as can be
/// found with no link in two of them (a bond of two counts twice), found greedily in the order of the gpus;
/// else, and where NVLinks make no ring, one ring in the order of the gpus.
/// @return at least one
std::vector<std::vector<std::size_t>> nvlink_rings(const Routes& routes,
                                                   const std::vector<std::size_t>& gpus);

}  // namespace gradway
