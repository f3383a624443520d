// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/campaign/simulate_campaign.hpp"

namespace gradway {

/// Plays a campaign round by round: the server asks some of the clients that are there, and takes the first
/// updates, as many as its target, or what has come at the deadline. Whoever drops out does so somewhere on
/// its way. Of a round the time goes to the client that ended it: what the fastest class' compute takes
/// counts, the rest of its compute is that of a straggler; what came after it is thrown away.
/// @pre the plan has rounds
CampaignRun simulate_rounds(const CampaignPlan& plan, int seed);

}  // namespace gradway
