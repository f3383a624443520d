// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/harness/job.hpp"

namespace gradway::probe {

/// What says what the node is; it runs first, by itself.
Job facts_job();

/// All that can be measured on so many GPUs and nodes, in the order of the run.
/// @param quick the estimates are for fewer sizes
std::vector<Job> all_jobs(int gpus, int nodes, bool quick);

}  // namespace gradway::probe
