// SPDX-License-Identifier: Apache-2.0
#include "sim/report/campaign/campaign.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/report/format/fact_words.hpp"
#include "sim/report/format/json_values.hpp"
#include "sim/report/format/scenario_json.hpp"
#include "sim/report/format/training_text.hpp"

namespace gradway::report {

const std::array<BucketWords, bucket_count>& bucket_words() {
  static constexpr std::array<BucketWords, bucket_count> words{{
      {"productive_steps", "productive steps",
       "steps that were kept, at their predicted length (productive time)"},
      {"stragglers", "stragglers, jitter", "time that slow GPUs and jitter add to the steps that were kept"},
      {"fewer_nodes", "fewer nodes",
       "time that running on fewer nodes adds to the steps that were kept (elastic)"},
      {"slower_periods", "slower periods",
       "time that busy hours, and storage that has yet to grow, add to the steps that were kept"},
      {"worker_exchange", "between workers",
       "workers wait for each other's weights, or a round waits for a client's downloads and uploads "
       "(custom)"},
      {"evaluation", "evaluation", "pauses to evaluate (custom)"},
      {"checkpoint_save", "saving",
       "pauses to save checkpoints, and the slow-down of steps by background writes"},
      {"wasted_progress", "lost work",
       "steps and evaluations lost since the last stored checkpoint; rounds with too few updates"},
      {"detection", "detection", "from a failure until the job is stopped (infrastructure recovery)"},
      {"requeue", "requeue", "until the scheduler gives the job its nodes (infrastructure recovery)"},
      {"communicator_setup", "communicators",
       "until all ranks have set up their communicators (training preparation)"},
      {"checkpoint_restore", "restore", "all ranks read the checkpoint"},
      {"data_loading", "loader start",
       "until the loader delivers batches after a start, and at the start of epochs; staging of the dataset"},
      {"waiting_for_nodes", "waiting",
       "until a node is repaired, or clients answer (infrastructure recovery)"},
  }};
  return words;
}

const std::array<ShareWords, 3>& share_words() {
  static constexpr std::array<ShareWords, 3> words{{
      {"goodput", "goodput",
       "predicted time of productive steps over paid time: productive_steps / all (ML goodput)"},
      {"effective_training_time", "effective",
       "actual time of productive steps over paid time: (productive_steps + stragglers + fewer_nodes + "
       "slower_periods) / all "
       "(Llama 3, MegaScale)"},
      {"ettr", "ETTR",
       "productive runtime over total time with queueing and restarts: (effective training time + "
       "evaluation) / all (Meta RSC, ByteRobust)"},
  }};
  return words;
}

namespace {

using Json = nlohmann::ordered_json;

Json buckets_json(const std::array<double, bucket_count>& seconds) {
  Json json = Json::object();
  for (std::size_t i = 0; i < bucket_count; ++i) json[std::string{bucket_words()[i].key}] = seconds[i];
  return json;
}

Json expected_json(const Expected& expected) {
  return {{"median", expected.value}, {"low", expected.low}, {"high", expected.high}};
}

Json expected_json(const std::optional<Expected>& expected) {
  return expected ? expected_json(*expected) : Json(nullptr);
}

Json labels_json() {
  Json json = Json::object();
  for (const auto& words : share_words()) json[std::string{words.key}] = words.label;
  for (const auto& words : bucket_words()) json[std::string{words.key}] = words.label;
  return json;
}

Json definitions_json() {
  Json json = Json::object();
  for (const auto& words : share_words()) json[std::string{words.key}] = words.meaning;
  for (const auto& words : bucket_words()) json[std::string{words.key}] = words.meaning;
  return json;
}

Json interval_json(const IntervalChoice& choice) {
  Json curve = Json::array();
  for (const auto& point : choice.curve)
    curve.push_back({{"interval_s", point.interval.value()}, {"goodput", point.goodput}});
  return {{"used_s", choice.used.value()},
          {"best_s", choice.best.value()},
          {"young_s", or_null(choice.young)},
          {"daly_s", or_null(choice.daly)},
          {"shortest_s", choice.shortest.value()},
          {"goodput_used", choice.goodput_used},
          {"goodput_best", choice.goodput_best},
          {"goodput_by_daly", or_null(choice.goodput_daly)},
          {"curve", std::move(curve)}};
}

/// What a round of clients consists of; null without clients.
Json rounds_json(const CampaignPlan& plan, const ClientSettings* clients) {
  if (!plan.rounds || clients == nullptr) return nullptr;
  const auto& rounds = *plan.rounds;
  const auto seconds = [](Ticks ticks) { return seconds_of(ticks).value(); };
  Json classes = Json::array();
  for (std::size_t i = 0; i < rounds.classes.size(); ++i) {
    const auto& client_class = rounds.classes[i];
    classes.push_back({{"name", clients->classes[i].name},
                       {"count", client_class.count},
                       {"down_s", seconds(client_class.down)},
                       {"compute_s", seconds(client_class.compute)},
                       {"up_s", seconds(client_class.up)}});
  }
  return {{"inner_steps", rounds.inner_steps},
          {"target", rounds.target},
          {"asked", rounds.asked},
          {"model_bytes", rounds.model.value()},
          {"update_bytes", rounds.update.value()},
          {"classes", std::move(classes)}};
}

Json moved_json(const std::optional<CentralTraining>& moved) {
  if (!moved) return nullptr;
  return {{"bytes", moved->data.value()},
          {"exchanged_bytes", moved->exchanged.value()},
          {"moving_s", moved->transfer_time.value()},
          {"moving_usd", moved->transfer_usd},
          {"training_s", moved->training.value()},
          {"training_usd", or_null(moved->training_usd)},
          {"training_at_best_s", moved->best_training_time.value()}};
}

/// @param clients null without clients
Json plan_json(const CampaignPlan& plan, const ClientSettings* clients) {
  const auto seconds = [](Ticks ticks) { return seconds_of(ticks).value(); };
  const auto mttf = plan.mttf();
  return {{"steps", plan.steps},
          {"step_s", plan.step.value()},
          {"step_low_s", plan.step_range.low.value()},
          {"step_high_s", plan.step_range.high.value()},
          {"jitter_factor", plan.jitter},
          {"nodes", plan.nodes},
          {"spares", plan.endless_spares ? Json(nullptr) : Json(plan.spares)},
          {"workers", plan.workers},
          {"exchange_s", seconds(plan.exchange)},
          {"rounds", rounds_json(plan, clients)},
          {"job_mttf_s", mttf < Seconds::infinite() ? Json(mttf.value()) : Json(nullptr)},
          {"checkpoint_bytes", plan.saves ? Json(plan.checkpoint.size.value()) : Json(nullptr)},
          {"checkpoint_pause_s", seconds(plan.checkpoint.pause)},
          {"checkpoint_first_pause_s", seconds(plan.checkpoint.pause + plan.checkpoint.allocation)},
          {"checkpoint_write_s", seconds(plan.checkpoint.write)},
          {"checkpoint_read_s", seconds(plan.checkpoint.read)},
          {"restart_s", seconds(plan.restart())}};
}

Json typical_json(const CampaignRun& run) {
  const auto seconds = [](Ticks ticks) { return seconds_of(ticks).value(); };
  std::array<double, bucket_count> times{};
  for (std::size_t i = 0; i < bucket_count; ++i) times[i] = seconds(run.times[i]);
  Json stops = Json::array();
  for (const auto& stop : run.interruptions) {
    stops.push_back({{"from_s", seconds(stop.from)},
                     {"to_s", seconds(stop.to)},
                     {"progress_before", static_cast<double>(stop.before) / static_cast<double>(run.work)},
                     {"progress_after", static_cast<double>(stop.after) / static_cast<double>(run.work)},
                     {"cause", stop.cause}});
  }
  return {{"seconds", seconds(run.elapsed)},
          {"checkpoints", run.checkpoints},
          {"buckets_s", buckets_json(times)},
          {"stops", std::move(stops)}};
}

/// @param unit tokens of a sample, or 1
Json course_json(const std::vector<CampaignSpan>& course, double unit) {
  Json json = Json::array();
  for (const auto& span : course)
    json.push_back({{"from_s", span.from_s},
                    {"to_s", span.to_s},
                    {"trains", span.trains},
                    {"phase", span.phase},
                    {"condition", span.condition},
                    {"rate_per_s", span.samples_per_s * unit},
                    {"global_batch", span.batch},
                    {"step_s", span.step.value()},
                    {"storage_bytes_per_s", span.storage_read.value()},
                    {"usd", or_null(span.usd)}});
  return json;
}

Json target_json(const CampaignAnswers& answers, double unit) {
  if (!answers.target_steps) return nullptr;
  const auto& target = *answers.target_steps;
  return {{"critical_batch", *answers.plan.target->critical_batch * unit},
          {"steps", target.steps},
          {"steps_low", target.low},
          {"steps_high", target.high},
          {"amount", answers.plan.samples * unit},
          {"least_amount", target.least_samples * unit},
          {"least_steps", target.least_steps}};
}

Json what_ifs_json(const std::vector<CampaignWhatIf>& what_ifs) {
  Json json = Json::array();
  for (const auto& what_if : what_ifs) {
    json.push_back({{"change", what_if.change},
                    {"saves_s", what_if.saves_s},
                    {"saves_usd", or_null(what_if.saves_usd)},
                    {"estimate", campaign_estimate_json(what_if.estimate)}});
  }
  return json;
}

Json terms_json(const std::vector<CampaignTerms>& terms) {
  Json json = Json::array();
  for (const auto& offer : terms) {
    json.push_back({{"terms", name_of(offer.terms)},
                    {"usd_per_node_hour", offer.per_node.value()},
                    {"price", price_json(offer.price)},
                    {"share_of_nodes", offer.share},
                    {"estimate", campaign_estimate_json(offer.estimate)}});
  }
  return json;
}

Json histogram_json(const std::vector<HistogramBar>& histogram) {
  Json json = Json::array();
  for (const auto& bar : histogram)
    json.push_back({{"from_s", bar.from_s}, {"to_s", bar.to_s}, {"runs", bar.runs}});
  return json;
}

Json limits_json(const Campaign& campaign) {
  const auto& [run, questions, answers] = campaign;
  return {{"deadline_s", or_null(questions.deadline)},
          {"deadline_kept", or_null(answers.in_time)},
          {"late_s", or_null(answers.late_s)},
          {"budget_usd", or_null(questions.budget_usd)},
          {"budget_kept", or_null(answers.in_budget)},
          {"over_usd", or_null(answers.over_usd)},
          {"sure", questions.sure}};
}

}  // namespace

Json campaign_estimate_json(const CampaignEstimate& estimate) {
  Json json{{"runs", estimate.runs},
            {"unfinished", estimate.unfinished},
            {"seconds", expected_json(estimate.seconds)},
            {"usd", expected_json(estimate.usd)},
            {"kg_co2", expected_json(estimate.kg_co2)}};
  for (const auto& [words, share] : {std::pair{share_words()[0], estimate.goodput},
                                     {share_words()[1], estimate.effective},
                                     {share_words()[2], estimate.ettr}})
    json[std::string{words.key}] = expected_json(share);
  json.update({{"interruptions", expected_json(estimate.interruptions)},
               {"mean_checkpoints", estimate.mean_checkpoints},
               {"mean_storage_usd", estimate.mean_storage_usd},
               {"mean_data_usd", estimate.mean_data_usd},
               {"mean_exchanges", estimate.mean_exchanges},
               {"mean_void_rounds", estimate.mean_void_rounds},
               {"mean_asked", estimate.mean_asked},
               {"mean_updates", estimate.mean_updates},
               {"mean_sent_bytes", estimate.mean_sent_bytes},
               {"mean_s", estimate.mean_s},
               {"mean_usd", or_null(estimate.mean_usd)},
               {"ideal_s", estimate.ideal_s},
               {"mean_buckets_s", buckets_json(estimate.bucket_s)}});
  return json;
}

JsonDocument json_document(const Campaign& campaign, std::string_view version) {
  const auto& [run, questions, answers] = campaign;
  const auto& local = run.scenario.job.local_sgd;
  const auto& tokens = run.measured.metrics.tokens_per_sample;
  const double unit = tokens.value_or(1);
  auto warnings = run.warnings;
  for (const auto& warning : answers.warnings) add(warnings, warning);
  auto basis = run.basis;
  basis.insert(basis.end(), answers.basis.begin(), answers.basis.end());
  return Json{{"schema", 1},
              {"gradway", version},
              {"scenario", scenario_json(run.scenario)},
              {"plan", plan_json(answers.plan, local && local->clients ? &*local->clients : nullptr)},
              {"usd_per_node_hour", or_null(answers.per_node)},
              {"price", price_json(answers.price)},
              {"estimate", campaign_estimate_json(answers.estimate)},
              {"limits", limits_json(campaign)},
              {"interval", interval_json(answers.interval)},
              {"what_ifs", what_ifs_json(answers.what_ifs)},
              {"terms", terms_json(answers.terms)},
              {"moved_data", moved_json(answers.moved)},
              {"histogram", histogram_json(answers.histogram)},
              {"typical", typical_json(answers.typical)},
              {"course", course_json(answers.course, unit)},
              {"course_unit", tokens ? "tokens" : "samples"},
              {"target", target_json(answers, unit)},
              {"labels", labels_json()},
              {"definitions", definitions_json()},
              {"basis", describe(basis)},
              {"warnings", describe(warnings)},
              {"warning_codes", codes_of(warnings)}};
}

}  // namespace gradway::report
