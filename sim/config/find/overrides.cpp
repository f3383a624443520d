// SPDX-License-Identifier: Apache-2.0
#include "sim/config/find/resolve.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/config/find/document.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/scenario/strategy_fields.hpp"

namespace gradway::config {
namespace {

Where place_of(const Override& change) {
  if (!change.where.file.empty()) return change.where;
  return in_file(fmt::format("--set {}={}", change.key, change.value));
}

Entry& entry_of(Node& map, const std::string& key, const Where& where) {
  if (auto* found = map.find(key); found != nullptr) return *found;
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

bool is_collective(Node& scenario) {
  const auto* strategy = scenario.find("strategy");
  const auto* kind = strategy != nullptr ? strategy->value.find("kind") : nullptr;
  return kind != nullptr && kind->value.text == "collective";
}

/// A key whose new value makes other keys of the file irrelevant.
struct Replacement {
  std::string_view key;
  bool (*drops)(std::string_view value);
  std::vector<std::string> dropped;
};

/// Both keys determine the number of micro-batches: the one that is set replaces the one in the file.
void drop_other_batch(Node& scenario, const std::vector<Override>& overrides) {
  auto* job = scenario.find("job");
  if (job == nullptr || job->value.kind != Node::Kind::map || is_overridden(overrides, "job")) return;
  for (const auto& [set, other] : {std::pair{"accumulate", "global_batch"}, {"global_batch", "accumulate"}})
    if (is_overridden(overrides, fmt::format("job.{}", set)) &&
        !is_overridden(overrides, fmt::format("job.{}", other)))
      std::erase_if(job->value.entries, [&, name = other](const Entry& entry) { return entry.key == name; });
}

std::vector<std::string> keys_of_ddp() {
  std::vector<std::string> keys;
  for_each_field<Ddp>([&](const auto& field) { keys.emplace_back(field.key); });
  return keys;
}

/// `--set strategy.kind=none` on a DDP scenario removes the file's keys of DDP. Keys that are set as well
/// stay and are checked.
void drop_replaced(Node& scenario, const std::vector<Override>& overrides) {
  static const std::vector<Replacement> replacements = {
      {"kind", [](std::string_view value) { return value == "none" || value == "collective"; },
       keys_of_ddp()},
      {"comm_hook", [](std::string_view value) { return value != "powersgd"; }, {"powersgd_rank"}}};
  if (is_collective(scenario) && is_overridden(overrides, "strategy.kind") &&
      !is_overridden(overrides, "model")) {
    std::erase_if(scenario.entries, [](const Entry& entry) { return entry.key == "model"; });
  }
  auto* strategy = scenario.find("strategy");
  if (strategy == nullptr || is_overridden(overrides, "strategy")) return;
  for (const auto& [key, drops, dropped] : replacements) {
    const auto* value = strategy->value.find(key);
    if (value == nullptr || !is_overridden(overrides, fmt::format("strategy.{}", key)) ||
        !drops(value->value.text))
      continue;
    std::erase_if(strategy->value.entries, [&, &names = dropped](const Entry& entry) {
      return std::ranges::find(names, entry.key) != names.end() &&
             !is_overridden(overrides, "strategy." + entry.key);
    });
  }
}

}  // namespace

void apply_overrides(Node& scenario, const std::vector<Override>& overrides, Problems& problems) {
  if (scenario.kind != Node::Kind::map) return;
  for (const auto& change : overrides) {
    try {
      apply(scenario, change, problems);
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  drop_replaced(scenario, overrides);
  drop_other_batch(scenario, overrides);
}

}  // namespace gradway::config
