// SPDX-License-Identifier: Apache-2.0
#include "sim/config/read/campaign.hpp"

#include <fmt/format.h>

#include "sim/base/nearest.hpp"
#include "sim/config/read/fields.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/config/yaml/quantities.hpp"
#include "sim/config/yaml/read_measurements.hpp"
#include "sim/scenario/campaign_fields.hpp"
#include "sim/scenario/failure_models.hpp"

namespace gradway::config {
namespace {

constexpr auto all_terms = choices_of<Terms>(terms_words);

/// "best": nothing.
std::optional<Seconds> interval(const Node& node) {
  if (scalar(node, "a span of time") == "best") return std::nullopt;
  return time_span(node);
}

/// The name of one of several models.
template <class Model>
auto name_among(std::string_view thing, std::span<const Model> models) {
  return [thing, models](const Node& node) {
    std::vector<std::string> names;
    for (const auto& model : models) names.emplace_back(model.name);
    const auto& word = scalar(node, thing);
    if (std::ranges::find(names, word) == names.end())
      fail(node.where, fmt::format("'{}' is not {}", word, thing), suggestion(word, names));
    return word;
  };
}

/// "all": 0.
int kept(const Node& node) {
  const auto& word = scalar(node, "a number of checkpoints");
  if (word == "all") return 0;
  if (word.find_first_not_of("0123456789") != std::string::npos)
    fail(node.where, fmt::format("'{}' is no number of checkpoints", word), "write one such as 2, or all");
  return integer(1, 1'000'000)(node);
}

CheckpointSettings read_checkpoint(Reader checkpoint, std::optional<Named>& storage) {
  CheckpointSettings result;
  read_fields(checkpoint, result);
  if (const auto given = checkpoint.maybe("interval", interval)) result.interval = *given;
  checkpoint.exactly_one({"write", "storage"}, "where checkpoints go");
  storage = checkpoint.maybe("storage", named);
  if (storage) {
    checkpoint.forbid("read", "the tier of 'storage' says how fast it is read",
                      "leave it out, or give 'write'");
    result.keep = checkpoint.optional("keep", kept, result.keep);
  } else {
    checkpoint.forbid("keep", "what is kept has no price without a tier",
                      "name a tier as 'storage', or leave it out");
  }
  if (result.mode == SaveMode::sync) {
    for (const auto* key : {"staging", "device_copy", "slowdown"}) {
      if (checkpoint.has(key))
        checkpoint.error(
            checkpoint.value_place(key),
            fmt::format("campaign.checkpoint.{} would change nothing: all ranks wait until a checkpoint "
                        "is on storage",
                        key),
            "leave it out, or write 'mode: async'");
    }
  }
  checkpoint.finish();
  return result;
}

FailureSettings read_failures(Reader failures) {
  FailureSettings result;
  result.model = failures.optional("model", name_among("a failure model", failure_models()), "");
  read_fields(failures, result);
  if (failures.has("model") && failures.has("node_mttf"))
    failures.error(failures.value_place("node_mttf"), "model and node_mttf both say how often nodes fail",
                   "choose one");
  if (failures.sound() && result.model.empty() && !result.node_mttf && !result.job_mttf)
    failures.error(failures.where(), "it is not told how often something fails",
                   "give model, node_mttf or job_mttf");
  failures.finish();
  return result;
}

SpotSettings read_spot(Reader spot) {
  SpotSettings result;
  result.model = spot.optional("model", name_among("a spot model", spot_models()), "");
  read_fields(spot, result);
  if (spot.sound() && result.model.empty() && !result.node_up)
    spot.error(spot.where(), "it is not told how long spot nodes stay", "give model or node_up");
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
            fmt::format("campaign.stragglers.{} would change nothing: no node is ever slow", key),
            "give node_every, or leave it out");
    }
  }
  stragglers.finish();
  return result;
}

void check_goal(Reader& campaign, const CampaignSettings& settings) {
  campaign.exactly_one({"tokens", "samples", "epochs", "rounds"}, "how much is trained on");
  if (settings.epochs) {
    campaign.required("samples_per_epoch", samples);
  } else {
    campaign.forbid("samples_per_epoch", "nothing is told in epochs", "leave it out, or give epochs");
  }
}

/// Clients come and go by themselves.
void check_campaign_of_clients(const ScenarioSpec& scenario, Problems& problems) {
  for (const auto* key : {"checkpoint", "restart", "failures", "spot", "stragglers", "spares", "repair",
                          "elastic_from", "terms", "prices"}) {
    const auto whole = fmt::format("campaign.{}", key);
    if (scenario.given.contains(whole))
      problems.add(Problem{scenario.place(whole),
                           fmt::format("{} would change nothing: clients of a server train", whole),
                           {},
                           "leave it out; strategy.clients has what they cost and how often they answer"});
  }
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
    for (const auto& [word, terms] : all_terms)
      result.prices[static_cast<std::size_t>(terms)] = prices->maybe(word, price_per_hour);
    prices->finish();
  }
  if (auto group = campaign->maybe_map("carbon")) result.carbon = read_group<CarbonSettings>(*group);
  campaign->finish();
  spec.campaign = std::move(result);
}

void check_campaign(const ScenarioSpec& scenario, const ModelSpec& model, const PlatformSpec& platform,
                    Problems& problems) {
  if (!scenario.campaign) return;
  const auto& campaign = *scenario.campaign;
  const auto add = [&](const std::string& key, std::string what, std::string hint) {
    problems.add(Problem{scenario.place("campaign" + key), std::move(what), {}, std::move(hint)});
  };
  if (!trains(scenario.job.strategy)) {
    add("", "campaign would change nothing: a collective alone trains nothing", "leave it out");
    return;
  }
  if (campaign.tokens && model.model.tokens_per_sample == 0 && scenario.job.sequence == 0)
    add(".tokens", fmt::format("campaign.tokens, but '{}' is no model of text", model.model.name),
        "campaign.samples says how many of its samples are trained on");
  const auto& local = scenario.job.local_sgd;
  if (campaign.rounds && !local)
    add(".rounds", "campaign.rounds, but no workers meet in rounds",
        "give tokens or samples, or 'strategy: { kind: local_sgd, ... }'");
  if (local && local->clients) {
    check_campaign_of_clients(scenario, problems);
    return;
  }
  const bool is_interrupted = campaign.failures || campaign.terms == Terms::spot;
  if (is_interrupted && !campaign.checkpoint)
    add("", "something interrupts the campaign, but nothing is ever saved: it would begin anew each time",
        "add 'checkpoint: { write: 10 GB/s }', with what your storage takes");
  const bool has_price_on_demand =
      campaign.prices[static_cast<std::size_t>(Terms::on_demand)] || platform.description.price;
  if (campaign.terms == Terms::spot && !campaign.spot)
    add(".terms", "campaign.terms is spot, but it is not told how long spot nodes stay",
        "add 'spot: { model: advisor-10-20 }', or node_up of your own");
  if (campaign.terms != Terms::on_demand && !campaign.prices[static_cast<std::size_t>(campaign.terms)])
    add(".terms", fmt::format("campaign.terms is {}, but such nodes have no price", name_of(campaign.terms)),
        fmt::format("add 'prices: {{ {}: 30 USD/h }}', with what a node costs", name_of(campaign.terms)));
  if (campaign.terms == Terms::spot && campaign.spot && campaign.spot->share < 1 && !has_price_on_demand)
    add(".spot.share", "some nodes are on demand, but such nodes have no price",
        "add 'prices: { on_demand: 60 USD/h }', with what a node costs");
  if (campaign.elastic_from && *campaign.elastic_from > scenario.job.gpus)
    add(".elastic_from",
        fmt::format("campaign.elastic_from {}, but the job has {} GPUs", *campaign.elastic_from,
                    scenario.job.gpus),
        "take fewer, or leave it out: then it goes on with all of them only");
  if (scenario.given.contains("campaign.repair") && !campaign.spares)
    add(".repair", "campaign.repair would change nothing: another node always comes",
        "add 'spares: N', with 0 if none stands by");
}

}  // namespace gradway::config
