// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gradway {

constexpr int nvidia_pci_vendor = 0x10de;

/// The GPU with a device number of NVIDIA's, as the driver would name it; empty: not known here.
/// @source the PCI ID Repository, pci-ids.ucw.cz
std::string_view nvidia_gpu(int device);

}  // namespace gradway
