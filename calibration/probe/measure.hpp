// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "calibration/harness/context.hpp"
#include "calibration/probe/gate.hpp"

namespace gradway::probe {

/// Issues one call on the stream; it must not wait for the GPU.
using Issue = std::function<void(const Stream&)>;

/// Times the work of `issue` by events on the GPU, independent of the CPU's speed: after a warm-up, each
/// repetition issues a number of calls while a gate is closed; one sample is their time divided by their
/// number.
/// @param launches kernels per call, which limits the calls that the gate can block
/// @throws Failure if a call fails
Summary measure(const StoppingRule& rule, const Issue& issue, int launches = 1);

/// Times a call on the CPU: one sample is the mean of `calls` consecutive calls.
Summary measure_on_cpu(
    const StoppingRule& rule, int calls, const std::function<void()>& call,
    const std::function<void()>& settle = [] {});

}  // namespace gradway::probe
