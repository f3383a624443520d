// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/harness/context.hpp"
#include "calibration/probe/cuda_check.hpp"

namespace gradway::probe {

/// Calls a probe. A failure is recorded as a row of kind `failed`, and the run continues.
template <class Probe>
void attempt(const Context& context, const std::string& section, const Probe& probe) {
  try {
    probe();
  } catch (const Failure& failure) {
    cudaGetLastError();  // Otherwise the next launch would report it again.
    context.emit({{"kind", "failed"}, {"section", section}, {"what", failure.what()}});
  }
}

}  // namespace gradway::probe
