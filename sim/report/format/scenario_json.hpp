// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/campaign/local_sgd.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/local_sgd.hpp"
#include "sim/scenario/scenario.hpp"

namespace gradway::report {

/// The keys of a scenario file, defaults included. The result can be run again.
nlohmann::ordered_json scenario_json(const Scenario& scenario);

/// The verdict on a job's memory, in words, and whether the job fits: null if it may not, or if that is
/// unknown.
/// @param is_known whether all activations are; else only that a job does not fit is certain
nlohmann::ordered_json memory_verdict_json(MemoryVerdict verdict, bool is_known = true);
nlohmann::ordered_json fits_json(MemoryVerdict verdict, bool is_known = true);

/// The group `input` of a scenario file. Inline datasets and storage are given in full, others by name.
nlohmann::ordered_json input_json(const InputSettings& input);

/// The group `campaign` of a scenario file, defaults included.
nlohmann::ordered_json campaign_settings_json(const CampaignSettings& settings);

/// The group `strategy` of a scenario file, with every key of the kind. Omits `bucket_cap` if it was not
/// given, because PyTorch's default is not a single number.
nlohmann::ordered_json strategy_json(const Strategy& strategy);

/// Adds the keys of local SGD to those of the inner strategy, in the form of a scenario file.
void add_local_sgd_keys(nlohmann::ordered_json& strategy, const LocalSgd& settings);

/// The outer loop of local SGD: what workers exchange after their inner steps, in full precision.
nlohmann::ordered_json outer_loop_json(const OuterLoop& loop, const LocalSgd& settings);

}  // namespace gradway::report
