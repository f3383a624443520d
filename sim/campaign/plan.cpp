// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/plan.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/contract.hpp"
#include "sim/campaign/wan.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/nccl/rank_order.hpp"

namespace gradway {
namespace {

constexpr double gpus_of_a_published_node = 8;
constexpr double seconds_of_a_day = 86400;

/// Part of a transfer that each rank does itself, if it cannot do more than so much.
BytesPerSecond limited(BytesPerSecond storage, const CheckpointSettings& settings, int ranks) {
  if (!settings.per_rank) return storage;
  return std::min(storage, *settings.per_rank * (settings.sharded ? ranks : 1));
}

CheckpointCost cost_of(const CheckpointSettings& settings, const Scenario& scenario) {
  const auto ranks = scenario.job.gpus;
  CheckpointCost cost{.size = settings.size.value_or(checkpoint_size(scenario))};
  const auto write = cost.size / limited(settings.write, settings, ranks);
  cost.read = ticks_of(cost.size / limited(settings.read.value_or(settings.write), settings, ranks));
  if (settings.mode == SaveMode::sync) {
    cost.pause = ticks_of(write + settings.overhead);
    return cost;
  }
  const auto of_a_rank = settings.sharded ? cost.size / ranks : cost.size;
  cost.pause = ticks_of(of_a_rank / settings.device_copy + settings.overhead);
  cost.write = ticks_of(write);
  cost.slowdown = settings.slowdown;
  return cost;
}

void add_failures(CampaignPlan& plan, const FailureSettings& settings, double gpus_of_a_node) {
  if (const auto* model = find_failure_model(settings.model)) {
    plan.failures_per_s =
        plan.nodes * model->per_node_day / seconds_of_a_day * gpus_of_a_node / gpus_of_a_published_node;
    plan.causes = model->causes;
  }
  if (settings.node_mttf) plan.failures_per_s = plan.nodes / settings.node_mttf->value();
  if (settings.job_mttf) plan.job_failures_per_s = 1 / settings.job_mttf->value();
  plan.again = settings.again;
  plan.again_within = ticks_of(settings.again_within);
}

void add_sites(CampaignPlan& plan, const SitesSettings& sites, const Scenario& scenario) {
  const auto size = exchange_size(scenario, sites);
  plan.sites = sites.count;
  plan.nodes *= sites.count;
  plan.exchange_every = sites.inner_steps;
  plan.exchange = ticks_of(
      exchange_time(sites.count, size, {sites.rate, sites.rtt, sites.window, sites.loss, sites.streams}));
  plan.exchange_beside = sites.overlap;
  plan.exchanged = size * (2.0 * (sites.count - 1));
}

SpotPlan spot_of(const SpotSettings& settings) {
  SpotPlan spot{.model = {.up_mean = Seconds{seconds_of_a_day}, .down_mean = Seconds{3600}},
                .notice = ticks_of(settings.notice)};
  if (const auto* model = find_spot_model(settings.model)) spot.model = *model;
  if (settings.node_up) spot.model.up_mean = *settings.node_up;
  if (settings.node_down) spot.model.down_mean = *settings.node_down;
  if (settings.group) spot.model.group = *settings.group;
  return spot;
}

void add_width(CampaignPlan& plan, const CampaignSettings& settings, const Job& job, double gpus_of_a_node) {
  plan.replicas = job.data_parallel() * plan.sites;
  plan.nodes_of_replica = job.layout.ranks_of_model() / gpus_of_a_node;
  plan.least_replicas = plan.replicas;
  if (settings.elastic_from)
    plan.least_replicas =
        std::max(1, static_cast<int>(
                        std::ceil(*settings.elastic_from / (plan.nodes_of_replica * gpus_of_a_node) - 1e-9)));
  plan.endless_spares = !settings.spares;
  plan.spares = settings.spares.value_or(0);
  plan.repair = ticks_of(settings.repair);
}

}  // namespace

Ticks ticks_of(Seconds time) {
  return std::llround(time.value() * 1e9);
}

Seconds seconds_of(Ticks ticks) {
  return Seconds{static_cast<double>(ticks) / 1e9};
}

Seconds CampaignPlan::mttf() const {
  double rate = failures_per_s + job_failures_per_s;
  if (spot) rate += static_cast<double>(nodes) / spot->model.group / spot->model.up_mean.value();
  return rate > 0 ? Seconds{1 / rate} : Seconds::infinite();
}

Interruptions CampaignPlan::interruptions() const {
  return {mttf(), seconds_of(checkpoint.pause), seconds_of(restart())};
}

Ticks CampaignPlan::exchange_pause(double step_of_run) const {
  if (!exchange_beside) return exchange;
  return std::max<Ticks>(0, exchange - static_cast<Ticks>(exchange_every * step_of_run));
}

Bytes exchange_size(const Scenario& scenario, const SitesSettings& sites) {
  double count = 0;
  for (const auto& layer : scenario.model.layers) count += static_cast<double>(layer.parameter_count());
  return Bytes{count * exchanged_bytes[static_cast<std::size_t>(sites.exchanged)]};
}

Bytes checkpoint_size(const Scenario& scenario) {
  const auto& job = scenario.job;
  double count = 0;
  for (const auto& layer : scenario.model.layers) count += static_cast<double>(layer.parameter_count());
  const auto state = cost_of(job.optimizer).state;  // of parameters in fp32
  if (job.half_parameters) return count * (Bytes{2} + state / 2);
  const bool has_master = half_parameters(job.strategy);
  return count * ((has_master ? Bytes{2 + 4} : Bytes{4}) + state);
}

double campaign_steps(const CampaignSettings& settings, const Metrics& metrics) {
  const auto samples = settings.tokens    ? *settings.tokens / metrics.tokens_per_sample.value_or(1)
                       : settings.samples ? *settings.samples
                                          : settings.epochs.value_or(1) * settings.samples_per_epoch;
  return std::ceil(samples / metrics.samples / (settings.sites ? settings.sites->count : 1));
}

CampaignPlan plan_campaign(const Scenario& scenario, const Metrics& metrics, const TimeRange& range) {
  expects(scenario.campaign.has_value(), "the scenario has a campaign");
  const auto& settings = *scenario.campaign;
  CampaignPlan plan{.steps = campaign_steps(settings, metrics),
                    .step = metrics.step_time,
                    .step_range = range,
                    .nodes = node_count(scenario.platform, scenario.job.gpus)};
  const auto gpus_of_a_node = static_cast<double>(scenario.job.gpus) / plan.nodes;
  if (settings.sites) add_sites(plan, *settings.sites, scenario);
  plan.jitter = 1 + settings.stragglers.jitter * expected_largest(scenario.job.gpus);
  add_width(plan, settings, scenario.job, gpus_of_a_node);
  if (settings.checkpoint) {
    plan.saves = true;
    plan.checkpoint = cost_of(*settings.checkpoint, scenario);
    plan.interval = settings.checkpoint->interval;
  }
  plan.detection = ticks_of(settings.restart.detection);
  plan.requeue = ticks_of(settings.restart.requeue);
  plan.communicators = ticks_of(settings.restart.communicators);
  plan.loader = ticks_of(settings.restart.loader);
  if (settings.failures) add_failures(plan, *settings.failures, gpus_of_a_node);
  if (settings.stragglers.node_every) {
    plan.slow_per_s = plan.nodes / settings.stragglers.node_every->value();
    plan.slow_factor = settings.stragglers.slowdown;
    plan.slow_lasts = ticks_of(settings.stragglers.lasts);
  }
  plan.evaluation_every = settings.evaluation.every;
  plan.evaluation = ticks_of(settings.evaluation.time);
  plan.seed = settings.seed;
  return with_terms(plan, settings);
}

CampaignPlan with_terms(CampaignPlan plan, const CampaignSettings& settings) {
  plan.spot.reset();
  if (settings.spot && settings.terms == Terms::spot) plan.spot = spot_of(*settings.spot);
  return plan;
}

}  // namespace gradway
