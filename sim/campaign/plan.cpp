// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/plan.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/contract.hpp"
#include "sim/base/normal.hpp"
#include "sim/base/random.hpp"
#include "sim/campaign/checkpoint_cost.hpp"
#include "sim/campaign/local_sgd.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/scenario/strategy_facts.hpp"

namespace gradway {
namespace {

constexpr double gpus_per_published_node = 8;
constexpr double seconds_per_day = 86400;

/// Length of a campaign in samples. @pre it is not given in rounds
double campaign_samples(const CampaignSettings& settings, const Metrics& metrics) {
  if (settings.tokens) return *settings.tokens / metrics.tokens_per_sample.value_or(1);
  return settings.samples ? *settings.samples : settings.epochs.value_or(1) * settings.samples_per_epoch;
}

void add_failures(CampaignPlan& plan, const FailureSettings& settings, double gpus_per_node) {
  if (const auto* model = find_failure_model(settings.model)) {
    plan.failures_per_s =
        plan.nodes * model->per_node_day / seconds_per_day * gpus_per_node / gpus_per_published_node;
    plan.causes = model->causes;
  }
  if (settings.node_mttf) plan.failures_per_s = plan.nodes / settings.node_mttf->value();
  if (settings.job_mttf) plan.job_failures_per_s = 1 / settings.job_mttf->value();
  plan.repeat_probability = settings.again;
  plan.repeat_within = ticks_of(settings.again_within);
}

void add_workers(CampaignPlan& plan, const LocalSgd& settings, const Scenario& scenario) {
  const auto loop = outer_loop_of(scenario.model, settings, plan.step);
  plan.workers = settings.workers;
  plan.nodes *= settings.workers;
  plan.exchange_every = static_cast<double>(loop.steps) / loop.fragments;
  plan.exchange = ticks_of(loop.exchange);
  plan.exchange_overlap = settings.overlap_steps;
  plan.exchanged = loop.sent * (static_cast<double>(settings.workers) / loop.fragments);
  plan.exchange_usd = plan.exchanged / Bytes{1e9} * settings.wan->usd_per_gb;
}

void add_rounds(CampaignPlan& plan, const LocalSgd& settings, const Scenario& scenario,
                const std::vector<Seconds>& client_steps) {
  const auto& clients = *settings.clients;
  const auto turns = client_turns(scenario.model, settings, client_steps);
  constexpr Bytes gb{1e9};
  constexpr double seconds_per_hour = 3600;
  RoundsPlan rounds{.classes = {},
                    .inner_steps = settings.inner_steps,
                    .target = clients.target,
                    .asked = std::min(clients.ask(), clients.count()),
                    .least = clients.least,
                    .drop_out = clients.drop_out,
                    .deadline = clients.deadline ? ticks_of(*clients.deadline) : 0,
                    .retry = ticks_of(clients.retry),
                    .model = exchanged_model_size(scenario.model, settings),
                    .update = update_size(scenario.model, settings)};
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto& client_class = clients.classes[i];
    rounds.classes.push_back({.count = client_class.count,
                              .down = ticks_of(turns[i].down),
                              .compute = ticks_of(turns[i].compute),
                              .up = ticks_of(turns[i].up),
                              .available = client_class.available,
                              .spread = client_class.spread,
                              .usd_per_s = client_class.usd_per_hour / seconds_per_hour,
                              .usd_of_update = rounds.update / gb * client_class.usd_per_gb});
  }
  rounds.usd_of_model = rounds.model / gb * clients.usd_per_gb;
  const auto needed = plan.steps / settings.inner_steps;  // rounds that reach their target
  (scenario.campaign->rounds ? rounds.rounds : rounds.updates) =
      scenario.campaign->rounds ? needed : needed * clients.target;
  plan.nodes = clients.count();
  const auto fastest = *std::ranges::min_element(client_steps);
  plan.step_range = {plan.step_range.low * (fastest / plan.step),
                     plan.step_range.high * (fastest / plan.step)};
  plan.step = fastest;
  plan.rounds = std::move(rounds);
}

SpotPlan spot_of(const SpotSettings& settings) {
  SpotPlan spot{.model = {.up_mean = Seconds{seconds_per_day}, .down_mean = Seconds{3600}},
                .notice = ticks_of(settings.notice)};
  if (const auto* model = find_spot_model(settings.model)) spot.model = *model;
  if (settings.node_up) spot.model.up_mean = *settings.node_up;
  if (settings.node_down) spot.model.down_mean = *settings.node_down;
  if (settings.group) spot.model.group = *settings.group;
  return spot;
}

DataCost data_cost_of(const Scenario& scenario, double samples_of_a_step, double steps) {
  const auto cost = samples_cost(scenario.job.input);
  if (!cost) return {};
  const auto read = samples_of_a_step * steps / scenario.job.input.dataset->samples;  // in epochs
  return {.usd_per_s = cost->usd_per_s,
          .usd_of_step = cost->usd_of_sample() * samples_of_a_step,
          .usd_of_filling = cost->usd_of_filling * std::min(1.0, read)};
}

void add_width(CampaignPlan& plan, const CampaignSettings& settings, const Job& job, double gpus_per_node) {
  plan.replicas = job.data_parallel() * plan.workers;
  plan.nodes_of_replica = job.layout.model_parallel_ranks() / gpus_per_node;
  plan.least_replicas = plan.replicas;
  if (settings.elastic_from)
    plan.least_replicas = std::max(
        1,
        static_cast<int>(std::ceil(*settings.elastic_from / (plan.nodes_of_replica * gpus_per_node) - 1e-9)));
  plan.endless_spares = !settings.spares;
  plan.spares = settings.spares.value_or(0);
  plan.repair = ticks_of(settings.repair);
}

/// Replaces the number of steps and their mean time by those of the phases.
void add_phases(CampaignPlan& plan, const Scenario& scenario, const Metrics& metrics,
                std::vector<PhaseSteps> phases) {
  const auto& settings = *scenario.campaign;
  const double unit = settings.tokens ? metrics.tokens_per_sample.value_or(1) : 1;
  TargetData target{.samples = campaign_samples(settings, metrics), .batch = metrics.samples};
  if (const auto& convergence = settings.convergence) {
    target.more_steps = convergence->more_steps;
    if (convergence->critical_batch) target.critical_batch = *convergence->critical_batch / unit;
    if (convergence->at_batch) target.batch = *convergence->at_batch / unit;
  }
  plan.over_time = over_time_plan(std::move(phases), target, settings);
  plan.target = target;
  const auto& end = plan.over_time->ends.back();
  const auto mean = plan.over_time->mean_step();
  if (plan.epoch_every > 0) plan.epoch_every *= metrics.samples / (end.samples / end.steps);
  plan.step_range = {plan.step_range.low * (mean / plan.step), plan.step_range.high * (mean / plan.step)};
  plan.step = mean;
  plan.steps = end.steps;
  plan.samples = end.samples;
  plan.samples_per_step = end.samples / end.steps;
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
  if (spot) rate += static_cast<double>(spot->nodes) / spot->model.group / spot->model.up_mean.value();
  return rate > 0 ? Seconds{1 / rate} : Seconds::infinite();
}

double CampaignPlan::step_factor(int run) const {
  static const double half_width = normal_half_width(0.9);  // of `step_range`
  const auto z = Random{stream(run), RandomStream::step}.normal() / half_width;
  const auto end = z > 0 ? step_range.high : step_range.low;
  if (!(end > Seconds{0})) return 1;
  return std::exp(std::abs(z) * std::log(end / step));
}

Interruptions CampaignPlan::interruptions() const {
  return {mttf(), seconds_of(checkpoint.pause), seconds_of(restart())};
}

Ticks CampaignPlan::exchange_pause(double step_of_run) const {
  return std::max<Ticks>(0, exchange - static_cast<Ticks>(exchange_overlap * step_of_run));
}

Bytes checkpoint_size(const Scenario& scenario) {
  const auto& job = scenario.job;
  double count = 0;
  for (const auto& layer : scenario.model.layers) count += static_cast<double>(layer.parameter_count());
  const auto outer = job.local_sgd ? outer_state(job.local_sgd->outer) : Bytes{};
  const auto state = cost_of(job.optimizer).state;  // for parameters in fp32
  if (has_half_states(job)) return count * (Bytes{2} + state / 2 + outer);
  const bool has_master = facts_of(job.strategy).half_parameters;
  return count * ((has_master ? Bytes{2 + 4} : Bytes{4}) + state + outer);
}

double campaign_steps(const Scenario& scenario, const Metrics& metrics) {
  const auto& settings = *scenario.campaign;
  const auto& local = scenario.job.local_sgd;
  if (settings.rounds) return static_cast<double>(*settings.rounds) * local.value().inner_steps;
  const auto samples = campaign_samples(settings, metrics);
  const auto parallel = !local ? 1 : local->clients ? local->clients->target : local->workers;
  const auto steps = std::ceil(samples / metrics.samples / parallel);
  if (!local || !local->clients) return steps;
  return std::ceil(steps / local->inner_steps) * local->inner_steps;  // whole rounds
}

CampaignPlan plan_campaign(const Scenario& scenario, const Metrics& metrics, const TimeRange& range,
                           const std::vector<Seconds>& client_steps, std::vector<PhaseSteps> phases) {
  expects(scenario.campaign.has_value(), "the scenario has a campaign");
  const auto& settings = *scenario.campaign;
  CampaignPlan plan{.steps = campaign_steps(scenario, metrics),
                    .step = metrics.step_time,
                    .step_range = range,
                    .nodes = node_count(scenario.platform, scenario.job.gpus)};
  const auto gpus_per_node = static_cast<double>(scenario.job.gpus) / plan.nodes;
  plan.evaluation_every = settings.evaluation.every;
  plan.evaluation = ticks_of(settings.evaluation.time);
  plan.seed = settings.seed;
  const auto& local = scenario.job.local_sgd;
  if (local && local->clients) {
    add_rounds(plan, *local, scenario, client_steps);
    return plan;
  }
  if (const auto& loading = metrics.loading) {
    plan.epoch_every = loading->epoch_steps / (local ? local->workers : 1);
    plan.epoch_start = ticks_of(loading->epoch_start);
  }
  if (local) add_workers(plan, *local, scenario);
  plan.samples_per_step = metrics.samples * plan.workers;
  plan.samples = plan.samples_per_step * plan.steps;
  if (!phases.empty()) add_phases(plan, scenario, metrics, std::move(phases));
  plan.data = data_cost_of(scenario, plan.samples_per_step, plan.steps);
  plan.jitter = 1 + settings.stragglers.jitter * expected_maximum(scenario.job.gpus);
  add_width(plan, settings, scenario.job, gpus_per_node);
  if (settings.checkpoint) {
    plan.saves = true;
    plan.checkpoint = checkpoint_cost(*settings.checkpoint, scenario, metrics,
                                      node_count(scenario.platform, scenario.job.gpus));
    plan.interval = settings.checkpoint->interval;
  }
  plan.detection = ticks_of(settings.restart.detection);
  plan.requeue = ticks_of(settings.restart.requeue);
  plan.communicators = ticks_of(settings.restart.communicators);
  plan.loader = ticks_of(settings.restart.loader);
  if (settings.failures) add_failures(plan, *settings.failures, gpus_per_node);
  if (settings.stragglers.node_every) {
    plan.slow_per_s = plan.nodes / settings.stragglers.node_every->value();
    plan.slow_factor = settings.stragglers.slowdown;
    plan.slow_lasts = ticks_of(settings.stragglers.lasts);
  }
  return with_terms(plan, settings);
}

CampaignPlan with_terms(CampaignPlan plan, const CampaignSettings& settings) {
  plan.spot.reset();
  if (!settings.spot || settings.terms != Terms::spot) return plan;
  const auto nodes = static_cast<int>(std::lround(plan.nodes * settings.spot->share));
  if (nodes == 0) return plan;
  plan.spot = spot_of(*settings.spot);
  plan.spot->nodes = nodes;
  plan.spot->all_spares = settings.spot->share >= 1;
  return plan;
}

}  // namespace gradway
