// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/describe/node_links.hpp"
#include "readers/topology/node_layout.hpp"
#include "sim/base/units.hpp"

namespace gradway {

/// Published rate of a kind of link.
struct NominalRate {
  BytesPerSecond to_gpu{};    ///< And to other devices: away from the CPU.
  BytesPerSecond from_gpu{};  ///< In the other direction.
  std::string source;         ///< Such as "PCIe Gen4 x16: pinned copies reach ...".
};

/// Rates of copies from and to pinned memory over PCIe. @param transfers in GT/s: 2.5, 5, 8, 16, 32 or 64
NominalRate pcie_rate(double transfers, int lanes);

/// The rate that NCCL assumes for such a link, in each direction.
/// @source NCCL 2.28.9, src/graph/topo.cc, kvDictPciGen
BytesPerSecond nccl_pcie_rate(double transfers, int lanes);

/// Rates of copies over the C2C link between a Grace CPU and its GPU.
NominalRate c2c_rate();

/// The fastest PCIe that a GPU supports, in GT/s. @param compute_capability 89 for 8.9; 0 for AMD
/// @param gpu name of the GPU's file
double pcie_transfers(int compute_capability, std::string_view gpu);

/// Whether a GPU is attached to a Grace CPU by C2C. @param gpu name of its file
bool is_on_grace(std::string_view gpu);

/// The NVLinks of a kind of GPU, or XGMI links of AMD, and the rate of copies from GPU to GPU per link.
struct NominalNvlink {
  BytesPerSecond each{};  ///< Rate of one link in each direction.
  int of_gpu = 0;         ///< Number of links of a GPU on a board with all of them; 0 if unknown.
  std::string source;
};

/// @param gpu name of the GPU's file
NominalNvlink nvlink_rate(int compute_capability, std::string_view gpu);

/// The memory of a CPU: its channels times their rate.
struct NominalMemory {
  BytesPerSecond bandwidth{};
  std::string source;  ///< And where such CPUs are usual.
};

/// The memory of CPUs in servers with a GPU. @param transfers of the GPU's PCIe, in GT/s
NominalMemory cpu_memory(double transfers, std::string_view gpu);

/// The rate that NCCL assumes for the link between two sockets, in each direction.
struct SocketFigure {
  std::string_view name;  ///< Name of the constant in NCCL's source.
  BytesPerSecond rate{};
};

/// @param vendor as spelled by CPUs: GenuineIntel, AuthenticAMD; others are assumed to be ARM.
/// @param model of an Intel CPU of family 6; Skylake if unknown
/// @source NCCL 2.28.9, src/graph/topo.h and topo.cc
SocketFigure socket_figure(std::string_view vendor, std::optional<int> model);

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
