// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/study/campaign/campaign_estimate.hpp"

namespace gradway::report {

/// Figures of many runs of a campaign, with full precision.
nlohmann::ordered_json campaign_estimate_json(const CampaignEstimate& estimate);

}  // namespace gradway::report
