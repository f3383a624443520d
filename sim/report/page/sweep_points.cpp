// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/sweep_points.hpp"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/report/format/ranking.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// A key of a point that the page shows.
struct PageKey {
  const char* path;  ///< a JSON pointer
  bool repeats;      ///< texts that many points share
};

constexpr std::array page_keys{PageKey{"/error", true},
                               PageKey{"/fits", false},
                               PageKey{"/does_not_fit", true},
                               PageKey{"/scenario/model", true},
                               PageKey{"/scenario/platform", true},
                               PageKey{"/scenario/job/gpus", false},
                               PageKey{"/scenario/job/batch_per_gpu", false},
                               PageKey{"/scenario/job/accumulate", false},
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
                               PageKey{"/interval/step_time_s", false},
                               PageKey{"/interval/usd_per_million_samples", false},
                               PageKey{"/bottleneck/resource", true},
                               PageKey{"/basis", true},
                               PageKey{"/warnings", true}};

/// The values of one key, point by point.
class PageColumn {
 public:
  explicit PageColumn(const PageKey& key) : pointer_{key.path}, path_{key.path}, repeats_{key.repeats} {}

  void add(const Json& point) {
    Json value;
    if (point.contains(pointer_)) value = point.at(pointer_);
    is_known_ = is_known_ || !value.is_null();
    values_.push_back(repeats_ && !value.is_null() ? place_of(std::move(value)) : std::move(value));
  }

  bool is_known() const { return is_known_; }

  Json json() && {
    Json json{{"path", path_}};
    if (repeats_) json["distinct"] = std::move(distinct_);
    json["values"] = std::move(values_);
    return json;
  }

 private:
  Json place_of(Json value) {
    const auto [place, is_new] = places_.emplace(value.dump(), distinct_.size());
    if (is_new) distinct_.push_back(std::move(value));
    return place->second;
  }

  Json::json_pointer pointer_;
  const char* path_;
  bool repeats_;
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
    const auto of_point = point.error.empty() ? Json::parse(point.report) : Json{{"error", point.error}};
    for (auto& column : columns) column.add(of_point);
  }
  json["columns"] = Json::array();
  for (auto& column : columns) {
    if (column.is_known()) json["columns"].push_back(std::move(column).json());
  }
  add_ranking(json, ranking_of(sweep));
  return json;
}

}  // namespace gradway::report
