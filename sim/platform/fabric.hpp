// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/builder.hpp"
#include "sim/platform/description.hpp"

namespace gradway {

/// Adds what is between the nodes: switches, links from each NIC to its own, links between switches. A link
/// carries the payload that its wire has room for.
/// @throws ConfigError if a part of a node has the name of a switch
void add_fabric(const FabricDescription& fabric, PlatformBuilder& builder);

/// Adds an NVSwitch for each group of nodes, and the links of their GPUs to it.
void add_nvlink_domains(const NvlinkDomainDescription& domain, PlatformBuilder& builder);

}  // namespace gradway
