// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/resolve.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/config/find/document.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/layout.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway::config {
namespace {

Where place_of(const Override& change) {
  if (!change.where.file.empty()) return change.where;
  return in_file(fmt::format("--set {}={}", change.key, change.value));
}

Entry& entry_of(Node& map, const std::string& key, const Where& where) {
  if (auto* entry = map.find(key); entry != nullptr) return *entry;
  map.entries.push_back(Entry{key, where, Node{.kind = Node::Kind::null, .where = where}});
  return map.entries.back();
}

void apply(Node& scenario, const Override& change, Problems& problems) {
  const auto where = place_of(change);
  check_scenario_key(change.key, where);
  problems.add_to_digest(change.key);
  auto value = parse_yaml(SourceText{where, change.value}, problems);
  auto dot = change.key.find('.');
  auto* entry = &entry_of(scenario, change.key.substr(0, dot), where);
  if (entry->key == "model" && dot != std::string::npos && entry->value.kind == Node::Kind::scalar)
    entry->value = Node{.kind = Node::Kind::map,
                        .where = entry->value.where,
                        .entries = {Entry{"based_on", entry->where, entry->value}}};
  while (dot != std::string::npos) {
    if (entry->value.kind == Node::Kind::null) entry->value = Node{.kind = Node::Kind::map, .where = where};
    if (entry->value.kind != Node::Kind::map) return;  // the reader of the group reports it
    const auto from = dot + 1;
    dot = change.key.find('.', from);
    entry =
        &entry_of(entry->value, change.key.substr(from, dot == std::string::npos ? dot : dot - from), where);
  }
  entry->where = where;
  entry->value = std::move(value);
}

bool is_overridden(const std::vector<Override>& overrides, const std::string& key) {
  return std::ranges::find(overrides, key, &Override::key) != overrides.end();
}

/// The value of a key of a group; "" if it is not there.
std::string text_of(Node& scenario, const std::string& group, const std::string& key) {
  const auto* map = scenario.find(group);
  const auto* entry = map != nullptr ? map->value.find(key) : nullptr;
  return entry != nullptr ? entry->value.text : "";
}

bool is_collective(Node& scenario) {
  return text_of(scenario, "strategy", "kind") == "collective";
}

/// Removes keys of a group. Keys that are set as well stay and are checked.
void drop(Node& scenario, const std::vector<Override>& overrides, const std::string& group,
          const std::function<bool(const std::string& key)>& is_dropped) {
  auto* map = scenario.find(group);
  if (map == nullptr || is_overridden(overrides, group)) return;
  std::erase_if(map->value.entries, [&](const Entry& entry) {
    return is_dropped(entry.key) && !is_overridden(overrides, fmt::format("{}.{}", group, entry.key));
  });
}

/// A key whose new value makes other keys of its group in the file irrelevant.
struct Replacement {
  std::string group;
  std::string key;
  bool (*drops)(std::string_view value);
  std::vector<std::string> dropped;
};

bool is_one(std::string_view value) {
  return value == "1";
}

bool has_one_chunk_or_two(std::string_view schedule) {
  return schedule != name_of(Schedule::interleaved) && schedule != name_of(Schedule::looped_bfs);
}

const std::vector<Replacement>& replacements() {
  static const std::vector<Replacement> table = {
      {"strategy", "comm_hook", [](std::string_view hook) { return hook != "powersgd"; }, {"powersgd_rank"}},
      {"job", "fused_loss", [](std::string_view value) { return value == "true"; }, {"float_logits"}},
      {"job", "precision", [](std::string_view value) { return value.ends_with("32"); }, {"float_logits"}},
      {"parallel", "tensor", is_one, {"sequence", "overlap"}},
      {"parallel", "pipeline", is_one, {"virtual", "schedule", "messages"}},
      {"parallel", "schedule", has_one_chunk_or_two, {"virtual"}},
      {"parallel", "virtual", is_one, {"messages"}},
      {"parallel", "context", is_one, {"context_method"}},
      {"parallel",
       "expert",
       is_one,
       {"expert_imbalance", "expert_skew", "expert_rows", "expert_dispatch", "fp8_dispatch"}}};
  return table;
}

/// The kinds of strategy whose keys a scenario may have.
std::vector<std::string> kinds_of(Node& scenario) {
  const auto kind = text_of(scenario, "strategy", "kind");
  if (kind.empty()) return {"ddp"};
  if (kind != "local_sgd") return {kind};
  const auto inner = text_of(scenario, "strategy", "inner");
  return {kind, inner.empty() ? "ddp" : inner};
}

/// Whether the key belongs to these kinds of strategy, but not, with the same values, to the others.
bool is_only_of(const std::string& key, const std::vector<std::string>& kinds,
                const std::vector<std::string>& other_kinds) {
  bool is_of_kinds = false;
  for (const auto& row : described_keys()) {
    if (row.name != "strategy." + key) continue;
    const auto has = [&row](const std::string& kind) {
      return row.strategies.empty() || std::ranges::find(row.strategies, kind) != row.strategies.end();
    };
    if (!std::ranges::any_of(kinds, has)) continue;
    if (std::ranges::any_of(other_kinds, has)) return false;
    is_of_kinds = true;
  }
  return is_of_kinds;
}

/// Both keys determine the number of micro-batches: the one that is set replaces the one in the file.
void drop_other_batch(Node& scenario, const std::vector<Override>& overrides) {
  auto* job = scenario.find("job");
  if (job == nullptr || job->value.kind != Node::Kind::map || is_overridden(overrides, "job")) return;
  for (const auto& [set, replaced] :
       {std::pair{"accumulate", "global_batch"}, {"global_batch", "accumulate"}})
    if (is_overridden(overrides, fmt::format("job.{}", set)) &&
        !is_overridden(overrides, fmt::format("job.{}", replaced)))
      std::erase_if(job->value.entries,
                    [&, name = replaced](const Entry& entry) { return entry.key == name; });
}

/// Whether ranks of this kind of strategy form replicas of sharded groups.
bool has_replicas(const std::string& kind) {
  return std::ranges::any_of(strategy_kinds(), [&](const StrategyKind& known) {
    return known.name == kind && replicate_of(known.defaults) != nullptr;
  });
}

/// Removes what the file says, but what does not fit to what is set: `--set strategy.kind=fsdp` on a DDP
/// scenario removes the file's keys of DDP.
/// @param kinds whose keys the file may have
void drop_replaced(Node& scenario, const std::vector<Override>& overrides,
                   const std::vector<std::string>& kinds) {
  if (is_overridden(overrides, "strategy.kind")) {
    if (is_collective(scenario) && !is_overridden(overrides, "model"))
      std::erase_if(scenario.entries, [](const Entry& entry) { return entry.key == "model"; });
    const auto new_kinds = kinds_of(scenario);
    drop(scenario, overrides, "strategy",
         [&](const std::string& key) { return is_only_of(key, kinds, new_kinds); });
    if (!std::ranges::any_of(new_kinds, has_replicas))
      drop(scenario, overrides, "parallel", [](const std::string& key) { return key == "replicate"; });
  }
  for (const auto& [group, key, drops, dropped] : replacements()) {
    if (!is_overridden(overrides, fmt::format("{}.{}", group, key)) || !drops(text_of(scenario, group, key)))
      continue;
    drop(scenario, overrides, group, [&names = dropped](const std::string& candidate) {
      return std::ranges::count(names, candidate) > 0;
    });
  }
}

}  // namespace

void apply_overrides(Node& scenario, const std::vector<Override>& overrides, Problems& problems) {
  if (scenario.kind != Node::Kind::map) return;
  const auto kinds = kinds_of(scenario);
  for (const auto& change : overrides) {
    try {
      apply(scenario, change, problems);
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  drop_replaced(scenario, overrides, kinds);
  drop_other_batch(scenario, overrides);
}

}  // namespace gradway::config
