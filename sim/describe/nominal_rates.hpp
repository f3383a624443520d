// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace gradway {

/// What a link lets through by what is published of its kind.
struct NominalRate {
  BytesPerSecond to_gpu{};    ///< and to other devices: away from the CPU
  BytesPerSecond from_gpu{};  ///< the other way
  std::string source;         ///< "PCIe Gen4 x16: pinned copies reach ..."
};

/// Copies from and to pinned memory over PCIe. @param transfers in GT/s: 2.5, 5, 8, 16, 32 or 64
NominalRate pcie_rate(double transfers, int lanes);

/// What NCCL takes such a link for, in each direction.
/// @source NCCL 2.28.9, src/graph/topo.cc, kvDictPciGen
BytesPerSecond nccl_pcie_rate(double transfers, int lanes);

/// Over the C2C link between a Grace CPU and its GPU.
NominalRate c2c_rate();

/// The fastest PCIe that a GPU takes part in, in GT/s. @param compute_capability 89 for 8.9
double pcie_transfers(int compute_capability);

/// The links of a GPU of a kind and what copies from one GPU to another make of each of them.
struct NominalNvlink {
  BytesPerSecond each{};  ///< of one link, in each direction
  int of_gpu = 0;         ///< how many links a GPU on a board with all of them has; 0: not known
  std::string source;
};

/// @param gpu the name of the GPU's file
NominalNvlink nvlink_rate(int compute_capability, std::string_view gpu);

/// The memory of a CPU in a server of the time of a generation of PCIe: its channels times their rate.
struct NominalMemory {
  BytesPerSecond bandwidth{};
  std::string source;
};
NominalMemory cpu_memory(double transfers);

}  // namespace gradway
