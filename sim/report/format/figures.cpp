// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/figures.hpp"

#include <algorithm>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/metrics/loading.hpp"
#include "sim/report/format/json_values.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// Whether a document without a value has null or leaves the key out.
enum class Unknown { null, left_out };
using enum Unknown;

constexpr std::string_view low = "low";
constexpr std::string_view high = "high";

/// A figure, and all that documents, pages and types know of it.
struct Figure {
  std::string_view name;  ///< ends with its unit
  Json value;             ///< null: unknown, or it does not apply
  std::string_view meaning = "";
  std::string_view title = "";   ///< of columns and axes; empty: it is not compared
  std::string_view better = "";  ///< `low` or `high` values
  Unknown unknown = null;
  std::string_view type = "number";
};

template <class Value>
Json json_of(const Value& value) {
  if constexpr (std::same_as<Value, Bytes>) {
    return amount(value.value());
  } else if constexpr (requires { value.has_value(); }) {
    return value ? json_of(*value) : Json(nullptr);
  } else if constexpr (requires { value.value(); }) {
    return value.value();
  } else {
    return value;
  }
}

Json exposed_by_purpose(const StepParts& parts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < purpose_words.size(); ++i)
    json[std::string{purpose_words[i]}] = parts.exposed[i].value();
  return json;
}

std::vector<Figure> parts_of(const StepParts& parts) {
  return {{"compute_s", json_of(parts.compute)},
          {"communication_s", json_of(parts.communication), "overlapped by kernels or not"},
          {"exposed_communication_s", json_of(parts.exposed_communication), "not overlapped by kernels"},
          {.name = "exposed_s",
           .value = exposed_by_purpose(parts),
           .meaning = "exposed communication by group: data, tensor, pipeline, context, expert",
           .type = "object"},
          {"input_wait_s", json_of(parts.input_wait)},
          {"optimizer_s", json_of(parts.optimizer)},
          {"launch_bound_s", json_of(parts.launch_bound)},
          {"idle_s", json_of(parts.idle)}};
}

std::vector<Figure> rates_of(const Metrics& metrics, int gpus) {
  const auto tokens = metrics.tokens_per_s;
  return {{"step_time_s", json_of(metrics.step_time), "", "step time", low},
          {"steps_per_s", json_of(metrics.steps_per_s)},
          {"samples_per_s", json_of(metrics.samples_per_s), "", "samples/s", high},
          {"tokens_per_s", json_of(tokens), "of a model of text"},
          {"tokens_per_s_per_gpu", tokens ? Json(*tokens / gpus) : Json(), "", "tokens/s per GPU", high}};
}

std::vector<Figure> uses_of(const Metrics& metrics) {
  return {{"bubble_s", json_of(metrics.bubble), "of a pipeline"},
          {"gpu_busy_fraction", json_of(metrics.gpu_busy_fraction), "", "GPU busy", high},
          {"tflops_per_gpu", json_of(metrics.tflops_per_gpu), "10^12 FLOP per second"},
          {"mfu", json_of(metrics.mfu), "share of the GPU's dense peak", "MFU", high},
          {.name = "collectives", .value = metrics.collectives, .meaning = "per step", .type = "integer"},
          {"bytes_sent_per_gpu", json_of(metrics.bytes_sent_per_gpu), "per step"},
          {"peak_memory_bytes", json_of(metrics.peak_memory), "", "memory per GPU", low},
          {"cost_usd_per_hour", json_of(metrics.cost_per_hour), "", "cost per hour", low},
          {"cost_usd_per_million_samples", json_of(metrics.cost_usd_per_million_samples), "",
           "cost per million samples", low}};
}

/// Figures of some jobs only.
std::vector<Figure> others_of(const Metrics& metrics) {
  const auto loading = metrics.loading.value_or(Loading{});
  std::vector<Figure> figures{
      {"data_loading_s", json_of(loading.batch),
       "from when a loader worker begins a batch until the batch is ready"},
      {"first_batch_s", json_of(loading.first_batch), "from the start of an epoch"},
      {"epoch_steps", amount(loading.epoch_steps), "steps in which every sample occurs once"},
      {"epoch_s", json_of(epoch_time(metrics, loading)),
       "from the start of the workers to the end of the last step"},
      {"epoch_start_s", json_of(loading.epoch_start), "time of an epoch in addition to its steps"},
      {"storage_bytes", json_of(loading.read), "read by all ranks per step"},
      {"accelerator_utilisation", json_of(metrics.loading ? accelerator_utilisation(metrics) : 0),
       "as MLPerf Storage defines it"}};
  if (!metrics.loading)
    for (auto& figure : figures) figure.value = nullptr;
  figures.push_back({"bus_bandwidth_bytes_per_s", json_of(metrics.bus_bandwidth), "of a collective alone",
                     "bus bandwidth", high});
  const bool is_paid = metrics.cost_usd_per_million_samples.has_value();
  figures.push_back({.name = "idle_gpus",
                     .value = is_paid ? Json(metrics.idle_gpus) : Json(),
                     .meaning = "of the nodes that are paid for",
                     .type = "integer"});
  for (auto& figure : figures) figure.unknown = left_out;
  return figures;
}

std::vector<Figure> figures_of(const Metrics& metrics, int gpus) {
  auto figures = rates_of(metrics, gpus);
  for (auto&& more : {parts_of(metrics), uses_of(metrics), others_of(metrics)})
    figures.insert(figures.end(), more.begin(), more.end());
  return figures;
}

Json json_of(const std::vector<Figure>& figures) {
  Json json = Json::object();
  for (const auto& figure : figures)
    if (!figure.value.is_null() || figure.unknown == null) json[std::string{figure.name}] = figure.value;
  return json;
}

}  // namespace

Json figures_json(const Metrics& metrics, int gpus) {
  return json_of(figures_of(metrics, gpus));
}

Json figures_json(const Answer& answer, std::initializer_list<std::string_view> names) {
  auto figures = figures_of(answer.metrics, answer.gpus);
  figures.push_back({"interval", {answer.range.low.value(), answer.range.high.value()}});
  figures.push_back({"memory_needed_bytes", answer.memory.value()});
  figures.push_back({"memory_verdict", name_of(answer.verdict)});
  Json json = Json::object();
  for (const auto name : names)
    json[std::string{name}] = std::ranges::find(figures, name, &Figure::name)->value;
  return json;
}

Json parts_json(const StepParts& parts) {
  return json_of(parts_of(parts));
}

JsonDocument figures_schema() {
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& figure : figures_of(Metrics{}, 1)) {
    auto& property = properties[std::string{figure.name}];
    property["type"] =
        figure.value.is_null() && figure.unknown == null ? Json{figure.type, "null"} : Json(figure.type);
    if (figure.type == "object") property["additionalProperties"] = {{"type", "number"}};
    if (!figure.meaning.empty()) property["description"] = figure.meaning;
    if (!figure.title.empty()) property.update({{"title", figure.title}, {"better", figure.better}});
    if (figure.unknown == null) required.push_back(figure.name);
  }
  return Json{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "Figures of a step: metrics in gradway's report.json"},
              {"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)}};
}

}  // namespace gradway::report
