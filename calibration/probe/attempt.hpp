// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "calibration/harness/context.hpp"
#include "calibration/probe/cuda_check.hpp"

namespace gradway::probe {

/// Calls a probe; if it fails, a row of kind `failed` says so and why, and what follows goes on.
template <class Probe>
void attempt(const Context& context, const std::string& section, const Probe& probe) {
  try {
    probe();
  } catch (const Failure& failure) {
    cudaGetLastError();  // or the next launch would report it once more
    context.emit({{"kind", "failed"}, {"section", section}, {"what", failure.what()}});
  }
}

}  // namespace gradway::probe
