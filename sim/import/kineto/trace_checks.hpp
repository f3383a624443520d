// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/problem.hpp"
#include "sim/import/kineto/trace.hpp"

namespace gradway {

/// What makes a trace unfit as a whole, each with what to record instead: no GPU or no CPU in it, no shapes,
/// several GPUs or processes, distributed training, kernels that take no time or overlap on a stream.
std::vector<Problem> check_trace(const Trace& trace, const Where& file);

}  // namespace gradway
