// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/number.hpp"
#include "sim/config/find/scenario_keys.hpp"
#include "sim/config/read/fields.hpp"
#include "sim/config/read/scenario_parts.hpp"
#include "sim/config/yaml/goal_quantities.hpp"

namespace gradway::config {
namespace {

constexpr std::string_view global_batch_key = "job.global_batch";

/// Keys that decide what a campaign trains, and where; they hold for all of it.
constexpr std::string_view fixed_keys[] = {"model", "platform", "campaign", "steps", "faster", "anchor"};
constexpr std::string_view fixed_job_keys[] = {"job.gpus",      "job.sequence", "strategy",
                                               "strategy.kind", "parallel",     "job"};

bool is_fixed(std::string_view key) {
  const auto top = key.substr(0, key.find('.'));
  return std::ranges::find(fixed_keys, top) != std::end(fixed_keys) || top == "parallel" ||
         std::ranges::find(fixed_job_keys, key) != std::end(fixed_job_keys);
}

bool is_literal(const std::string& text) {
  if (text == "true" || text == "false") return true;
  double number = 0;
  const auto* end = text.data() + text.size();
  return !text.empty() && (text.front() == '-' || std::isdigit(static_cast<unsigned char>(text.front()))) &&
         read_number(text.data(), end, number).ptr == end && text.back() != '.' &&
         !(text.size() > 1 && text.front() == '0' && text[1] != '.');
}

/// The node as YAML that is JSON, too: all text in quotes.
std::string to_json(Node node) {
  const auto quote = [](const auto& self, Node& value) -> void {
    if (value.kind == Node::Kind::scalar) value.quoted = value.quoted || !is_literal(value.text);
    for (auto& item : value.items) self(self, item);
    for (auto& entry : value.entries) self(self, entry.value);
  };
  quote(quote, node);
  return to_yaml(node);
}

std::vector<PhaseKey> read_set(Reader& set) {
  std::vector<PhaseKey> changes;
  for (const auto& entry : set.entries()) {
    set.problems().attempt([&] {
      check_scenario_key(entry.key, entry.where);
      if (is_fixed(entry.key))
        fail(entry.where, fmt::format("'{}' cannot change in the course of a campaign", entry.key),
             "a phase can change the batch, keys of the strategy, input, traffic and nccl");
      changes.push_back({entry.key, to_json(entry.value), entry.value.where});
      return 0;
    });
  }
  return changes;
}

const PhaseKey* find_key(const std::vector<PhaseKey>& set, std::string_view key) {
  const auto entry = std::ranges::find(set, key, &PhaseKey::key);
  return entry == set.end() ? nullptr : &*entry;
}

/// The global batch that a phase sets; 0: none, or not a number, which loading the phase reports.
int batch_of(const std::vector<PhaseKey>& set) {
  const auto* entry = find_key(set, global_batch_key);
  int batch = 0;
  if (entry != nullptr) read_number(entry->value.data(), entry->value.data() + entry->value.size(), batch);
  return batch;
}

CampaignPhase read_phase(Reader& phase, double (*amount)(const Node&)) {
  CampaignPhase result;
  read_fields(phase, result);
  result.until = phase.maybe("until", amount);
  if (auto set = phase.maybe_map("set")) result.set = read_set(*set);
  if (!phase.has("set")) phase.map("set");
  phase.exactly_one({"until", "from"}, "when the phase applies");
  if (phase.has("from") != phase.has("to"))
    phase.error(phase.where(), "a phase of the day requires 'from' and 'to'",
                "write both hours, such as 'from: 8' and 'to: 18'");
  if (result.from && result.from == result.to)
    phase.error(phase.value_place("to"), "the phase lasts no time: 'from' and 'to' are equal",
                "set another hour");
  if (result.by && (!result.until || batch_of(result.set) == 0))
    phase.error(phase.value_place("by"),
                "'by' has no effect: the batch grows from a phase's job.global_batch until an amount of data",
                "add 'until' and 'set: { job.global_batch: N }', or leave it out");
  phase.finish();
  return result;
}

void check_order(Reader& campaign, const std::vector<CampaignPhase>& phases) {
  double last = 0;
  for (const auto& phase : phases) {
    if (!phase.until) continue;
    if (*phase.until <= last)
      campaign.error(campaign.value_place("phases"), "the phases of a campaign are not in order of 'until'",
                     "each must end later than the one before it");
    last = *phase.until;
  }
}

StorageGrowth read_growth(Reader growth) {
  StorageGrowth result;
  read_fields(growth, result);
  result.tiers = growth.list("tiers", text);
  result.at = growth.value_place("tiers");
  if (growth.is_valid() && result.tiers.empty())
    growth.error(growth.where(), "the storage tiers to grow into are missing",
                 "add 'tiers: [aws-fsx-lustre-4.8tib]' (gradway list storage)");
  growth.finish();
  return result;
}

ConvergenceSettings read_convergence(Reader convergence, double (*amount)(const Node&)) {
  ConvergenceSettings result;
  read_fields(convergence, result);
  result.critical_batch = convergence.maybe("critical_batch", amount);
  result.at_batch = convergence.maybe("at_batch", amount);
  if (result.at_batch && !result.critical_batch)
    convergence.error(convergence.value_place("at_batch"),
                      "'at_batch' has no effect without 'critical_batch'",
                      "add critical_batch, or leave it out");
  convergence.finish();
  return result;
}

}  // namespace

void read_over_time(Reader& campaign, CampaignSettings& settings) {
  const auto amount = settings.tokens ? &tokens : &samples;
  for (auto& phase : campaign.maps("phases")) settings.phases.push_back(read_phase(phase, amount));
  if (campaign.is_valid()) check_order(campaign, settings.phases);
  if (auto group = campaign.maybe_map("adapt")) settings.adapt = read_group<BatchRule>(*group);
  if (auto group = campaign.maybe_map("storage")) settings.storage = read_growth(*group);
  if (auto group = campaign.maybe_map("convergence")) settings.convergence = read_convergence(*group, amount);
}

std::vector<DataPhase> data_phases(const CampaignSettings& settings, int batch) {
  std::vector<const CampaignPhase*> bounded;
  for (const auto& phase : settings.phases)
    if (phase.until) bounded.push_back(&phase);
  std::vector<DataPhase> phases;
  double from = 0;
  for (std::size_t i = 0; i < bounded.size(); ++i) {
    const auto& phase = *bounded[i];
    const auto start = batch_of(phase.set);
    const auto following = i + 1 < bounded.size() ? batch_of(bounded[i + 1]->set) : 0;
    const auto end = following > 0 ? following : batch;
    const auto increments = phase.by ? std::max(1, (end - start) / *phase.by) : 1;
    for (int increment = 0; increment < increments; ++increment) {
      auto set = phase.set;
      if (phase.by)
        std::ranges::find(set, global_batch_key, &PhaseKey::key)->value =
            std::to_string(start + increment * *phase.by);
      phases.push_back({from + (*phase.until - from) * (increment + 1) / increments, std::move(set)});
    }
    from = *phase.until;
  }
  phases.push_back({});
  return phases;
}

void check_over_time(const ScenarioSpec& scenario, Problems& problems) {
  const auto& campaign = *scenario.campaign;
  const auto add = [&](const std::string& key, std::string message, std::string hint) {
    problems.add(scenario.place("campaign." + key), std::move(message), std::move(hint));
  };
  if (scenario.job.local_sgd) {
    for (const auto* key : {"phases", "adapt", "storage", "convergence"})
      if (scenario.given.contains(fmt::format("campaign.{}", key)))
        add(key, fmt::format("campaign.{} requires that all ranks train together, not local SGD", key),
            "leave it out, or choose another strategy.kind");
    return;
  }
  if (campaign.storage && !scenario.job.input.storage)
    add("storage", "campaign.storage has no effect: the samples are in memory",
        "add 'input: { dataset: ..., storage: ... }'");
  const auto length = campaign.tokens    ? *campaign.tokens
                      : campaign.samples ? *campaign.samples
                                         : campaign.epochs.value_or(0) * campaign.samples_per_epoch;
  constexpr int most_phases = 500;
  const auto batch = static_cast<int>(std::lround(scenario.job.samples()));
  const auto& phases = campaign.phases;
  const auto add_at = [&](const CampaignPhase& phase, std::string message, std::string hint) {
    problems.add(phase.set.empty() ? scenario.place("campaign.phases") : phase.set.front().where,
                 std::move(message), std::move(hint));
  };
  for (const auto& phase : phases) {
    if (phase.until && *phase.until >= length)
      add_at(phase,
             fmt::format("a phase of the campaign ends at {}, after all of the training",
                         value::plain_number(*phase.until)),
             "end it earlier, or leave it out and set its keys in the scenario");
  }
  for (auto phase = phases.begin(); phase != phases.end(); ++phase) {
    if (!phase->by) continue;
    const auto next = std::find_if(phase + 1, phases.end(), [](const auto& later) { return later.until; });
    const auto following = next != phases.end() ? batch_of(next->set) : 0;
    const auto grows = (following > 0 ? following : batch) - batch_of(phase->set);
    if (grows <= 0 || grows % *phase->by != 0 || grows / *phase->by > most_phases)
      add_at(*phase,
             fmt::format("the global batch cannot grow from {} to {} by {}", batch_of(phase->set),
                         batch_of(phase->set) + grows, *phase->by),
             fmt::format("the difference must be a multiple of 'by', at most {} times", most_phases));
  }
}

}  // namespace gradway::config
