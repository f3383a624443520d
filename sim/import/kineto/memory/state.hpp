// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/import/kineto/read/steps.hpp"
#include "sim/workload/profile.hpp"

namespace gradway {

/// The gradients of a step in the order in which they get ready: autograd ends a parameter's "AccumulateGrad"
/// then, and DDP's hook runs right after it. Inputs that a reentrant torch.utils.checkpoint detaches get one,
/// too, and are no parameters.
std::vector<ProfiledGradient> find_gradients(const Trace& trace, const TracedStep& step);

/// The buffers of a step's batch normalisations: running mean, running variance and, PyTorch's modules have
/// one each, a count of batches. In the order of the forward pass.
std::vector<ProfiledBuffer> find_buffers(const Trace& trace, const TracedStep& step);

}  // namespace gradway
