// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/describe/node_links.hpp"
#include "sim/import/topology/node_layout.hpp"

namespace gradway {

/// What is known of the link between a part of a node and what it hangs on.
struct PartLink {
  std::optional<double> transfers;     ///< PCIe, GT/s
  std::optional<int> lanes;            ///< PCIe
  std::optional<BytesPerSecond> wire;  ///< of a NIC, per direction
  bool is_c2c = false;                 ///< a GPU's to a Grace CPU
};

/// What is known of a node that nobody measured.
struct UnmeasuredNode {
  std::string gpu;             ///< the name of the GPU's file
  int compute_capability = 0;  ///< 89 for 8.9
  std::string cpu_vendor;      ///< as CPUs spell it; empty: not known
  std::optional<int> cpu_model;
  std::vector<PartLink> parts;  ///< beside the layout's; empty: nothing is known of its links
};

/// Gives the parts of a node the rates that others published for links of their kind; what is not known of a
/// link is assumed, and says so:
///
/// - a slot is PCIe of the GPU's generation with 16 lanes; so is the link above a PCIe switch
/// - a root complex lets all its ports through
/// - a NIC's slot is like the GPUs', and no slower than its wire
/// - a socket's memory is that of servers of the time, shared by the NUMA nodes of two CPUs
/// - the link between two sockets has NCCL's figure for the CPU
NodeLinks nominal_links(const NodeLayout& layout, const UnmeasuredNode& facts);

}  // namespace gradway
