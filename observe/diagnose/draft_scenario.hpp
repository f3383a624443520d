// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "observe/diagnose/diagnose.hpp"
#include "readers/training/scenario_draft.hpp"

namespace gradway {

/// The scenario that the traces of a job describe, of a model that is the profile of one of its ranks.
/// Settings that traces do not show are notes.
/// @param model its name @param profile of a rank, without what DDP adds
/// @param has_bucket_views gradients are views into DDP's buckets
/// @throws ConfigError for jobs that exchange in another way than DDP
Draft draft_scenario(const JobRun& run, const Diagnosis& diagnosis, const std::string& platform,
                     const std::string& model, const Profile& profile, bool has_bucket_views);

}  // namespace gradway
