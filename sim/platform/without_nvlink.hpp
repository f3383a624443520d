// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/description.hpp"

namespace gradway {

/// The same hardware without links between its GPUs: no NVLinks, NVSwitches and XGMI links. GPUs then
/// exchange over PCIe, host memory and the network. Generated platforms have none and stay as they are.
PlatformDescription without_nvlink(PlatformDescription platform);

}  // namespace gradway
