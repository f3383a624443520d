// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "calibration/harness/job.hpp"
#include "calibration/harness/options.hpp"

namespace gradway::probe {

/// The job that describes the node; it runs first, alone.
Job facts_job();

/// All jobs for a number of GPUs and nodes, in the order of the run. Estimates depend on the sizes that the
/// options select. To adapt a calibration, kernels and contention are left out: GPUs of a kind are equal,
/// host memory and TCP are not.
std::vector<Job> all_jobs(int gpus, int nodes, const Options& options);

}  // namespace gradway::probe
