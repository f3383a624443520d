// SPDX-License-Identifier: Apache-2.0
// Keys without effect, by the rows of their tables.
#include <algorithm>

#include <fmt/format.h>

#include "sim/config/check/check.hpp"
#include "sim/scenario/campaign_fields.hpp"
#include "sim/scenario/input_fields.hpp"
#include "sim/scenario/job_fields.hpp"
#include "sim/scenario/layout_fields.hpp"
#include "sim/scenario/network_fields.hpp"
#include "sim/scenario/strategy_fields.hpp"

namespace gradway::config {
namespace {

struct CheckEffects {
  const ScenarioSpec& scenario;
  const KeyContext& context;
  Problems& problems;

  /// @param group prefix of the keys, such as "job."
  template <class Settings>
  void operator()(std::string_view group, const Settings& settings) const {
    for_each_row<Settings>([&](const auto& row) {
      const auto key = fmt::format("{}{}", group, row.key);
      if (!must_have_effect(scenario, key)) return;
      Lack lack;
      if constexpr (is_custom_field_v<decltype(row)>) {
        if (row.lack != nullptr) lack = row.lack(context);
      } else if (row.traits.lack != nullptr && !has_default(row, settings)) {
        lack = row.traits.lack(context);
      }
      if (!lack.why.empty())
        problems.add(scenario.place(key), fmt::format("{} has no effect: {}", key, lack.why),
                     std::string{lack.remedy});
    });
  }

  template <class Settings>
  void operator()(std::string_view group, const std::optional<Settings>& settings) const {
    if (settings) (*this)(group, *settings);
  }
};

}  // namespace

bool must_have_effect(const ScenarioSpec& scenario, const std::string& key) {
  if (!scenario.given.contains(key)) return false;
  enum class Given { in_file, typed, varied };
  const auto how = [](const Where& where) {
    if (where.file.starts_with("--vary ") || where.file.starts_with("--platforms ")) return Given::varied;
    return where.file.starts_with("--") ? Given::typed : Given::in_file;
  };
  const auto source = how(scenario.place(key));
  return std::ranges::none_of(scenario.given, [&](const auto& entry) { return how(entry.second) > source; });
}

void check_effects(const ScenarioSpec& scenario, const ModelSpec& model, const Platform* platform,
                   Problems& problems) {
  const auto& job = scenario.job;
  const auto campaign = scenario.campaign.value_or(CampaignSettings{});
  const KeyContext context{job, model.model, platform, campaign};
  const CheckEffects check{scenario, context, problems};
  check("job.", job);
  check("parallel.", job.layout);
  check("input.", job.input);
  check("network.", job.network);
  std::visit([&](const auto& strategy) { check("strategy.", strategy); }, job.strategy);
  check("campaign.", campaign);
  check("campaign.checkpoint.", campaign.checkpoint);
  check("campaign.restart.", campaign.restart);
  check("campaign.failures.", campaign.failures);
  check("campaign.spot.", campaign.spot);
  check("campaign.stragglers.", campaign.stragglers);
}

}  // namespace gradway::config
