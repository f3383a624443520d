// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/describe/nominal_links.hpp"
#include "sim/import/topology/nccl_topology.hpp"

namespace gradway {

/// The parts of a node that NCCL's topology describes.
struct NcclNodeLayout {
  NodeLayout layout;
  std::vector<PartLink> links;             ///< parallel to the parts of `layout`
  std::vector<std::string> uncertainties;  ///< what the file does not say, and what was assumed
  bool lists_nvlinks = false;              ///< files of this kind list the GPUs' NVLinks if there are any
};

/// Layout of the first node of a file. Each device or switch that is attached to a CPU gets a root complex of
/// its own; switches without devices are left out. GPUs are ordered by device number, or else by bus.
///
/// A file may not say what its devices are. Then the GPUs are the unnamed devices if their number is `gpus`;
/// otherwise GPUs are added to the switches, or taken from the devices on the CPUs, the same number on each.
/// @param gpus number of GPUs of the node, given by the user
/// @throws ConfigError if there are no GPUs, or not `gpus` of them
NcclNodeLayout node_layout(const NcclTopology& topology, std::optional<int> gpus);

}  // namespace gradway
