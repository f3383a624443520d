// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// What the scenario leaves open is as the profile was recorded: precision and optimizer.
void take_from_profile(ScenarioSpec& scenario, const Profile& profile);

/// Puts the scenario's anchor in the place of the model's own for the same GPU and precision.
void take_anchor(const ScenarioSpec& scenario, Model& model);
/// Lays the model out as the job's framework has it, and for its number of tokens a sample; anchors of
/// another number no longer count.
void take_job(const Job& job, Model& model);

/// Warns if the scenario's anchor is of another GPU or precision than its job: nothing is scaled to it.
std::optional<warning::UnusedAnchor> unused_anchor(const ScenarioSpec& scenario, const Gpu& gpu);

/// Checks what several files say against each other. Problems are reported at the place in the scenario that
/// named the thing, with a note to what it clashes with. All specs must have been read without a problem.
void check_scenario(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    const GpuSpec& gpu, Problems& problems);

/// Checks that both ends of a neighbour's traffic are parts of the platform with a way between them.
void check_traffic(const ScenarioSpec& scenario, const Platform& platform, Problems& problems);
/// Whether there are network cards that storage could share. The storage is looked up.
void check_storage_network(const ScenarioSpec& scenario, const Platform& platform, Problems& problems);

}  // namespace gradway::config
