// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/scenario/campaign.hpp"

namespace gradway::report {

/// The group `campaign` as a scenario could have it, defaults included.
nlohmann::ordered_json campaign_settings_json(const CampaignSettings& settings);

}  // namespace gradway::report
