// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/harness/job.hpp"
#include "calibration/harness/options.hpp"

namespace gradway::probe {

/// What says what the node is; it runs first, by itself.
Job facts_job();

/// All that can be measured on so many GPUs and nodes, in the order of the run.
/// Its estimates are for as many sizes as the options ask for; to adapt, it leaves kernels out, and what runs
/// side by side: GPUs of a kind are alike, host memory and TCP are not.
std::vector<Job> all_jobs(int gpus, int nodes, const Options& options);

}  // namespace gradway::probe
