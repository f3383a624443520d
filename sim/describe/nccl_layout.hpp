// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/describe/nominal_links.hpp"
#include "sim/import/topology/nccl_topology.hpp"

namespace gradway {

/// A node's parts as NCCL's topology has them.
struct NcclLayout {
  NodeLayout layout;
  std::vector<PartLink> links;      ///< beside the layout's parts
  std::vector<std::string> doubts;  ///< what the file leaves open, and how it was taken
  bool tells_nvlinks = false;       ///< the file would list the GPUs' NVLinks if there were any
};

/// Lays out the first node of a file. Each device or switch on a CPU gets a root complex of its own; switches
/// that no device hangs on are left out. GPUs are ordered by their number, or by their bus.
///
/// Where a file does not say what its devices are, a user who counts the GPUs can: the unnamed devices, if
/// there are as many; else they are added to the switches, or are among the devices on the CPUs, the same
/// number on each.
/// @param gpus that the user counted
/// @throws ConfigError if there are no GPUs, or others than were counted
NcclLayout lay_out(const NcclTopology& topology, std::optional<int> gpus);

}  // namespace gradway
