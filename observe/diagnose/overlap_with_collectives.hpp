// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "observe/diagnose/job_run.hpp"

namespace gradway {

/// Sets `slow_down` and `alone`. Kernels of the same name, grid and block occur many times, in other layers,
/// steps and ranks: those that ran during a collective are compared with those that did not.
void separate_contention(JobRun& run);

}  // namespace gradway
