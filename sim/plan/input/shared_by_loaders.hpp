// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/platform/platform.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// What of a dataset and its cache follows from the rest: how large a sample is that goes to the GPU, how
/// many reads the cache answers. @pre the model was taken for the job
void take_input(Job& job, const Model& model);

/// The platform with what the job's loaders share: storage, caches, cores; in place of those of another job.
Platform with_loaders(Platform platform, const Job& job);

/// What storage takes for a million samples, in USD: to keep the dataset meanwhile, to ask for samples that
/// no cache has, and to move them out. Empty where its file tells no price.
std::optional<double> storage_usd_per_million_samples(const InputSettings& input, double samples_per_s);

}  // namespace gradway
