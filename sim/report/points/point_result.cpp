// SPDX-License-Identifier: Apache-2.0
#include "sim/report/points/point_result.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/errors_json.hpp"
#include "sim/report/format/json_document.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// Metrics that the tables, rankings and documents of a sweep need of each point.
constexpr std::array needed_metrics{"step_time_s", "samples_per_s", "exposed_communication_s",
                                    "cost_usd_per_million_samples"};

/// Empty if the value is null, as infinite numbers are in JSON.
std::optional<double> number_or_none(const Json& value) {
  return value.is_number() ? std::optional{value.get<double>()} : std::nullopt;
}

std::optional<int> whole_or_none(const Json& object, const char* key) {
  const auto entry = object.find(key);
  return entry != object.end() ? std::optional{entry->get<int>()} : std::nullopt;
}

std::vector<PointMetric> metrics_in(const Json& metrics) {
  std::vector<PointMetric> list;
  list.reserve(metrics.size());
  for (const auto& [name, value] : metrics.items())
    if (!value.is_object()) list.push_back({name, number_or_none(value), value.is_number_integer()});
  return list;
}

/// A name, or the name of the model that it is based on with the keys that differ.
std::string model_in(const Json& scenario) {
  const auto model = scenario.value("model", Json(""));
  if (!model.is_object()) return model;
  std::vector<std::string> changes;
  for (const auto& [key, value] : model.items())
    if (key != "based_on") changes.push_back(fmt::format("{}: {}", key, serialized(value)));
  return fmt::format("{} {{{}}}", model.at("based_on").get<std::string>(), fmt::join(changes, ", "));
}

void add_scenario(PointResult& result, const Json& scenario) {
  result.model = model_in(scenario);
  result.platform = scenario.value("platform", "");
  const auto job = scenario.value("job", Json::object());
  result.gpus = whole_or_none(job, "gpus");
  result.batch_per_gpu = whole_or_none(job, "batch_per_gpu");
  result.accumulate = whole_or_none(job, "accumulate");
}

/// @throws Json::exception if something is missing or of another kind
PointResult result_in(const Json& report) {
  PointResult result;
  add_scenario(result, report.at("scenario"));
  result.metrics = metrics_in(report.at("metrics"));
  const auto& range = report.at("interval").at("step_time_s");
  result.step_low = number_or_none(range.at(0));
  result.step_high = number_or_none(range.at(1));
  result.errors = errors_of(report.at("uncertainties"));
  if (const auto& why = report.at("does_not_fit"); !why.is_null()) result.does_not_fit = why;
  result.may_not_fit = report.contains("fits") && report.at("fits").is_null();
  result.bottleneck = report.at("bottleneck").at("resource");
  result.provenance = report.at("provenance");
  result.basis = report.at("basis");
  result.warnings = report.at("warnings");
  result.warning_codes = report.value("warning_codes", std::vector<std::string>{});
  return result;
}

bool has_metrics(const Json& report) {
  const auto metrics = report.value("metrics", Json{});
  const auto is_one = [](const Json& value) { return value.is_number() || value.is_null(); };
  const auto is_figure = [&](const Json& value) {
    return is_one(value) || (value.is_object() && std::ranges::all_of(value, is_one));
  };
  return metrics.is_object() && std::ranges::all_of(metrics, is_figure) &&
         std::ranges::all_of(needed_metrics, [&](const char* name) { return metrics.contains(name); });
}

}  // namespace

Json value_json(const PointMetric& metric) {
  if (!metric.value) return nullptr;
  return metric.is_whole ? Json(static_cast<std::int64_t>(*metric.value)) : Json(*metric.value);
}

std::optional<double> PointResult::known(std::string_view metric) const {
  const auto entry = std::ranges::find(metrics, metric, &PointMetric::name);
  return entry != metrics.end() ? entry->value : std::nullopt;
}

double PointResult::figure(std::string_view metric) const {
  return known(metric).value_or(std::numeric_limits<double>::infinity());
}

PointResult result_of(const JsonDocument& report) {
  return result_in(report.json());
}

std::optional<PointResult> read_result(std::string_view text) {
  // Skip anything nested deeper than a report can be, because copying it would need an equally deep stack.
  constexpr int deepest = 16;
  bool is_flat = true;
  const auto json = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json&) {
        is_flat = is_flat && depth <= deepest;
        return is_flat;
      },
      false);
  if (!is_flat || !json.is_object() || json.value("schema", Json{}) != 1 || !has_metrics(json))
    return std::nullopt;
  try {
    return result_in(json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace gradway::report
