// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/strategy.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/local_sgd.hpp"
#include "sim/scenario/layout_fields.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_fields.hpp"

namespace gradway::config {
namespace {

/// The kinds of strategy whose tables have a key.
struct KeyOfKinds {
  std::string_view key;
  std::vector<std::string_view> kinds;
};

/// Keys that are refused where a strategy of another kind stands. Those of DDP are read whatever the kind: a
/// job may have them where they mean nothing yet, and `resolve` says so.
const std::vector<KeyOfKinds>& keys_of_kinds() {
  static const auto all = [] {
    std::vector<KeyOfKinds> keys;
    for_each_strategy([&]<class Settings>(std::type_identity<Settings>, std::string_view kind) {
      if constexpr (std::is_same_v<Settings, Ddp>) return;
      for_each_field<Settings>([&](const auto& field) {
        auto found = std::ranges::find(keys, field.key, &KeyOfKinds::key);
        if (found == keys.end()) found = keys.insert(keys.end(), {field.key, {}});
        found->kinds.push_back(kind);
      });
    });
    return keys;
  }();
  return all;
}

void refuse_others(Reader& strategy, std::string_view kind) {
  for (const auto& [key, kinds] : keys_of_kinds()) {
    if (std::ranges::find(kinds, kind) != kinds.end()) continue;
    strategy.forbid(key, fmt::format("only a strategy of kind {} has '{}'", fmt::join(kinds, " or "), key),
                    fmt::format("leave it out, or write 'kind: {}'", kinds.front()));
  }
}

struct NamedStrategy {
  Strategy strategy{};
  bool is_local_sgd = false;
};

/// Of local SGD the strategy is that of the ranks of one worker. @return whether it is
bool read_kind(Reader& strategy, Strategy& result) {
  std::vector<Choice<NamedStrategy>> kinds;
  std::vector<Choice<Strategy>> inner;
  for_each_strategy([&]<class Settings>(std::type_identity<Settings>, std::string_view name) {
    kinds.push_back({name, {Settings{}}});
    if (trains(Settings{})) inner.push_back({name, Settings{}});
  });
  kinds.push_back({"local_sgd", {result, true}});
  const auto kind = strategy.optional(
      "kind", one_of("a strategy", std::span<const Choice<NamedStrategy>>{kinds}), {result});
  result = kind.strategy;
  if (!kind.is_local_sgd) return false;
  result = strategy.optional("inner", one_of("an inner strategy", std::span<const Choice<Strategy>>{inner}),
                             result);
  return true;
}

void read_layout(Reader& parallel, Layout& layout) {
  read_fields(parallel, layout);
  const bool is_v_shaped = layout.schedule == Schedule::zb_v || layout.schedule == Schedule::dual_pipe_v;
  if (is_v_shaped && !parallel.has("virtual")) layout.chunks = 2;
}

}  // namespace

void read_strategy(Reader& scenario, ScenarioSpec& spec) {
  auto& result = spec.job.strategy;
  if (auto strategy = scenario.maybe_map("strategy")) {
    const bool is_local_sgd = read_kind(*strategy, result);
    const bool has_kind = strategy->sound();
    read_local_sgd(*strategy, is_local_sgd, spec);
    read_fields(*strategy, spec.ddp);
    std::visit(
        [&]<class Settings>(Settings& settings) {
          if constexpr (std::is_same_v<Settings, Ddp>) {
            settings = spec.ddp;
          } else {
            read_fields(*strategy, settings);
            if constexpr (std::is_same_v<Settings, Zero>) forget_what_does_not_count(settings);
          }
        },
        result);
    if (has_kind) {  // else nobody knows which keys belong there
      refuse_others(*strategy, name_of(result));
      strategy->finish("strategy");
    }
  }
  if (auto parallel = scenario.maybe_map("parallel")) {
    read_layout(*parallel, spec.job.layout);
    const auto replicate = parallel->optional("replicate", integer(1, strategy_values::most_ranks), 1);
    if (auto* replicas = replicate_of(result)) {
      *replicas = replicate;
    } else if (replicate > 1) {
      parallel->error(parallel->value_place("replicate"),
                      fmt::format("a strategy of kind {} has no groups to repeat", name_of(result)),
                      "leave it out, or write 'kind: fsdp'");
    }
    parallel->finish("parallel");
  }
}

}  // namespace gradway::config
