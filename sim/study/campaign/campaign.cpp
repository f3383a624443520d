// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/make_warning.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/campaign/checkpoint_cost.hpp"
#include "sim/campaign/local_sgd.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/campaign/phase_steps.hpp"
#include "sim/study/staging/ways_in.hpp"
#include "sim/trust/lossy_warning.hpp"

namespace gradway {
namespace {

/// The platform's price of a node on these terms; empty if the scenario has its own.
std::optional<Price> price_of_platform(const Scenario& scenario, Terms terms) {
  const auto i = static_cast<std::size_t>(terms);
  return scenario.campaign->prices[i] ? std::nullopt : scenario.platform.price_by_terms[i];
}

constexpr int most_seeds_of_a_search = 200;
constexpr int bars = 24;

/// Prices and carbon intensity of the nodes. Clients have the prices of their classes.
NodeCosts node_rates(const Scenario& scenario, Terms terms) {
  const auto& local = scenario.job.local_sgd;
  if (!local || !local->clients) {
    const auto price = price_of_node(scenario, terms);
    const bool is_mixed = terms == Terms::spot && scenario.campaign->spot->share < 1;
    if (!is_mixed) return {.usd = price, .carbon = scenario.campaign->carbon};
    return {.usd = price_of_node(scenario, Terms::on_demand),
            .spot_usd = price,
            .carbon = scenario.campaign->carbon};
  }
  const auto& clients = *local->clients;
  const bool has_price =
      clients.usd_per_gb > 0 || std::ranges::any_of(clients.classes, [](const auto& client_class) {
        return client_class.usd_per_hour > 0 || client_class.usd_per_gb > 0;
      });
  return {.usd = has_price ? std::optional{UsdPerHour{}} : std::nullopt, .carbon = scenario.campaign->carbon};
}

/// The best checkpoint interval of a changed plan: that of the original, scaled like Daly's interval.
Seconds interval_of(const CampaignPlan& changed, const CampaignPlan& plan, Seconds used) {
  if (plan.interval) return *plan.interval;
  return std::max(used * (clamped_daly_interval(changed) / clamped_daly_interval(plan)),
                  seconds_of(changed.checkpoint.write));
}

struct ChangedPlan {
  std::string words;
  CampaignPlan plan;
};

/// What-ifs for rounds of clients.
std::vector<ChangedPlan> round_changes(const CampaignPlan& plan) {
  std::vector<ChangedPlan> changes;
  const auto add = [&](std::string words, const auto& change) {
    auto changed = plan;
    change(*changed.rounds);
    changes.push_back({std::move(words), std::move(changed)});
  };
  const auto& rounds = *plan.rounds;
  const auto clients = plan.nodes;
  if (const auto asked = std::min(clients, rounds.asked + std::max(1, rounds.target / 5));
      asked > rounds.asked)
    add(fmt::format("{} instead of {} clients asked per round", asked, rounds.asked),
        [&](RoundsPlan& changed) { changed.asked = asked; });
  if (rounds.drop_out > 0) add("half as many drop-outs", [](RoundsPlan& changed) { changed.drop_out /= 2; });
  add("uplinks twice as fast", [](RoundsPlan& changed) {
    for (auto& client_class : changed.classes) client_class.up /= 2;
  });
  add("clients compute twice as fast", [](RoundsPlan& changed) {
    for (auto& client_class : changed.classes) client_class.compute /= 2;
  });
  if (rounds.classes.size() > 1) {
    const auto turn = [](const ClientClassPlan& client_class) {
      return client_class.down + client_class.compute + client_class.up;
    };
    const auto slowest = std::ranges::max_element(rounds.classes, {}, turn) - rounds.classes.begin();
    if (clients - rounds.classes[static_cast<std::size_t>(slowest)].count >= rounds.target)
      add("without the slowest class of clients",
          [&](RoundsPlan& changed) { changed.classes.erase(changed.classes.begin() + slowest); });
  }
  return changes;
}

/// What-ifs for the training, one change at a time.
std::vector<ChangedPlan> changes_of(const CampaignPlan& plan) {
  if (plan.rounds) return round_changes(plan);
  std::vector<ChangedPlan> changes;
  const auto add = [&](std::string words, const auto& change) {
    auto changed = plan;
    change(changed);
    changes.push_back({std::move(words), changed});
  };
  if (plan.mttf() < Seconds::infinite()) {
    add("half as many failures", [](CampaignPlan& changed) {
      changed.failures_per_s /= 2;
      changed.job_failures_per_s /= 2;
      if (changed.spot) changed.spot->model.up_mean = changed.spot->model.up_mean * 2;
    });
    add("detection, requeue, communicators and loader in half the time", [](CampaignPlan& changed) {
      for (auto* delay : {&changed.detection, &changed.requeue, &changed.communicators, &changed.loader})
        *delay /= 2;
    });
  }
  if (plan.saves) {
    add("storage twice as fast", [](CampaignPlan& changed) {
      auto& cost = changed.checkpoint;
      (cost.write > 0 ? cost.write : cost.pause) /= 2;
      cost.read /= 2;
    });
  }
  if (!plan.endless_spares) {
    const auto added = std::max(1, plan.nodes / 100);
    add(fmt::format("{} more spare node{}", added, added == 1 ? "" : "s"),
        [&](CampaignPlan& changed) { changed.spares += added; });
    if (plan.spares > 0) add("no spare nodes", [](CampaignPlan& changed) { changed.spares = 0; });
  }
  if (plan.over_time && !plan.over_time->hours.empty())
    add("no busy hours", [](CampaignPlan& changed) {
      for (auto& hours : changed.over_time->hours) hours = {};
    });
  if (plan.over_time && plan.over_time->tiers > 1 && plan.over_time->delay > 0)
    add("storage that grows at once", [](CampaignPlan& changed) {
      changed.over_time->delay = 0;
      changed.over_time->cool_down = 0;
    });
  if (plan.slow_per_s > 0 || plan.jitter > 1) {
    add("no slow GPUs and no jitter", [](CampaignPlan& changed) {
      changed.slow_per_s = 0;
      changed.jitter = 1;
    });
  }
  return changes;
}

std::vector<CampaignWhatIf> what_ifs_of(const CampaignPlan& plan, Seconds used, const NodeCosts& rates,
                                        const CampaignQuestions& questions) {
  const auto seeds = std::min(questions.seeds, most_seeds_of_a_search);
  const auto estimated = [&](const CampaignPlan& variant, Seconds interval) {
    return estimate_of(simulate_seeds(variant, interval, seeds, questions.threads), variant, rates);
  };
  const auto base = estimated(plan, used);
  std::vector<CampaignWhatIf> what_ifs;
  for (const auto& [words, changed] : changes_of(plan)) {
    CampaignWhatIf what_if{words, estimated(changed, interval_of(changed, plan, used)), 0, {}};
    what_if.saves_s = base.mean_s - what_if.estimate.mean_s;
    if (base.mean_usd) what_if.saves_usd = *base.mean_usd - *what_if.estimate.mean_usd;
    what_ifs.push_back(std::move(what_if));
  }
  return what_ifs;
}

std::vector<HistogramBar> histogram_of(const std::vector<CampaignRun>& runs) {
  const auto [least, most] = std::ranges::minmax_element(runs, {}, &CampaignRun::elapsed);
  const auto from = seconds_of(least->elapsed).value(), to = seconds_of(most->elapsed).value();
  std::vector<HistogramBar> histogram;
  const auto width = (to - from) / bars;
  for (int i = 0; i < bars; ++i) histogram.push_back({from + i * width, from + (i + 1) * width, 0});
  for (const auto& run : runs) {
    const auto place = width > 0 ? (seconds_of(run.elapsed).value() - from) / width : 0;
    ++histogram[std::min<std::size_t>(bars - 1, static_cast<std::size_t>(place))].runs;
  }
  return histogram;
}

/// Simulates the run of median length again and keeps its stops.
CampaignRun typical_of(const std::vector<CampaignRun>& runs, const CampaignPlan& plan, Seconds interval) {
  std::vector<Ticks> lengths;
  for (const auto& run : runs) lengths.push_back(run.elapsed);
  const auto median = lower_median(lengths);
  const auto seed = std::ranges::find(lengths, median) - lengths.begin();
  return simulate_campaign(plan, interval, static_cast<int>(seed), RunDetail::interruptions);
}

/// The source of a published model of failures or interruptions; the scenario's own rates without one.
template <class Model>
std::string own_rates_or(const Model* model) {
  return std::string{model == nullptr || model->source.empty() ? "the scenario's own rates" : model->source};
}

std::vector<ProvenanceFact> basis_of(const Scenario& scenario, const Metrics& metrics) {
  const auto& settings = *scenario.campaign;
  std::vector<ProvenanceFact> basis;
  if (settings.failures) {
    const auto* model = find_failure_model(settings.failures->model);
    basis.push_back({"failures", own_rates_or(model), "; they occur at random"});
  }
  if (settings.checkpoint && settings.checkpoint->storage) {
    const auto& tier = *settings.checkpoint->storage;
    auto remark = tier.source.empty() ? "" : fmt::format(" ({})", tier.source);
    if (const auto share = loader_share(scenario, metrics); share > 0)
      remark += fmt::format("; the job's samples take {:.3g} % of its rate", 100 * share);
    if (tier.price.usd_per_gb_month && !tier.price.as_of.empty())
      remark += fmt::format("; prices of {}", tier.price.as_of);
    basis.push_back({"checkpoints", tier.name, std::move(remark)});
  }
  if (settings.spot && settings.terms == Terms::spot) {
    const auto* model = find_spot_model(settings.spot->model);
    basis.push_back({"spot nodes", own_rates_or(model)});
  }
  if (scenario.job.local_sgd)
    basis.push_back(
        {"local SGD", "the effect on the loss is not predicted; the samples of all workers count",
         " (8 workers with 500 inner steps matched synchronous training on C4, DiLoCo, arXiv 2311.08105)"});
  return basis;
}

std::vector<Warning> warnings_of(const CampaignPlan& plan, const Scenario& scenario,
                                 const IntervalChoice& interval, const CampaignEstimate& estimate) {
  const auto& settings = *scenario.campaign;
  std::vector<Warning> warnings;
  const bool knows_steps = settings.convergence && settings.convergence->more_steps > 1;
  if (auto unknown = unknown_lossy_steps(scenario.job.strategy); unknown && !knows_steps)
    add(warnings, *std::move(unknown));
  if (!settings.failures && !plan.rounds) add(warnings, make_warning<"no-failure-model">());
  if (settings.checkpoint && settings.checkpoint->storage) {
    const auto& tier = *settings.checkpoint->storage;
    if (!tier.write) add(warnings, make_warning<"unknown-write-rate", "storage">(tier.name));
    if (tier.is_local() && settings.failures)
      add(warnings, make_warning<"checkpoints-lost-with-node", "storage">(tier.name));
  }
  const auto write = seconds_of(plan.checkpoint.write);
  const auto checkpoint = seconds_of(plan.checkpoint.pause) + write;
  if (plan.saves && checkpoint > plan.mttf())
    add(warnings, make_warning<"checkpoint-exceeds-mttf", "checkpoint", "mttf">(checkpoint.value(),
                                                                                plan.mttf().value()));
  if (plan.saves && interval.used < write)
    add(warnings,
        make_warning<"interval-too-short", "interval", "write">(interval.used.value(), write.value()));
  if (estimate.unfinished > 0)
    add(warnings, make_warning<"unfinished-runs", "unfinished", "runs">(estimate.unfinished, estimate.runs));
  return warnings;
}

[[noreturn]] void refuse_endless_campaign(const CampaignPlan& plan, Seconds interval) {
  if (plan.rounds)
    refuse(fmt::format("the campaign does not finish: hardly any round has {} updates in time",
                       plan.rounds->least),
           "extend the deadline of a round, ask more clients, or require fewer updates (least)");
  const auto interruptions = plan.interruptions();
  refuse(fmt::format(
             "the campaign does not finish: it is interrupted every {:.4g} s on average, but a restart takes "
             "{:.4g} s, and a checkpoint takes {:.4g} s after {:.4g} s of training",
             interruptions.mttf.value(), interruptions.restart.value(),
             (interruptions.pause + seconds_of(plan.checkpoint.write)).value(), interval.value()),
         "restart faster (campaign.restart), save faster (campaign.checkpoint.write, mode: async) or more "
         "often, use fewer nodes, or do not use spot nodes");
}

/// Difference between a quantile of a figure over the runs and a limit. Negative if the limit is kept.
template <class Figure>
double excess(const std::vector<CampaignRun>& runs, double limit, double sure, const Figure& figure) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(figure(run));
  return quantile(std::move(values), sure) - limit;
}

template <class Figure>
double share_within(const std::vector<CampaignRun>& runs, double limit, const Figure& figure) {
  const auto kept =
      std::ranges::count_if(runs, [&](const auto& run) { return run.finished && figure(run) <= limit; });
  return static_cast<double>(kept) / static_cast<double>(runs.size());
}

void add_limits(CampaignAnswers& answers, const std::vector<CampaignRun>& runs,
                const CampaignQuestions& questions, const NodeCosts& rates) {
  const auto seconds = [](const CampaignRun& run) { return seconds_of(run.elapsed).value(); };
  const auto usd = [&](const CampaignRun& run) { return rates.usd_of(run); };
  if (questions.deadline) {
    answers.in_time = share_within(runs, questions.deadline->value(), seconds);
    answers.late_s = excess(runs, questions.deadline->value(), questions.sure, seconds);
  }
  if (questions.budget_usd && rates.usd) {
    answers.in_budget = share_within(runs, *questions.budget_usd, usd);
    answers.over_usd = excess(runs, *questions.budget_usd, questions.sure, usd);
  }
}

void add_terms(CampaignAnswers& answers, const Run& run, const CampaignQuestions& questions) {
  if (answers.plan.rounds) return;
  for (std::size_t i = 0; i < terms_words.size(); ++i) {
    const auto terms = static_cast<Terms>(i);
    const auto price = price_of_node(run.scenario, terms);
    if (!price) continue;
    auto scenario_terms = run.scenario.campaign.value();
    scenario_terms.terms = terms;
    if (terms == Terms::spot && !scenario_terms.spot) continue;
    const auto plan = with_terms(answers.plan, scenario_terms);
    const auto interval = interval_of(plan, answers.plan, answers.interval.used);
    const auto rates = node_rates(run.scenario, terms);
    if (!rates.usd) continue;
    const auto runs =
        simulate_seeds(plan, interval, std::min(questions.seeds, most_seeds_of_a_search), questions.threads);
    const auto share = terms == Terms::spot ? scenario_terms.spot->share : 1;
    answers.terms.push_back(
        {terms, *price, price_of_platform(run.scenario, terms), share, estimate_of(runs, plan, rates)});
  }
}

}  // namespace

std::optional<UsdPerHour> price_of_node(const Scenario& scenario, Terms terms) {
  if (const auto& written = scenario.campaign->prices[static_cast<std::size_t>(terms)]) return written;
  const auto price = price_of_platform(scenario, terms);
  if (!price) return std::nullopt;
  const auto& platform = scenario.platform;
  const auto nodes = node_count(platform, scenario.job.gpus);
  const auto gpus_per_node = static_cast<int>(platform.gpus.size()) / platform.nodes;
  return price->of(scenario.job.gpus, nodes, gpus_per_node) / nodes;
}

namespace {

/// The time and the money of staging, once in the campaign.
void add_staging(CampaignPlan& plan, const Run& run, int threads) {
  const auto& input = run.scenario.job.input;
  if (plan.rounds || !input.staged_from) return;
  const auto staging = ways_in(run.scenario, run.engine, threads);
  if (!staging) return;
  const bool is_before = input.stage_in == StageIn::before;
  plan.staging =
      ticks_of(is_before ? staging->copy.time()
                         : std::max(Seconds{}, staging->during.first_epoch - staging->before.first_epoch) +
                               staging->during.catching_up);
  const auto saved = is_before ? 0 : staging->during.usd_per_epoch * staging->cold_reads;
  plan.data.usd_of_filling += (staging->copy.usd() - saved) * plan.workers;
  auto cold = input;
  cold.storage = std::exchange(cold.staged_from, std::nullopt);
  if (const auto cost = samples_cost(cold)) plan.data.usd_per_s += cost->usd_per_s;
}

}  // namespace

void check_length(const Run& run) {
  constexpr double year_s = 365 * 86400.0;
  constexpr double most_years = 20;
  const auto years =
      campaign_steps(run.scenario, run.measured.metrics) * run.measured.metrics.step_time.value() / year_s;
  if (years > most_years)
    refuse(fmt::format("the steps of the campaign take {:.4g} years", years),
           "use less data or more GPUs: campaigns are limited to 20 years");
}

CampaignAnswers answers_of(const Run& run, const CampaignQuestions& questions,
                           const ProgressCallback& on_progress) {
  expects(run.scenario.campaign.has_value() && questions.seeds > 0, "there is a campaign to simulate");
  const auto& settings = *run.scenario.campaign;
  CampaignAnswers answers{.plan = plan_campaign(run.scenario, run.measured.metrics, run.range,
                                                client_steps(run), phase_steps(run, questions.threads)),
                          .per_node = price_of_node(run.scenario, settings.terms)};
  if (!answers.plan.rounds) answers.price = price_of_platform(run.scenario, settings.terms);
  add_staging(answers.plan, run, questions.threads);
  const auto& plan = answers.plan;
  const auto few_seeds = std::min(questions.seeds, most_seeds_of_a_search);
  if (efficiency(plan.interruptions(), plan.interval.value_or(clamped_daly_interval(plan))) < 0.01)
    refuse_endless_campaign(plan, plan.interval.value_or(clamped_daly_interval(plan)));
  report_progress(on_progress, "searching for the best checkpoint interval");
  answers.interval = choose_interval(plan, few_seeds, questions.threads);
  const auto rates = node_rates(run.scenario, settings.terms);
  report_progress(on_progress, "simulating the campaign");
  const auto runs = simulate_seeds(plan, answers.interval.used, questions.seeds, questions.threads);
  answers.estimate = estimate_of(runs, plan, rates);
  if (answers.estimate.unfinished == answers.estimate.runs)
    refuse_endless_campaign(plan, answers.interval.used);
  add_limits(answers, runs, questions, rates);
  answers.target_steps = target_steps(plan);
  answers.basis = basis_of(run.scenario, run.measured.metrics);
  answers.warnings = warnings_of(plan, run.scenario, answers.interval, answers.estimate);
  if (questions.only_figures) return answers;
  answers.typical = typical_of(runs, plan, answers.interval.used);
  answers.course = course_of(answers.typical, plan, rates);
  answers.histogram = histogram_of(runs);
  report_progress(on_progress, "simulating what-ifs");
  answers.what_ifs = what_ifs_of(plan, answers.interval.used, rates, questions);
  add_terms(answers, run, questions);
  answers.moved = central_training(run, plan, answers.estimate, answers.per_node);
  return answers;
}

std::vector<Seconds> client_steps(const Run& run, std::string_view engine) {
  const auto& local = run.scenario.job.local_sgd;
  if (!local || !local->clients) return {};
  const auto& metrics = run.measured.metrics;
  const Flops work{metrics.tflops_per_gpu * 1e12 * metrics.step_time.value() * run.scenario.job.gpus};
  std::vector<Seconds> steps;
  for (std::size_t i = 0; i < local->clients->classes.size(); ++i) {
    const auto& client_class = local->clients->classes[i];
    if (client_class.rate && !(work > Flops{}))
      refuse(fmt::format("clients of class '{}' have a rate, but the FLOPs of the model '{}' are unknown",
                         client_class.name, run.scenario.model.name),
             "give them 'step', 'slowdown' or 'platform'");
    if (!client_class.platform.empty()) {
      steps.push_back(ask(*run.scenario.clients.at(i), {.engine = engine}).measured.metrics.step_time);
    } else if (client_class.rate) {
      steps.push_back(work / *client_class.rate);
    } else {
      steps.push_back(client_class.step.value_or(metrics.step_time * client_class.slowdown));
    }
  }
  return steps;
}

namespace {

constexpr Bytes gb{1e9};

/// The data of all other workers is sent over the link of the worker that trains.
void add_transfer(CentralTraining& moved, const LocalSgd& local) {
  const auto& wan = *local.wan;
  moved.data = local.data * ((local.workers - 1.0) / local.workers);
  moved.transfer_time =
      moved.data / tcp_rate({wan.rate, wan.rtt, wan.window, wan.loss, wan.streams, wan.congestion});
  moved.transfer_usd = moved.data / gb * wan.usd_per_gb;
}

/// Each client sends its own data while it is available.
void add_transfer(CentralTraining& moved, const ClientSettings& clients) {
  for (const auto& client_class : clients.classes) {
    moved.data += client_class.data * client_class.count;
    moved.transfer_time =
        std::max(moved.transfer_time, client_class.data / client_class.up / client_class.available);
    moved.transfer_usd += client_class.data * client_class.count / gb * client_class.usd_per_gb;
  }
}

}  // namespace

std::optional<CentralTraining> central_training(const Run& run, const CampaignPlan& plan,
                                                const CampaignEstimate& estimate,
                                                const std::optional<UsdPerHour>& node) {
  const auto& local = run.scenario.job.local_sgd;
  if (!local) return std::nullopt;
  CentralTraining moved{.exchanged = Bytes{estimate.mean_sent_bytes}};
  if (local->clients) {
    add_transfer(moved, *local->clients);
  } else {
    add_transfer(moved, *local);
  }
  if (!(moved.data > Bytes{})) return std::nullopt;
  const auto at_once = local->clients ? local->clients->target : local->workers;
  moved.training = run.measured.metrics.step_time * (plan.steps * at_once);
  moved.best_training_time = moved.training / local->workers;
  if (node) {
    const auto nodes = node_count(run.scenario.platform, run.scenario.job.gpus);
    moved.training_usd = moved.training.value() / 3600 * node->value() * nodes;
  }
  return moved;
}

}  // namespace gradway
