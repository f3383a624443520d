// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/campaign/campaign.hpp"

namespace gradway::report {

/// Writes the course of a campaign in phases: its throughput, batch and storage over time, and each phase
/// under each of its conditions. Nothing for other campaigns.
void write_over_time(std::ostream& out, const Campaign& campaign, const Style& style);

/// "22,900 steps (18,100 to 35,700); ..." @pre the campaign has a critical batch
std::string target_in_words(const Campaign& campaign);

}  // namespace gradway::report
