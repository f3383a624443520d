// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/json_document.hpp"
#include "sim/report/page/page_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/format/comparison_json.hpp"
#include "sim/report/format/json_values.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// A value of each point that the page shows.
struct PageKey {
  const char* path;  ///< JSON pointer into an entry of `runs`
  bool repeats;      ///< whether many points share a text, so that each is stored once
  Json (*value)(const PointResult& result) = nullptr;  ///< value of a point that did not fail; null: a metric
};

Json text_or_null(const std::string& text) {
  return text.empty() ? Json{} : Json(text);
}

constexpr std::string_view error_path = "/error";
constexpr std::string_view metrics_path = "/metrics/";

constexpr std::array page_keys{
    PageKey{error_path.data(), true},
    PageKey{"/fits", false, [](const PointResult& point) { return or_null(point.fits_for_sure()); }},
    PageKey{"/does_not_fit", true, [](const PointResult& point) { return text_or_null(point.does_not_fit); }},
    PageKey{"/scenario/model", true, [](const PointResult& point) { return text_or_null(point.model); }},
    PageKey{"/scenario/platform", true,
            [](const PointResult& point) { return text_or_null(point.platform); }},
    PageKey{"/scenario/job/gpus", false, [](const PointResult& point) { return or_null(point.gpus); }},
    PageKey{"/scenario/job/batch_per_gpu", false,
            [](const PointResult& point) { return or_null(point.batch_per_gpu); }},
    PageKey{"/scenario/job/accumulate", false,
            [](const PointResult& point) { return or_null(point.accumulate); }},
    PageKey{"/metrics/step_time_s", false},
    PageKey{"/metrics/samples_per_s", false},
    PageKey{"/metrics/tokens_per_s_per_gpu", false},
    PageKey{"/metrics/mfu", false},
    PageKey{"/metrics/exposed_communication_s", false},
    PageKey{"/metrics/gpu_busy_fraction", false},
    PageKey{"/metrics/peak_memory_bytes", false},
    PageKey{"/metrics/bus_bandwidth_bytes_per_s", false},
    PageKey{"/metrics/cost_usd_per_million_samples", false},
    PageKey{"/metrics/cost_usd_per_hour", false},
    PageKey{"/interval/step_time_s", false,
            [](const PointResult& point) {
              return Json{or_null(point.step_low), or_null(point.step_high)};
            }},
    PageKey{"/bottleneck/resource", true, [](const PointResult& point) { return Json(point.bottleneck); }},
    PageKey{"/basis", true, [](const PointResult& point) { return Json(point.basis); }},
    PageKey{"/warnings", true, [](const PointResult& point) { return Json(point.warnings); }},
    PageKey{"/warning_codes", true, [](const PointResult& point) { return Json(point.warning_codes); }}};

Json value_of(const PageKey& key, const SweepPoint& point) {
  const std::string_view path = key.path;
  if (path == error_path) return text_or_null(point.error);
  if (!point.error.empty()) return nullptr;
  if (key.value != nullptr) return key.value(point.result);
  const auto metric =
      std::ranges::find(point.result.metrics, path.substr(metrics_path.size()), &PointMetric::name);
  return metric != point.result.metrics.end() ? value_json(*metric) : Json{};
}

/// The values of one key, by point.
class PageColumn {
 public:
  explicit PageColumn(const PageKey& key) : key_{key} {}

  void add(const SweepPoint& point) {
    auto value = value_of(key_, point);
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

Json sweep_points_json(const Sweep& sweep) {
  Json json;
  for (const auto& axis : sweep.axes) json["vary"].push_back({{"key", axis.key}, {"values", axis.values}});
  std::vector<PageColumn> columns{page_keys.begin(), page_keys.end()};
  for (const auto& point : sweep.points) {
    for (auto& column : columns) column.add(point);
  }
  json["columns"] = Json::array();
  for (auto& column : columns) {
    if (column.is_known()) json["columns"].push_back(std::move(column).json());
  }
  add_ranking(json, ranking_of(sweep));
  return json;
}

}  // namespace gradway::report
