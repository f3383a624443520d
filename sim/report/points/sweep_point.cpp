// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>

#include <nlohmann/json.hpp>

#include "sim/report/format/errors_json.hpp"
#include "sim/report/format/figures.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/points/sweep.hpp"
#include "sim/report/run/json.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// Metrics that the tables, rankings and documents of a sweep need of each point.
constexpr std::array needed_metrics{"step_time_s", "samples_per_s", "exposed_communication_s",
                                    "cost_usd_per_million_samples"};

/// Empty if the value is missing or null, as infinite numbers are in JSON.
std::optional<double> number_or_none(const Json& metrics, const char* name) {
  const auto entry = metrics.find(name);
  return entry != metrics.end() && entry->is_number() ? std::optional{entry->get<double>()} : std::nullopt;
}

ProvenanceClass provenance_in(const Json& report) {
  const auto name = report.at("provenance").get<std::string>();
  auto provenance = ProvenanceClass::measured;
  while (name_of(provenance) != name && provenance != ProvenanceClass::datasheet)
    provenance = static_cast<ProvenanceClass>(static_cast<int>(provenance) + 1);
  return provenance;
}

/// The part of an answer that tables, rankings and CSV show.
/// @throws Json::exception if something is missing or of another kind
Answer answer_in(const Json& report) {
  const auto& metrics = report.at("metrics");
  const auto figure = [&](const char* name) {
    return number_or_none(metrics, name).value_or(std::numeric_limits<double>::infinity());
  };
  Answer answer{.gpus = report.at("scenario").value("job", Json::object()).value("gpus", 0),
                .errors = errors_of(report.at("uncertainties")),
                .provenance = provenance_in(report)};
  answer.metrics.step_time = Seconds{figure("step_time_s")};
  answer.metrics.samples_per_s = figure("samples_per_s");
  answer.metrics.exposed_communication = Seconds{figure("exposed_communication_s")};
  answer.metrics.tokens_per_s = number_or_none(metrics, "tokens_per_s");
  answer.metrics.cost_usd_per_million_samples = number_or_none(metrics, "cost_usd_per_million_samples");
  if (const auto& why = report.at("does_not_fit"); !why.is_null()) answer.failure_reason = why;
  if (const auto& verdict = report.at("memory_verdict"); !verdict.is_null()) {
    const auto* const word = std::ranges::find(memory_verdict_words, verdict.get<std::string>());
    if (word != memory_verdict_words.end())
      answer.verdict = static_cast<MemoryVerdict>(word - memory_verdict_words.begin());
  }
  return answer;
}

bool has_metrics(const Json& report) {
  const auto metrics = report.value("metrics", Json{});
  const auto is_number = [](const Json& value) { return value.is_number() || value.is_null(); };
  const auto is_figure = [&](const Json& value) {
    return is_number(value) || (value.is_object() && std::ranges::all_of(value, is_number));
  };
  return metrics.is_object() && std::ranges::all_of(metrics, is_figure) &&
         std::ranges::all_of(needed_metrics, [&](const char* name) { return metrics.contains(name); });
}

}  // namespace

SweepPoint point_of(const Run& run, std::string_view version, bool with_report) {
  SweepPoint point{.answer = answer_of(run),
                   .figures = figures_json(run.measured.metrics, run.scenario.job.gpus)};
  // A hundred thousand points must fit into memory.
  point.answer.job = {};
  point.answer.basis = {};
  point.answer.warnings = {};
  if (with_report) point.report = text_of(json_document(run, version)) + '\n';
  return point;
}

std::optional<SweepPoint> read_point(std::string report) {
  // Skip anything nested deeper than a report can be, because copying it would need an equally deep stack.
  constexpr int deepest = 16;
  bool is_flat = true;
  const auto json = Json::parse(
      report,
      [&](int depth, Json::parse_event_t, Json&) {
        is_flat = is_flat && depth <= deepest;
        return is_flat;
      },
      false);
  if (!is_flat || !json.is_object() || json.value("schema", Json{}) != 1 || !has_metrics(json))
    return std::nullopt;
  try {
    return SweepPoint{.answer = answer_in(json), .figures = json.at("metrics"), .report = std::move(report)};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace gradway::report
