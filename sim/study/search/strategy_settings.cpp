// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/strategy_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/study/ask/values_to_try.hpp"

namespace gradway {
bool StrategySetting::is_same(const Strategy& first, const Strategy& second) const {
  auto changed = first;
  assign(changed, second);
  return changed == first;
}

std::vector<StrategySetting> strategy_settings(const Scenario& scenario) {
  const auto& strategy = scenario.job.strategy;
  std::vector<StrategySetting> settings;
  const auto add = [&](std::string_view group, std::string_view name) {
    auto& setting = settings.emplace_back(
        StrategySetting{.name = std::string{name}, .key = fmt::format("{}.{}", group, name), .values = {}});
    setting.is_prefetch = name == "forward_prefetch" || name == "backward_prefetch";
    for (auto& text : values_to_try(scenario, setting.key)) {
      auto changed = strategy;
      set_key(changed, name, text);
      setting.values.push_back({std::move(text), changed});
    }
  };
  for (const auto& field : record_of(strategy).fields())
    if (field.tries.has_any()) add("strategy", field.key);
  if (replicate_of(strategy) != nullptr) add("parallel", "replicate");
  return settings;
}

Strategy framework_defaults(const std::vector<StrategySetting>& settings, Strategy strategy) {
  for (const auto& setting : settings) setting.assign(strategy, setting.values.front().strategy);
  return strategy;
}

namespace {

struct IsConsistent {
  int gpus;

  bool operator()(const auto&) const { return true; }
  bool operator()(const Fsdp& fsdp) const {
    const bool is_fsdp2 =
        fsdp.forward_prefetch > 0 || fsdp.backward_prefetch > 0 || fsdp.reshard > Fsdp::kept;
    if (fsdp.megatron_fsdp && is_fsdp2) return false;
    return !fsdp.reshard || *fsdp.reshard <= Fsdp::kept || gpus / fsdp.replicate % *fsdp.reshard == 0;
  }
  bool operator()(const DistributedOptimizer& optimizer) const {
    return !optimizer.overlap_param_gather || optimizer.overlap_grad_reduce;
  }
};

struct Simplify {
  int gpus;

  void operator()(auto&) const {}
  void operator()(Fsdp& fsdp) const {
    if (fsdp.reshard == gpus / fsdp.replicate) fsdp.reshard = Fsdp::over_all;
    if (fsdp.backward_prefetch == 1) fsdp.backward_prefetch = 0;
    if (fsdp.wrap.blocks > 0) return;
    if (fsdp.reshard == Fsdp::kept) fsdp.reshard.reset();
    fsdp.forward_prefetch = fsdp.backward_prefetch = 0;
  }
  void operator()(Zero& zero) const {
    if (zero.overlap_comm == Zero{.stage = zero.stage}.overlaps()) zero.overlap_comm.reset();
    if (zero.stage < 3) zero.prefetch_bucket_size = Zero{}.prefetch_bucket_size;
  }
};

}  // namespace

bool is_consistent(const Strategy& strategy, int gpus) {
  return std::visit(IsConsistent{gpus}, strategy);
}

Strategy simplest(Strategy strategy, int gpus) {
  std::visit(Simplify{gpus}, strategy);
  return strategy;
}

std::vector<std::pair<std::string, std::string>> chosen_values(const std::vector<StrategySetting>& settings,
                                                               const Strategy& strategy) {
  std::vector<std::pair<std::string, std::string>> chosen;
  for (const auto& setting : settings) {
    const auto value = std::ranges::find_if(setting.values, [&](const SettingValue& listed) {
      return setting.is_same(strategy, listed.strategy);
    });
    if (value != setting.values.end()) chosen.emplace_back(setting.name, value->text);
  }
  return chosen;
}

}  // namespace gradway
