// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/campaign_phases.hpp"

#include <algorithm>
#include <cmath>

#include "sim/config/read/scenario_parts.hpp"

namespace gradway::config {
namespace {

void add_overrides(std::vector<Override>& changes, const std::vector<PhaseKey>& set) {
  for (const auto& phase_key : set) {
    const auto* replaced = phase_key.key == "job.global_batch" ? "job.accumulate"
                           : phase_key.key == "job.accumulate" ? "job.global_batch"
                                                               : "";
    std::erase_if(changes, [&](const Override& change) { return change.key == replaced; });
    changes.push_back({phase_key.key, phase_key.value, phase_key.where});
  }
}

}  // namespace

std::vector<PhaseOverrides> phase_overrides(const Scenario& scenario,
                                            const std::vector<Override>& overrides) {
  const auto& settings = *scenario.campaign;
  std::vector<std::vector<PhaseKey>> hours;
  for (const auto& phase : settings.phases)
    if (phase.from) hours.push_back(phase.set);
  hours.push_back({});  // all other hours
  std::vector<std::vector<PhaseKey>> tiers{{}};
  if (settings.storage)
    for (const auto& tier : settings.storage->tiers)
      tiers.push_back({{"input.storage", tier, settings.storage->at}});
  std::vector<PhaseOverrides> phases;
  for (const auto& data_phase :
       data_phases(settings, static_cast<int>(std::lround(scenario.job.samples())))) {
    auto& phase = phases.emplace_back(PhaseOverrides{data_phase.until, {}});
    for (const auto& hour : hours) {
      for (const auto& tier : tiers) {
        auto& changes = phase.steps.emplace_back(overrides);
        changes.push_back({"campaign.phases", "[]", {}});  // of this phase, nothing changes any more
        for (const auto* set : {&data_phase.set, &hour, &tier}) add_overrides(changes, *set);
      }
    }
  }
  return phases;
}

}  // namespace gradway::config
