// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/read/read.hpp"

namespace gradway::config {

/// Replaces values of the scenario in order; a later override wins. The place of a value becomes that of its
/// override. Setting the kind of strategy or the hook removes the file's keys of the old one.
void apply_overrides(Node& scenario, const std::vector<Override>& overrides, Problems& problems);

/// Sets precision and optimizer to those of the profile, unless the scenario sets them.
void apply_profile_defaults(ScenarioSpec& scenario, const Profile& profile);

/// Replaces the model's anchors of the same GPU and precision by the scenario's anchor.
void apply_anchor(const ScenarioSpec& scenario, Model& model);
/// Builds the model's layers for the job's framework, sequence length and adapters. Removes anchors of
/// another sequence length.
void apply_job(const Job& job, Model& model);

/// Warning if the scenario's anchor has another GPU or precision than the job and is therefore not used.
std::optional<Warning> unused_anchor(const ScenarioSpec& scenario, const Gpu& gpu);

/// Cross-checks the contents of several files. Problems are reported at the place in the scenario, with a
/// note at the conflicting one. @pre all specs were read without problems
void check_scenario(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    const GpuSpec& gpu, Problems& problems);

/// Checks that both ends of other jobs' traffic are devices of the platform with a path between them.
void check_traffic(const ScenarioSpec& scenario, const Platform& platform, Problems& problems);
/// Checks that the platform has NICs that storage can share. @pre the storage has been read
void check_storage_network(const ScenarioSpec& scenario, const Platform& platform, Problems& problems);

}  // namespace gradway::config
