// SPDX-License-Identifier: Apache-2.0
#include "sim/study/ask/values_to_try.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/key_context.hpp"

namespace gradway {

std::vector<std::string> values_to_try(const Scenario& scenario, std::string_view key) {
  const std::array<std::pair<std::string_view, const FieldTable*>, 6> groups{
      {{"strategy", &record_of(scenario.job.strategy).fields()},
       {"parallel", &fields_of<Layout>()},
       {"input", &fields_of<InputSettings>()},
       {"campaign", &fields_of<CampaignSettings>()},
       {"campaign.spot", &fields_of<SpotSettings>()},
       {"campaign.checkpoint", &fields_of<CheckpointSettings>()}}};
  const auto dot = key.rfind('.');
  const auto group =
      std::ranges::find(groups, key.substr(0, dot), &std::pair<std::string_view, const FieldTable*>::first);
  expects(group != groups.end(), "the key is in a group with values to try");
  const auto field = std::ranges::find(*group->second, key.substr(dot + 1), &Field::key);
  if (field == group->second->end()) return {};
  static const CampaignSettings none{};
  return field->tries.values(
      {scenario.job, scenario.model, &scenario.platform, scenario.campaign ? *scenario.campaign : none});
}

}  // namespace gradway
