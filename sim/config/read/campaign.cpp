// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/scenario_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/read/fields.hpp"
#include "sim/config/read/prices.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/config/yaml/parse_value.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/scenario/failure_models.hpp"

namespace gradway::config {
namespace {

/// Empty for "best".
std::optional<Seconds> interval(const Node& node) {
  if (scalar(node, "a duration") == "best") return std::nullopt;
  return time_span(node);
}

/// Parser of one of several names.
auto name_among(std::string_view thing, std::span<const std::string_view> names) {
  return [=](const Node& node) { return std::string{names[index_among(thing, names, node)]}; };
}

/// 0 for "all".
int checkpoint_count(const Node& node) {
  const auto& word = scalar(node, "a number of checkpoints");
  if (word == "all") return 0;
  if (word.find_first_not_of("0123456789") != std::string::npos)
    fail(node.where, fmt::format("invalid number of checkpoints '{}'", word),
         "write a number such as 2, or all");
  return integer(1, 1'000'000)(node);
}

CheckpointSettings read_checkpoint(Reader checkpoint, std::optional<Named>& storage) {
  CheckpointSettings result;
  read_fields(checkpoint, result);
  if (const auto period = checkpoint.maybe("interval", interval)) result.interval = *period;
  checkpoint.exactly_one({"write", "storage"}, "the destination of checkpoints");
  storage = checkpoint.maybe("storage", named);
  if (storage) {
    checkpoint.forbid("read", "'read' conflicts with 'storage', which has a read bandwidth",
                      "leave it out, or set 'write' instead of 'storage'");
    result.keep = checkpoint.optional("keep", checkpoint_count, result.keep);
  } else {
    for (const auto* key : {"keep", "weight"}) {
      if (checkpoint.has(key))
        checkpoint.error(checkpoint.key_place(key), fmt::format("'{}' has no effect without 'storage'", key),
                         "set 'storage' to a storage tier, or leave it out");
      checkpoint.ignore(key);
    }
  }
  if (result.mode == SaveMode::sync) {
    for (const auto* key : {"staging", "device_copy", "slowdown", "weight"}) {
      if (checkpoint.has(key))
        checkpoint.error(
            checkpoint.value_place(key),
            fmt::format(
                "campaign.checkpoint.{} has no effect: mode sync waits until the checkpoint is on storage",
                key),
            "leave it out, or write 'mode: async'");
    }
  }
  checkpoint.finish();
  return result;
}

FailureSettings read_failures(Reader failures) {
  FailureSettings result;
  result.model = failures.optional("model", name_among("a failure model", failure_model_names()), "");
  read_fields(failures, result);
  if (failures.has("model") && failures.has("node_mttf"))
    failures.error(failures.value_place("node_mttf"),
                   "'node_mttf' conflicts with 'model', which sets the failure rate of nodes",
                   "keep one of them");
  if (failures.is_valid() && result.model.empty() && !result.node_mttf && !result.job_mttf)
    failures.error(failures.where(), "the failure rate is missing", "set model, node_mttf or job_mttf");
  failures.finish();
  return result;
}

SpotSettings read_spot(Reader spot) {
  SpotSettings result;
  result.model = spot.optional("model", name_among("a spot model", spot_model_names()), "");
  read_fields(spot, result);
  if (spot.is_valid() && result.model.empty() && !result.node_up)
    spot.error(spot.where(), "the availability of spot nodes is missing", "set model or node_up");
  spot.finish();
  return result;
}

StragglerSettings read_stragglers(Reader stragglers) {
  StragglerSettings result;
  read_fields(stragglers, result);
  if (!result.node_every) {
    for (const auto* key : {"slowdown", "lasts"}) {
      if (stragglers.has(key))
        stragglers.error(
            stragglers.value_place(key),
            fmt::format(
                "campaign.stragglers.{} has no effect: node_every is missing, so that no node is ever slow",
                key),
            "set node_every, or leave it out");
    }
  }
  stragglers.finish();
  return result;
}

void check_goal(Reader& campaign, const CampaignSettings& settings) {
  campaign.exactly_one({"tokens", "samples", "epochs", "rounds"}, "the length of the training");
  if (settings.epochs) {
    campaign.required("samples_per_epoch", samples);
  } else {
    campaign.forbid("samples_per_epoch", "'samples_per_epoch' has no effect without 'epochs'",
                    "leave it out, or set epochs");
  }
}

/// Reports keys that have no effect with federated clients.
void check_campaign_of_clients(const ScenarioSpec& scenario, Problems& problems) {
  for (const auto* key : {"checkpoint", "restart", "failures", "spot", "stragglers", "spares", "repair",
                          "elastic_from", "terms", "prices", "phases", "adapt", "storage", "convergence"}) {
    const auto full_key = fmt::format("campaign.{}", key);
    if (scenario.given.contains(full_key))
      problems.add(scenario.place(full_key),
                   fmt::format("{} has no effect: the training runs on the clients of a server", full_key),
                   "leave it out; strategy.clients describes their prices and drop-outs");
  }
}

/// "the platform has prices on_demand, spot; ", or empty if it has none.
std::string known_terms(const PlatformDescription& platform) {
  std::vector<std::string_view> known;
  for (const auto& price : platform.price_by_terms)
    if (price) known.push_back(name_of(price->terms));
  return known.empty() ? "" : fmt::format("the platform has prices {}; ", fmt::join(known, ", "));
}

}  // namespace

void read_campaign(Reader& scenario, ScenarioSpec& spec) {
  auto campaign = scenario.maybe_map("campaign");
  if (!campaign) return;
  CampaignSettings result;
  read_fields(*campaign, result);
  check_goal(*campaign, result);
  if (auto group = campaign->maybe_map("checkpoint"))
    result.checkpoint = read_checkpoint(*group, spec.checkpoints);
  if (auto group = campaign->maybe_map("restart")) result.restart = read_group<RestartSettings>(*group);
  if (auto group = campaign->maybe_map("failures")) result.failures = read_failures(*group);
  if (auto group = campaign->maybe_map("spot")) result.spot = read_spot(*group);
  if (auto group = campaign->maybe_map("stragglers")) result.stragglers = read_stragglers(*group);
  if (auto group = campaign->maybe_map("evaluation"))
    result.evaluation = read_group<EvaluationSettings>(*group);
  if (auto prices = campaign->maybe_map("prices")) {
    for (std::size_t i = 0; i < terms_words.size(); ++i)
      result.prices[i] = prices->maybe(terms_words[i], price_per_hour);
    prices->finish();
  }
  if (auto group = campaign->maybe_map("carbon")) result.carbon = read_group<CarbonSettings>(*group);
  read_over_time(*campaign, result);
  campaign->finish();
  spec.campaign = std::move(result);
}

void check_campaign(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    Problems& problems) {
  if (!scenario.campaign) return;
  const auto& campaign = *scenario.campaign;
  const auto add = [&](const std::string& key, std::string message, std::string hint) {
    problems.add(scenario.place("campaign" + key), std::move(message), std::move(hint));
  };
  if (!trains(scenario.job.strategy)) {
    add("", "campaign has no effect: strategy.kind collective trains no model", "leave it out");
    return;
  }
  if (campaign.tokens && model.model.tokens_per_sample == 0 && scenario.job.sequence == 0)
    add(".tokens", fmt::format("campaign.tokens requires a text model, and '{}' is none", model.model.name),
        "set campaign.samples instead");
  const auto& local = scenario.job.local_sgd;
  if (campaign.rounds && !local)
    add(".rounds", "campaign.rounds requires strategy.kind local_sgd",
        "set tokens or samples, or write 'strategy: { kind: local_sgd, ... }'");
  if (local && local->clients) {
    check_campaign_of_clients(scenario, problems);
    return;
  }
  check_over_time(scenario, problems);
  const bool is_interrupted = campaign.failures || campaign.terms == Terms::spot;
  if (is_interrupted && !campaign.checkpoint)
    add("",
        "the campaign can be interrupted but saves no checkpoints: it would start over after each "
        "interruption",
        "add 'checkpoint: { write: 10 GB/s }' with the write bandwidth of your storage");
  const auto has_price = [&](Terms terms) {
    const auto i = static_cast<std::size_t>(terms);
    return campaign.prices[i] || platform.description.price_by_terms[i];
  };
  if (campaign.terms == Terms::spot && !campaign.spot)
    add(".terms", "campaign.terms is spot, but the availability of spot nodes is missing",
        "add 'spot: { model: advisor-10-20 }', or 'spot: { node_up: 3 days }'");
  if (campaign.terms != Terms::on_demand && !has_price(campaign.terms))
    add(".terms",
        fmt::format("campaign.terms is {}, but the price of such nodes is missing", name_of(campaign.terms)),
        fmt::format(
            "{}set campaign.prices.{} to the price of a node, such as '30 USD/h', or use another platform",
            known_terms(platform.description), name_of(campaign.terms)));
  if (campaign.terms == Terms::spot && campaign.spot && campaign.spot->share < 1 &&
      !has_price(Terms::on_demand))
    add(".spot.share", "some nodes are on demand, but the price of such nodes is missing",
        "set campaign.prices.on_demand to the price of a node, such as '60 USD/h'");
  if (campaign.elastic_from && *campaign.elastic_from > scenario.job.gpus)
    add(".elastic_from",
        fmt::format("campaign.elastic_from {} is more than the {} GPUs of the job", *campaign.elastic_from,
                    scenario.job.gpus),
        "set fewer, or leave it out to always wait for all nodes");
  if (scenario.given.contains("campaign.repair") && !campaign.spares)
    add(".repair", "campaign.repair has no effect: without spares a failed node is always replaced",
        "add 'spares: N'; 0 means no spare nodes");
}

}  // namespace gradway::config
