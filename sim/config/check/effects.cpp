// SPDX-License-Identifier: Apache-2.0
// Keys without effect, by the rows of their tables.
#include <algorithm>

#include <fmt/format.h>

#include "sim/config/check/check.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/key_context.hpp"

namespace gradway::config {
namespace {

struct CheckEffects {
  const ScenarioSpec& scenario;
  const KeyContext& context;
  Problems& problems;

  /// @param group prefix of the keys, such as "job."
  void operator()(std::string_view group, const Record& settings) const {
    for (const auto& field : settings.fields()) {
      const auto key = fmt::format("{}{}", group, field.key);
      if (std::holds_alternative<value::Map>(field.kind) && field.is_group())
        for (const auto& inner : settings.groups(field)) (*this)(key + ".", inner);
      if (field.lack == nullptr || !must_have_effect(scenario, key) ||
          (!field.is_custom && settings.has_default(field)))
        continue;
      const auto lack = field.lack(context);
      if (!lack.why.empty())
        problems.add(scenario.place(key), fmt::format("{} has no effect: {}", key, lack.why),
                     std::string{lack.remedy});
    }
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

bool states_default(const Job& job, std::string_view key) {
  const Record settings{job};
  return std::ranges::any_of(settings.fields(), [&](const Field& field) {
    return key == fmt::format("job.{}", field.key) && !field.is_custom && settings.has_default(field);
  });
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
  check("strategy.", record_of(job.strategy));
  check("campaign.", campaign);
}

}  // namespace gradway::config
