// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <nlohmann/json.hpp>

#include "sim/report/diagnose/cause_words.hpp"
#include "sim/report/diagnose/diagnose.hpp"
#include "sim/report/format/json_document.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

Json cause_json(const RunCause& cause, const JobRun& run, const std::string& platform) {
  Json json{{"kind", key_of(cause.kind)},
            {"lost_s", cause.lost.value()},
            {"confidence", name_of(cause.confidence)},
            {"ranks", cause.ranks.empty() ? Json::array() : Json(cause.ranks)},
            {"every_step", !cause.is_sporadic}};
  if (cause.ranks.empty()) {
    for (const auto& rank : run.ranks) json["ranks"].push_back(rank.rank);
  }
  auto& evidence = json["evidence"] = Json::object();
  if (cause.events > 0) evidence["events_per_step"] = cause.events;
  if (cause.measured > Seconds{}) evidence["measured_s"] = cause.measured.value();
  if (cause.expected > Seconds{}) evidence["expected_s"] = cause.expected.value();
  if (!cause.example.empty()) evidence["example"] = cause.example;
  if (!cause.next.empty()) evidence["before"] = cause.next;
  if (cause.bytes) evidence["bytes"] = *cause.bytes;
  if (cause.stream >= 0) evidence["stream"] = cause.stream;
  if (cause.expected_channels > 0) {
    evidence["channels"] = cause.found_channels;
    evidence["expected_channels"] = cause.expected_channels;
  }
  json["what"] = cause_text(cause, run, platform);
  json["try"] = remedy_text(cause);
  return json;
}

Json run_json(const JobRun& run, const DiagnosisBasis& basis, const Diagnosis& diagnosis) {
  const auto& first = run.ranks.front();
  Json json{{"ranks", run.world},
            {"traces", run.ranks.size()},
            {"steps", run.steps},
            {"gpu", first.gpu},
            {"precision", name_of(first.precision)},
            {"batch_per_gpu", first.batch > 0 ? Json(first.batch) : Json(nullptr)},
            {"optimizer", first.optimizer ? Json(name_of(*first.optimizer)) : Json(nullptr)},
            {"what", training_text(run, diagnosis)},
            {"reductions_per_step", diagnosis.buckets},
            {"platform", basis.platform_name},
            {"platform_assumed", basis.is_platform_assumed},
            {"unknown", unknown_facts(run)}};
  return json;
}

Json times_json(const DiagnosisBasis& basis, const Diagnosis& diagnosis) {
  Json json{{"traced_s", diagnosis.traced.value()},
            {"measured_s", diagnosis.measured.value()},
            {"replayed_s", diagnosis.replayed.value()},
            {"expected_s", diagnosis.expected.value()},
            {"unexplained_s", diagnosis.unexplained().value()},
            {"cpu_share", diagnosis.cpu_share},
            {"predicted", nullptr}};
  if (basis.step)
    json["predicted"] = {{"step_time_s", basis.step->time.value()},
                         {"low_s", basis.step->low.value()},
                         {"high_s", basis.step->high.value()}};
  return json;
}

Json collectives_json(const Diagnosis& diagnosis) {
  auto json = Json::array();
  for (const auto& collective : diagnosis.collectives) {
    json.push_back(
        {{"kind", name_of(collective.kind)},
         {"bytes", collective.bytes.value()},
         {"ranks", collective.ranks},
         {"channels", collective.channels},
         {"per_step", collective.per_step},
         {"waiting_s", collective.waiting.value()},
         {"transfer_s", collective.transfer.value()},
         {"expected_s", collective.expected ? Json(collective.expected->value()) : Json(nullptr)}});
  }
  return json;
}

}  // namespace

void write_json(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis,
                const Diagnosis& diagnosis) {
  Json json{{"schema", 1},
            {"healthy", diagnosis.is_healthy(basis)},
            {"verdict", verdict_text(run, basis, diagnosis)},
            {"run", run_json(run, basis, diagnosis)},
            {"step", times_json(basis, diagnosis)}};
  for (const auto& [key, list] :
       {std::pair{"causes", &diagnosis.causes}, std::pair{"possible", &diagnosis.possible},
        std::pair{"harmless", &diagnosis.harmless}}) {
    auto& causes = json[key] = Json::array();
    for (const auto& cause : *list) causes.push_back(cause_json(cause, run, basis.platform_name));
  }
  auto& classes = json["classes"] = Json::array();
  for (const auto& work_class : diagnosis.classes)
    classes.push_back({{"work", name_of(work_class.work)},
                       {"measured_s", work_class.measured.value()},
                       {"expected_s", work_class.expected.value()}});
  json["collectives"] = collectives_json(diagnosis);
  auto& ranks = json["ranks"] = Json::array();
  for (const auto& rank : diagnosis.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"traced_step_s", rank.traced_step.value()},
                     {"busy_s", rank.busy.value()},
                     {"exposed_s", rank.exposed.value()},
                     {"idle_s", rank.idle.value()},
                     {"forward_s", rank.phases[0].value()},
                     {"backward_s", rank.phases[1].value()},
                     {"optimizer_s", rank.phases[2].value()},
                     {"launches", rank.launches},
                     {"cpu_per_launch_s", rank.launch.value()}});
  write(out, JsonDocument{std::move(json)});
}

}  // namespace gradway::report
