// SPDX-License-Identifier: Apache-2.0
#include "sim/config/set_keys.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/parse_value.hpp"
#include "sim/config/yaml/source_file.hpp"
#include "sim/cost/nccl_settings.hpp"
#include "sim/platform/with_network.hpp"
#include "sim/platform/with_speeds.hpp"
#include "sim/scenario/field_tables.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

config::Node node_of(std::string_view key, const std::string& text) {
  return {.kind = config::Node::Kind::scalar,
          .text = text,
          .where = config::in_file(fmt::format("{}={}", key, text))};
}

/// The row of a key that fills a member; null: the settings have no such key.
const Field* field_of(const Record& settings, std::string_view key) {
  const auto field = std::ranges::find(settings.fields(), key, &Field::key);
  return field == settings.fields().end() || field->is_custom ? nullptr : &*field;
}

/// Sets the member of a key, or resets it if the text is empty. @return whether these settings have the key
bool set_field(MutableRecord settings, std::string_view key, const std::string& text) {
  const auto* field = field_of(settings, key);
  if (field == nullptr) return false;
  settings.assign(
      *field, text.empty() ? field->default_value() : config::parse_value(field->kind, node_of(key, text)));
  return true;
}

std::optional<StorageTier> tier_of(const std::string& name, const std::vector<StorageTier>& tiers) {
  const auto tier = std::ranges::find(tiers, name, &StorageTier::name);
  return tier == tiers.end() ? std::nullopt : std::optional{*tier};
}

/// The part of a key after the name of its group; empty if the key is not in this group.
std::string_view key_in(std::string_view group, std::string_view key) {
  return key.starts_with(group) ? key.substr(group.size()) : std::string_view{};
}

bool set_input(InputSettings& input, std::string_view key, const std::string& text,
               const std::vector<StorageTier>& tiers) {
  if (key == "dataset" && text.empty()) {
    input.dataset.reset();
  } else if (key == "storage") {
    input.storage = tier_of(text, tiers);
  } else if (key == "staged_from") {
    input.staged_from = tier_of(text, tiers);
  } else if (key == "codec") {
    input.codec = *std::ranges::find(codecs(), text, &Codec::name);
  } else if (const auto of_predicate = key_in("predicate.", key); !of_predicate.empty()) {
    if (!set_field(*input.predicate, of_predicate, text)) return false;
    input.dataset = with_predicate(std::move(*input.dataset), *input.predicate);
  } else {
    return set_field(input, key, text);
  }
  return true;
}

bool set_strategy(Job& job, std::string_view key, const std::string& text) {
  if (job.local_sgd) {
    if (const auto of_link = key_in("wan.", key); !of_link.empty())
      return set_field(*job.local_sgd->wan, of_link, text);
    if (set_field(*job.local_sgd, key, text)) return true;
  }
  if (key == "kind") {
    job.strategy = std::ranges::find(strategy_kinds(), text, &StrategyKind::name)->defaults;
    return true;
  }
  set_key(job.strategy, key, text);
  return true;
}

bool set_in_job(Job& job, std::string_view key, const std::string& text,
                const std::vector<StorageTier>& tiers) {
  if (key == "optimizer") {
    job.optimizer = config::optimizer(node_of(key, text));
    return true;
  }
  if (const auto rest = key_in("job.", key); !rest.empty()) return set_field(job, rest, text);
  if (const auto rest = key_in("input.", key); !rest.empty()) return set_input(job.input, rest, text, tiers);
  if (const auto rest = key_in("strategy.", key); !rest.empty()) return set_strategy(job, rest, text);
  if (const auto rest = key_in("network.", key); !rest.empty()) return set_field(job.network, rest, text);
  if (const auto rest = key_in("nccl.", key); !rest.empty()) {
    job.nccl[std::string{rest}] = text;
    return true;
  }
  const auto rest = key_in("parallel.", key);
  if (rest != "replicate") return set_field(job.layout, rest, text);
  set_key(job.strategy, rest, text);
  return true;
}

}  // namespace

void set_key(Strategy& strategy, std::string_view key, const std::string& text) {
  if (auto* replicas = replicate_of(strategy); replicas != nullptr && key == "replicate") {
    *replicas = static_cast<int>(config::whole(node_of(key, text), 1, most_ranks));
    return;
  }
  expects(set_field(record_of(strategy), key, text), "the strategy has the key");
}

void set_keys(Job& job, const Settings& set, const std::vector<StorageTier>& tiers) {
  for (const auto& [key, text] : set) expects(set_in_job(job, key, text, tiers), "the job has the key");
}

void set_keys(Scenario& scenario, const Settings& set, const std::vector<StorageTier>& tiers) {
  auto speeds = scenario.platform.speeds;
  Settings of_job;
  for (const auto& [key, text] : set) {
    if (!key.starts_with("faster.")) {
      of_job.emplace_back(key, text);
      continue;
    }
    const auto part = std::ranges::find(all_parts, key_in("faster.", key), key_of);
    speeds[*part] = config::times_as_fast(node_of(key, text));
  }
  auto& platform = scenario.platform;
  auto& job = scenario.job;
  set_keys(job, of_job, tiers);
  const auto has = [&](std::string_view group) {
    return std::ranges::any_of(of_job, [&](const auto& setting) { return setting.first.starts_with(group); });
  };
  if (has("input.")) platform = with_loaders(std::move(platform), job);
  if (platform.network && (has("network.") || has("nccl."))) {
    const auto conditions = merged(platform.network->conditions, job.network);
    platform = with_network(std::move(platform), conditions, nccl_settings(job.nccl).queue_pairs);
  }
  if (speeds != platform.speeds) platform = with_speeds(std::move(platform), speeds);
}

void copy_key(Strategy& target, const Strategy& source, std::string_view key) {
  if (auto* replicas = replicate_of(target); replicas != nullptr && key == "replicate") {
    *replicas = *replicate_of(source);
    return;
  }
  const auto settings = record_of(target);
  if (const auto* field = field_of(settings, key)) settings.assign(*field, record_of(source).value(*field));
}

}  // namespace gradway
