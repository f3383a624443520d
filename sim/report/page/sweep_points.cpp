// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/json_document.hpp"
#include "sim/report/page/page_parts.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/comparison_json.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// A value of each point that the page shows.
struct PageKey {
  const char* path;      ///< JSON pointer into an entry of `runs`
  bool repeats = false;  ///< whether many points share a text, so that each is stored once
};

constexpr std::array page_keys{PageKey{"/error", true},
                               PageKey{"/fits"},
                               PageKey{"/does_not_fit", true},
                               PageKey{"/scenario/model", true},
                               PageKey{"/scenario/platform", true},
                               PageKey{"/scenario/job/gpus"},
                               PageKey{"/scenario/job/batch_per_gpu"},
                               PageKey{"/scenario/job/accumulate"},
                               PageKey{"/metrics/step_time_s"},
                               PageKey{"/metrics/samples_per_s"},
                               PageKey{"/metrics/tokens_per_s_per_gpu"},
                               PageKey{"/metrics/mfu"},
                               PageKey{"/metrics/exposed_communication_s"},
                               PageKey{"/metrics/gpu_busy_fraction"},
                               PageKey{"/metrics/peak_memory_bytes"},
                               PageKey{"/metrics/bus_bandwidth_bytes_per_s"},
                               PageKey{"/metrics/cost_usd_per_million_samples"},
                               PageKey{"/metrics/cost_usd_per_hour"},
                               PageKey{"/interval/step_time_s"},
                               PageKey{"/bottleneck/resource", true},
                               PageKey{"/basis", true},
                               PageKey{"/warnings", true},
                               PageKey{"/warning_codes", true}};

/// A name, or the name of the model that it is based on with the keys that differ.
Json model_in_words(const Json& model) {
  if (!model.is_object()) return model;
  std::vector<std::string> changes;
  for (const auto& [key, value] : model.items())
    if (key != "based_on") changes.push_back(fmt::format("{}: {}", key, serialized(value)));
  return fmt::format("{} {{{}}}", model.at("based_on").get<std::string>(), fmt::join(changes, ", "));
}

/// The report of a point with its model in words, or its error.
Json document_of(const SweepPoint& point) {
  if (!point.error.empty()) return {{"error", point.error}};
  auto report = Json::parse(point.report);
  auto& scenario = report["scenario"];
  if (scenario.contains("model")) scenario["model"] = model_in_words(scenario["model"]);
  return report;
}

/// The values of one key, by point.
class PageColumn {
 public:
  explicit PageColumn(const PageKey& key) : key_{key} {}

  /// @param document of a point
  void add(const Json& document) {
    const Json::json_pointer path{key_.path};
    auto value = document.contains(path) ? document[path] : Json{};
    is_known_ = is_known_ || !value.is_null();
    values_.push_back(key_.repeats && !value.is_null() ? place_of(std::move(value)) : std::move(value));
  }

  bool is_known() const { return is_known_; }

  Json json() && {
    Json json{{"path", key_.path}};
    if (key_.repeats) json["distinct"] = std::move(distinct_);
    json["values"] = std::move(values_);
    return json;
  }

 private:
  Json place_of(Json value) {
    const auto [place, is_new] = places_.emplace(serialized(value), distinct_.size());
    if (is_new) distinct_.push_back(std::move(value));
    return place->second;
  }

  const PageKey& key_;
  bool is_known_ = false;
  Json values_ = Json::array();
  Json distinct_ = Json::array();
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::string model_and_platform(const SweepPoint& point) {
  const auto report = document_of(point);
  return fmt::format("{} on {}", report["scenario"].value("model", "collectives"),
                     report["scenario"].value("platform", ""));
}

Json sweep_points_json(const Sweep& sweep) {
  Json json;
  for (const auto& axis : sweep.axes) json["vary"].push_back({{"key", axis.key}, {"values", axis.values}});
  std::vector<PageColumn> columns{page_keys.begin(), page_keys.end()};
  for (const auto& point : sweep.points) {
    const auto document = document_of(point);
    for (auto& column : columns) column.add(document);
  }
  json["columns"] = Json::array();
  for (auto& column : columns) {
    if (column.is_known()) json["columns"].push_back(std::move(column).json());
  }
  add_ranking(json, ranking_of(sweep));
  return json;
}

}  // namespace gradway::report
