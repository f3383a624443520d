// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "readers/describe/nominal_rates.hpp"
#include "readers/describe/platform_draft.hpp"
#include "readers/topology/nccl_xml.hpp"
#include "readers/topology/topology_matrix.hpp"

namespace gradway {

/// The GPU of a node that is described without measurements.
struct DescribedGpu {
  std::string name;            ///< Name of its file.
  int compute_capability = 0;  ///< 89 for 8.9.
  std::string remark;          ///< Source of the name.
};

/// The parts of a node that NCCL's topology describes.
struct NcclNodeLayout {
  NodeLayout layout;
  std::vector<PartLink> links;             ///< In the order of the parts of `layout`.
  std::vector<std::string> uncertainties;  ///< What the file lacks, and what is assumed.
  bool lists_nvlinks = false;              ///< Files of this kind list the GPUs' NVLinks if there are any.
};

/// Layout of the first node of a file. Each device or switch attached to a CPU gets its own root complex;
/// switches without devices are left out. GPUs are ordered by device number, or else by bus.
///
/// A file may not state what its devices are. Then the GPUs are the unnamed devices if their number is
/// `gpus`; otherwise GPUs are added to the switches, or taken from the devices on the CPUs, the same number
/// on each.
/// @param gpus number of GPUs of the node, given by the user
/// @throws ConfigError if there are no GPUs, or not `gpus` of them
NcclNodeLayout node_layout(const NcclTopology& topology, std::optional<int> gpus);

/// Identifies or adds the GPUs of a file that does not state its devices; other unnamed devices become NICs.
/// Does nothing if the file names GPUs.
/// @param gpus number of GPUs given by the user
/// @return assumptions, for the user; empty if none
/// @throws ConfigError if the number is impossible, or missing
std::vector<std::string> find_unlisted_gpus(NcclTopology& topology, std::optional<int> gpus);

/// The driver's name of a topology's GPU, by its PCI device number; empty if unknown
/// @throws ConfigError if the topology contains different GPUs
std::string gpu_of(const NcclTopology& topology);

/// Compute capability of a topology's first GPU, 89 for 8.9.
std::optional<int> capability_of(const NcclTopology& topology);

/// Writes a platform file of a node from NCCL's topology. Parts, connections and link speeds are those of the
/// topology; achieved rates are published figures for links of that speed. The file marks every assumption.
/// @param node layout of the topology's first node
/// @throws ConfigError if the GPU differs from the file's
WrittenPlatform nccl_platform(const NcclTopology& topology, NcclNodeLayout node, const DescribedGpu& gpu);

/// Writes a platform file of a node from its matrix alone. Parts and connections are those of the matrix;
/// rates are published figures for links of the same kind. The file marks every assumption.
WrittenPlatform matrix_platform(const TopologyMatrix& matrix, const DescribedGpu& gpu);

/// Lists the layout's NICs in a draft. Comments explain how to describe several such nodes.
void add_nics(PlatformDraft& draft);

}  // namespace gradway
