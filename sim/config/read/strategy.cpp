// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/scenario_parts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/read/fields.hpp"
#include "sim/scenario/strategy_facts.hpp"
#include "sim/scenario/strategy_words.hpp"

namespace gradway::config {
namespace {

/// A key and the kinds of strategy that have it.
struct KeyAndKinds {
  std::string_view key;
  std::vector<std::string_view> kinds;
};

/// Keys that are errors with other kinds of strategy. DDP's keys are read with every kind, and
/// `check_strategy` reports those without effect.
const std::vector<KeyAndKinds>& keys_and_kinds() {
  static const auto rows = [] {
    std::vector<KeyAndKinds> keys;
    for (const auto& [kind, defaults] : strategy_kinds()) {
      if (std::holds_alternative<Ddp>(defaults)) continue;
      for (const auto& field : record_of(defaults).fields()) {
        auto row = std::ranges::find(keys, field.key, &KeyAndKinds::key);
        if (row == keys.end()) row = keys.insert(keys.end(), {field.key, {}});
        row->kinds.push_back(kind);
      }
    }
    return keys;
  }();
  return rows;
}

void refuse_keys_of_other_kinds(Reader& strategy, std::string_view kind) {
  for (const auto& [key, kinds] : keys_and_kinds()) {
    if (std::ranges::find(kinds, kind) != kinds.end()) continue;
    strategy.forbid(key, fmt::format("'{}' requires strategy.kind {}", key, fmt::join(kinds, " or ")),
                    fmt::format("leave it out, or write 'kind: {}'", kinds.front()));
  }
}

/// Parser of the name of a kind.
auto kind_among(std::string_view thing, const std::vector<StrategyKind>& kinds) {
  return [thing, &kinds](const Node& node) {
    std::vector<std::string_view> names;
    for (const auto& kind : kinds) names.push_back(kind.name);
    return kinds[index_among(thing, names, node)];
  };
}

/// Reads the kind; with local SGD `result` is the strategy of the ranks of one worker. @return whether it is
/// local SGD
bool read_kind(Reader& strategy, Strategy& result) {
  auto kinds = strategy_kinds();
  auto inner = kinds;
  std::erase_if(inner, [](const StrategyKind& kind) { return !trains(kind.defaults); });
  kinds.push_back({"local_sgd", result});
  const auto kind = strategy.optional("kind", kind_among("a strategy", kinds), {"", result});
  result = kind.defaults;
  if (kind.name != "local_sgd") return false;
  result = strategy.optional("inner", kind_among("an inner strategy", inner), {"", result}).defaults;
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
    const bool has_kind = strategy->is_valid();
    read_local_sgd(*strategy, is_local_sgd, spec);
    read_fields(*strategy, spec.ddp);
    if (std::holds_alternative<Ddp>(result)) {
      result = spec.ddp;
    } else {
      read_fields(*strategy, record_of(result));
      if (auto* zero = std::get_if<Zero>(&result)) reset_ineffective_fields(*zero);
    }
    if (has_kind) {  // else the keys of the strategy are unknown
      refuse_keys_of_other_kinds(*strategy, name_of(result));
      strategy->finish("strategy");
    }
  }
  if (auto parallel = scenario.maybe_map("parallel")) {
    read_layout(*parallel, spec.job.layout);
    const auto replicate = parallel->optional("replicate", integer(1, most_ranks), 1);
    if (auto* replicas = replicate_of(result)) {
      *replicas = replicate;
    } else if (replicate > 1) {
      parallel->error(parallel->value_place("replicate"),
                      fmt::format("'replicate' requires a sharded strategy, not kind {}", name_of(result)),
                      "leave it out, or write 'kind: fsdp'");
    }
    parallel->finish("parallel");
  }
}

}  // namespace gradway::config
