// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibration/harness/context.hpp"

namespace gradway::probe {

/// Emits the row of the node: GPUs, driver, NCCL, PCIe, NVLink, processor, `nvidia-smi topo -m` and NCCL's
/// own topology. @throws Failure if there is no GPU
void probe_facts(Context& context);

}  // namespace gradway::probe
