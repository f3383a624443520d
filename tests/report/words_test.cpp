// SPDX-License-Identifier: Apache-2.0
// Descriptions of strategies: two that differ in an effective key have different descriptions.
#include <catch2/catch.hpp>

#include "sim/report/format/words.hpp"
#include "sim/scenario/layout_fields.hpp"
#include "sim/scenario/strategy_fields.hpp"

using namespace gradway;

namespace {

/// Another valid value of the same type.
template <class Value>
Value another(const Value& value) {
  if constexpr (is_optional_v<Value>) {
    using Inner = typename Value::value_type;
    return value ? Value{} : Value{another(Inner{})};
  } else if constexpr (std::is_same_v<Value, bool>) {
    return !value;
  } else if constexpr (std::is_enum_v<Value>) {
    return static_cast<Value>(static_cast<int>(value) == 0 ? 1 : 0);
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return 2 * value + 1;
  } else if constexpr (std::is_same_v<Value, ExpertRows>) {
    return value.empty() ? ExpertRows{{1, 3}} : ExpertRows{};
  } else if constexpr (std::is_same_v<Value, Wrap>) {
    return Wrap{value.blocks + 1};
  } else if constexpr (std::is_same_v<Value, std::array<RankAxis, 5>>) {
    return Value{value[1], value[0], value[2], value[3], value[4]};
  } else {
    return Value{value.value() + 1};
  }
}

/// Settings under which all keys of the table have an effect.
template <class Settings>
Settings where_all_count() {
  Settings settings;
  if constexpr (std::is_same_v<Settings, Zero>) settings.stage = 3;
  if constexpr (std::is_same_v<Settings, Ddp>) {
    settings.comm_hook = CommHook::powersgd;
    settings.zero_redundancy = true;
  }
  return settings;
}

/// Keys that cannot be changed alone.
bool depends(std::string_view key) {
  return key == "comm_hook" || key == "grad_accum_dtype" || key == "overlap_comm";
}

}  // namespace

TEST_CASE("strategies that differ in a key have different descriptions", "[report][words]") {
  int keys = 0;
  for_each_strategy([&]<class Settings>(std::type_identity<Settings>, std::string_view kind) {
    for_each_field<Settings>([&](const auto& field) {
      if (depends(field.key)) return;
      CAPTURE(kind, field.key);
      const auto one = where_all_count<Settings>();
      auto other = one;
      other.*field.member = another(one.*field.member);
      ++keys;
      CHECK(report::describe(Strategy{other}) != report::describe(Strategy{one}));
    });
  });
  CHECK(keys > 35);
}

TEST_CASE("layouts that differ in a key have different descriptions", "[report][words]") {
  Job job;
  job.gpus = 256;
  job.layout = {.tensor = 2, .context = 2, .pipeline = 2, .expert = 2};
  const auto one = report::describe(job.layout, job);
  for_each_field<Layout>([&](const auto& field) {
    CAPTURE(field.key);
    auto other = job.layout;
    other.*field.member = another(job.layout.*field.member);
    CHECK(report::describe(other, job) != one);
  });
}
