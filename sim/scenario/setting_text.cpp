// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/setting_text.hpp"

#include <variant>

#include "sim/scenario/job_fields.hpp"
#include "sim/scenario/layout_fields.hpp"
#include "sim/scenario/strategy_fields.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway {
namespace {

template <class Settings>
std::string member_text(const Settings& settings, std::string_view key) {
  std::string text;
  for_each_field<Settings>([&](const auto& field) {
    if (field.key == key && !has_default(field, settings))
      text = value_text(field.kind, settings.*field.member);
  });
  return text;
}

}  // namespace

std::string setting_text(const Job& job, std::string_view key) {
  const auto dot = key.find('.') + 1;  // 0 without one
  const auto group = key.substr(0, dot);
  key.remove_prefix(dot);
  if (group == "job.") return member_text(job, key);
  if (group == "parallel.") return member_text(job.layout, key);
  if (group != "strategy.") return "";
  if (key == "kind") return std::string{name_of(job.strategy)};
  return std::visit([&](const auto& strategy) { return member_text(strategy, key); }, job.strategy);
}

}  // namespace gradway
