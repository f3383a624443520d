// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "calibration/harness/context.hpp"
#include "calibration/probe/gate.hpp"

namespace gradway::probe {

/// Puts one call of what is measured on the stream; it must not wait for the GPU.
using Issue = std::function<void(const Stream&)>;

/// Times what `issue` puts on a stream, by events on the GPU, without the CPU's pace: after a warm-up, each
/// repetition issues a number of calls behind a gate; one sample is their time over their number.
/// @param launches kernels a call: so many calls fit behind the gate
/// @throws Failure if a call fails
Summary measure(const StoppingRule& rule, const Issue& issue, int launches = 1);

/// Times a call on the CPU: one sample is the mean of `calls` calls in a row.
Summary measure_on_cpu(
    const StoppingRule& rule, int calls, const std::function<void()>& call,
    const std::function<void()>& settle = [] {});

}  // namespace gradway::probe
