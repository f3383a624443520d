// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/platform/platform.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/job.hpp"
#include "sim/workload/model.hpp"

namespace gradway {

/// On what it depends whether a key of a scenario has an effect.
struct KeyContext {
  const Job& job;
  const Model& model;
  const Platform* platform;          ///< null: not known yet, so that nothing depends on it
  const CampaignSettings& campaign;  ///< the defaults, if the scenario has none
};

}  // namespace gradway
