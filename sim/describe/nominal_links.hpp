// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/describe/node_links.hpp"
#include "sim/import/topology/node_layout.hpp"

namespace gradway {

/// Known facts of the link between a part of a node and its parent.
struct PartLink {
  std::optional<double> transfers;     ///< PCIe, in GT/s.
  std::optional<int> lanes;            ///< PCIe
  std::optional<BytesPerSecond> wire;  ///< Line rate of a NIC, per direction.
  bool is_c2c = false;                 ///< Link from a GPU to a Grace CPU.
};

/// Known facts of a node without measurements.
struct UnmeasuredNode {
  std::string gpu;             ///< Name of the GPU's file.
  int compute_capability = 0;  ///< 89 for 8.9.
  std::string cpu_vendor;      ///< As spelled by the CPU; empty if unknown.
  std::optional<int> cpu_model;
  /// In the order of the layout's parts; empty if nothing is known about the links.
  std::vector<PartLink> parts;
};

/// Sets the rates of a node's parts to published rates of links of their kind. What is unknown about a link
/// is assumed and marked so:
///
/// - a slot is PCIe of the GPU's generation with 16 lanes; so is the link above a PCIe switch
/// - a root complex carries all its ports
/// - a NIC's slot is like the GPUs', and no slower than its line rate
/// - a socket's memory is that of contemporary servers, shared by the NUMA nodes of two CPUs
/// - the link between two sockets has NCCL's figure for the CPU
NodeLinks nominal_links(const NodeLayout& layout, const UnmeasuredNode& facts);

}  // namespace gradway
