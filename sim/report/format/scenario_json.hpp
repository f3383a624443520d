// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "sim/campaign/local_sgd.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/local_sgd.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway::report {

/// The keys of a scenario file, defaults included, so that it can be run again.
nlohmann::ordered_json scenario_json(const Scenario& scenario);

/// The `input` of a scenario, as a scenario gives it: a dataset or storage of its own in full, others by
/// their names.
nlohmann::ordered_json input_json(const InputSettings& input);

/// The group `campaign` as a scenario could have it, defaults included.
nlohmann::ordered_json campaign_settings_json(const CampaignSettings& settings);

/// A strategy as scenarios write it, with every key that the kind has. A bucket cap that was not given stays
/// out: PyTorch's default is not one number.
nlohmann::ordered_json strategy_json(const Strategy& strategy);

/// Adds the keys of workers that seldom meet to those of their strategy, as a scenario has them.
void add_local_sgd_keys(nlohmann::ordered_json& strategy, const LocalSgd& settings);

/// What workers do every so many steps, with full precision.
nlohmann::ordered_json outer_loop_json(const OuterLoop& loop, const LocalSgd& settings);

}  // namespace gradway::report
