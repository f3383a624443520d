// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/platform.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// What of a dataset and its cache follows from the rest: how large a sample is that goes to the GPU, how
/// many reads the cache answers. @pre the model was taken for the job
void take_input(Job& job, const Model& model);

/// The platform with what the job's loaders share: storage, caches, cores; in place of those of another job.
Platform with_loaders(Platform platform, const Job& job);

}  // namespace gradway
