// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/read/read.hpp"

namespace gradway::config {

/// Reads the maps `strategy` and `parallel` of a scenario, if they exist.
void read_strategy(Reader& scenario, ScenarioSpec& spec);

/// Reads the keys of local SGD, or reports them for other kinds. @param is_local_sgd whether strategy.kind
/// says so
void read_local_sgd(Reader& strategy, bool is_local_sgd, ScenarioSpec& spec);

/// Reads the map `campaign` of a scenario, if it exists.
void read_campaign(Reader& scenario, ScenarioSpec& spec);

/// Reads the keys of a campaign that changes in its course.
void read_over_time(Reader& campaign, CampaignSettings& settings);

/// Checks them against the job and each other.
void check_over_time(const ScenarioSpec& scenario, Problems& problems);

/// A part of the campaign's data, with the changes of a phase.
struct DataPhase {
  std::optional<double> until{};  ///< tokens or samples; empty: the rest
  std::vector<PhaseKey> set{};
};

/// The phases by amounts of data, one for each global batch of a growing batch, and the rest of the campaign.
/// @param batch global batch of the job, up to which the last phase grows
std::vector<DataPhase> data_phases(const CampaignSettings& settings, int batch);

/// Checks the campaign against the model and the job.
void check_campaign(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    Problems& problems);

}  // namespace gradway::config
