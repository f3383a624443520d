// SPDX-License-Identifier: Apache-2.0
#include "sim/report/campaign_points.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/report/text/table.hpp"
#include "sim/report/text/text.hpp"
#include "sim/report/text/training_text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

/// The point of the least figure.
template <class Figure>
std::optional<std::size_t> least(const std::vector<CampaignPoint>& points, const Figure& figure) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto value = points[i].estimate ? figure(*points[i].estimate) : std::optional<double>{};
    if (value && (!found || *value < *figure(*points[*found].estimate))) found = i;
  }
  return found;
}

Json index_or_null(const std::optional<std::size_t>& index) {
  return index ? Json(*index) : Json(nullptr);
}

std::string marks(const CampaignPoints& points, std::size_t index) {
  std::vector<std::string> words;
  if (points.fastest() == index) words.emplace_back("fastest");
  if (points.cheapest() == index) words.emplace_back("cheapest");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string kept(const CampaignPoint& point) {
  std::vector<std::string> words;
  if (point.in_time) words.push_back(percent_text(*point.in_time));
  if (point.in_budget) words.push_back(percent_text(*point.in_budget));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::optional<std::size_t> CampaignPoints::fastest() const {
  return least(points, [](const CampaignEstimate& one) { return std::optional{one.seconds.value}; });
}

std::optional<std::size_t> CampaignPoints::cheapest() const {
  return least(points, [](const CampaignEstimate& one) {
    return one.usd ? std::optional{one.usd->value} : std::nullopt;
  });
}

void write_table(std::ostream& out, const CampaignPoints& points, const Style& style) {
  std::vector<Table::Column> columns;
  for (const auto& axis : points.axes) columns.push_back({axis.key});
  for (const auto* title : {"takes", "nine of ten", "USD", "goodput"})
    columns.push_back({title, Table::Align::right});
  const bool has_limits =
      std::ranges::any_of(points.points, [](const auto& one) { return one.in_time || one.in_budget; });
  if (has_limits) columns.push_back({"limits kept", Table::Align::right});
  columns.push_back({""});
  Table table{columns};
  for (std::size_t i = 0; i < points.points.size(); ++i) {
    const auto& point = points.points[i];
    auto cells = point.values;
    if (!point.estimate) {
      table.add_with_note(cells, first_sentence(one_line(point.error)));
      continue;
    }
    const auto& estimate = *point.estimate;
    for (auto text :
         {span_text(Seconds{estimate.seconds.value}), span_range_text(estimate.seconds),
          estimate.usd ? usd_text(estimate.usd->value) : "", percent_text(estimate.goodput.value)})
      cells.push_back(std::move(text));
    if (has_limits) cells.push_back(kept(point));
    cells.push_back(marks(points, i));
    table.add(cells);
  }
  out << style.paint(Paint::bold, points.scenario) << '\n';
  table.write(out, style);
}

void write_json(std::ostream& out, const CampaignPoints& points, std::string_view version) {
  Json vary = Json::array();
  for (const auto& axis : points.axes) vary.push_back({{"key", axis.key}, {"values", axis.values}});
  Json runs = Json::array();
  for (const auto& point : points.points) {
    Json run{{"set", Json::object()}};
    for (std::size_t i = 0; i < point.values.size(); ++i) run["set"][points.axes[i].key] = point.values[i];
    if (point.estimate) {
      run.update(Json::parse(point.report));
    } else {
      run["error"] = point.error;
    }
    runs.push_back(std::move(run));
  }
  const Json json{{"schema", 1},
                  {"gradway", version},
                  {"vary", std::move(vary)},
                  {"runs", std::move(runs)},
                  {"fastest", index_or_null(points.fastest())},
                  {"cheapest", index_or_null(points.cheapest())}};
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace gradway::report
