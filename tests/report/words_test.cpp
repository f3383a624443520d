// SPDX-License-Identifier: Apache-2.0
// Descriptions of strategies: two that differ in an effective key have different descriptions.
#include <catch2/catch.hpp>

#include "sim/report/format/words.hpp"
#include "sim/scenario/field_tables.hpp"

using namespace gradway;

namespace {

/// Another valid value of the key.
FieldValue another(const Field& field, const FieldValue& value) {
  if (field.is_optional) return is_empty(value) ? FieldValue{std::int64_t{1}} : std::monostate{};
  if (const auto* flag = std::get_if<bool>(&value)) return !*flag;
  if (const auto* order = std::get_if<std::vector<std::int64_t>>(&value))
    return std::vector{order->at(1), order->at(0), order->at(2), order->at(3), order->at(4)};
  if (const auto* rows = std::get_if<ExpertRows>(&value))
    return rows->empty() ? ExpertRows{{1, 3}} : ExpertRows{};
  if (std::holds_alternative<std::string>(value)) return std::string{"Et|t*2L"};
  if (std::holds_alternative<value::Words>(field.kind)) return std::int64_t{whole_in(value) == 0};
  return 2 * number_in(value) + 1;
}

/// Settings under which all keys of the table have an effect.
Strategy where_all_count(Strategy strategy) {
  if (auto* zero = std::get_if<Zero>(&strategy)) zero->stage = 3;
  if (auto* ddp = std::get_if<Ddp>(&strategy)) {
    ddp->comm_hook = CommHook::powersgd;
    ddp->zero_redundancy = true;
  }
  return strategy;
}

/// Keys that cannot be changed alone.
bool depends(std::string_view key) {
  return key == "comm_hook" || key == "grad_accum_dtype" || key == "overlap_comm";
}

}  // namespace

TEST_CASE("strategies that differ in a key have different descriptions", "[report][words]") {
  int keys = 0;
  for (const auto& [kind, defaults] : strategy_kinds()) {
    const auto one = where_all_count(defaults);
    for (const auto& field : record_of(one).fields()) {
      if (depends(field.key)) continue;
      CAPTURE(kind, field.key);
      auto other = one;
      record_of(other).assign(field, another(field, record_of(one).value(field)));
      ++keys;
      CHECK(report::describe(other) != report::describe(one));
    }
  }
  CHECK(keys > 35);
}

TEST_CASE("layouts that differ in a key have different descriptions", "[report][words]") {
  Job job;
  job.gpus = 256;
  job.layout = {.tensor = 2, .context = 2, .pipeline = 2, .expert = 2};
  const auto one = report::describe(job.layout, job);
  const Record settings{job.layout};
  for (const auto& field : settings.fields()) {
    if (field.is_custom) continue;
    CAPTURE(field.key);
    auto other = job.layout;
    MutableRecord{other}.assign(field, another(field, settings.value(field)));
    CHECK(report::describe(other, job) != one);
  }
}
