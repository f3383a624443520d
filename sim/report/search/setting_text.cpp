// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search/setting_text.hpp"

#include <algorithm>

#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/scenario/value_text.hpp"

namespace gradway {
namespace {

std::string member_text(const Record& settings, std::string_view key) {
  const auto field = std::ranges::find(settings.fields(), key, &Field::key);
  if (field == settings.fields().end() || field->is_custom || settings.has_default(*field)) return "";
  return value_text(field->kind, settings.value(*field));
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
  return member_text(record_of(job.strategy), key);
}

}  // namespace gradway
