// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/import/kineto/read/steps.hpp"
#include "sim/workload/optimizer.hpp"

namespace gradway {

/// The optimizer by the name of its annotation ("Optimizer.step#AdamW.step") and by whether its operations
/// are fused. One that gradway does not know counts as AdamW, with a warning; its launches stay as they are.
Optimizer find_optimizer(const Trace& trace, const TracedStep& step, std::vector<std::string>& warnings);

}  // namespace gradway
