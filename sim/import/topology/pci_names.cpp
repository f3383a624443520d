// SPDX-License-Identifier: Apache-2.0
#include "sim/import/topology/pci_names.hpp"

#include <algorithm>
#include <array>

namespace gradway {
namespace {

struct PciName {
  int device;
  std::string_view name;
};
constexpr std::array known_pci_names{PciName{0x1db1, "Tesla V100-SXM2-16GB"},
                                     PciName{0x1db4, "Tesla V100-PCIE-16GB"},
                                     PciName{0x1db5, "Tesla V100-SXM2-32GB"},
                                     PciName{0x1db6, "Tesla V100-PCIE-32GB"},
                                     PciName{0x1eb8, "Tesla T4"},
                                     PciName{0x20b0, "NVIDIA A100-SXM4-40GB"},
                                     PciName{0x20b1, "NVIDIA A100-PCIE-40GB"},
                                     PciName{0x20b2, "NVIDIA A100-SXM4-80GB"},
                                     PciName{0x20b5, "NVIDIA A100 80GB PCIe"},
                                     PciName{0x20b7, "NVIDIA A30"},
                                     PciName{0x20f1, "NVIDIA A100-PCIE-40GB"},
                                     PciName{0x2204, "NVIDIA GeForce RTX 3090"},
                                     PciName{0x2230, "NVIDIA RTX A6000"},
                                     PciName{0x2235, "NVIDIA A40"},
                                     PciName{0x2236, "NVIDIA A10"},
                                     PciName{0x2237, "NVIDIA A10G"},
                                     PciName{0x2321, "NVIDIA H100 NVL"},
                                     PciName{0x2330, "NVIDIA H100 80GB HBM3"},
                                     PciName{0x2331, "NVIDIA H100 PCIe"},
                                     PciName{0x2335, "NVIDIA H200"},
                                     PciName{0x233b, "NVIDIA H200 NVL"},
                                     PciName{0x2684, "NVIDIA GeForce RTX 4090"},
                                     PciName{0x26b5, "NVIDIA L40"},
                                     PciName{0x26b9, "NVIDIA L40S"},
                                     PciName{0x27b8, "NVIDIA L4"},
                                     PciName{0x2901, "NVIDIA B200"},
                                     PciName{0x2941, "NVIDIA GB200"}};

}  // namespace

std::string_view nvidia_gpu(int device) {
  const auto* const found = std::ranges::find(known_pci_names, device, &PciName::device);
  return found == known_pci_names.end() ? std::string_view{} : found->name;
}

}  // namespace gradway
