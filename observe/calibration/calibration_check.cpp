// SPDX-License-Identifier: Apache-2.0
#include "observe/calibration/calibration_check.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

using enum Table::Align;
using Json = nlohmann::ordered_json;

/// The rows with the largest errors, in their original order. Ties go to the earlier row.
std::vector<PredictedRow> farthest(const std::vector<PredictedRow>& rows, std::size_t most) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].predicted) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return std::abs(rows[i].error()); });
  order.resize(std::min(most, order.size()));
  std::ranges::sort(order);
  std::vector<PredictedRow> shown;
  for (const auto i : order) shown.push_back(rows[i]);
  return shown;
}

std::size_t unknown_rows(const std::vector<PredictedRow>& rows) {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const auto& row) { return !row.predicted; }));
}

}  // namespace

void write_check(std::ostream& out, const std::vector<PredictedRow>& rows, std::size_t most_rows,
                 const Style& style) {
  const auto wide = style.unlimited_width();
  const auto unknown = unknown_rows(rows);
  const auto shown = farthest(rows, most_rows);
  Table table{{{"sample", left}, {"measured", right}, {"predicted", right}, {"error", right}}};
  for (const auto& row : shown)
    table.add(
        {row.what, time_text(row.measured), time_text(*row.predicted), signed_percent_text(row.error())});
  if (!table.empty()) table.write(out, wide);
  const auto left_out = rows.size() - unknown - shown.size();
  if (left_out > 0) {
    out << style.paint(Paint::dim, fmt::format("... {} with smaller errors; --all shows them",
                                               counted_text(left_out, "row")))
        << '\n';
  }
  Table groups{
      {{"group", left}, {"rows", right}, {"mean |error|", right}, {"worst", right}, {"bias", right}}};
  for (const auto& group : errors_by_group(rows)) {
    groups.add({std::string{name_of(group.group)}, fmt::format("{}", group.rows), percent_text(group.mean),
                percent_text(group.error.worst), signed_percent_text(group.bias)});
  }
  if (!groups.empty()) {
    out << '\n';
    groups.write(out, wide);
  }
  if (unknown > 0) {
    out << fmt::format("\n{} without a prediction by the calibration\n", counted_text(unknown, "row"));
  }
}

void write_check_json(std::ostream& out, const std::vector<PredictedRow>& rows) {
  Json document{{"rows", Json::array()}, {"groups", Json::array()}};
  for (const auto& row : rows) {
    document["rows"].push_back({{"group", name_of(row.group)},
                                {"what", row.what},
                                {"measured_s", row.measured.value()},
                                {"predicted_s", row.predicted ? Json(row.predicted->value()) : Json()},
                                {"error", row.predicted ? Json(row.error()) : Json()}});
  }
  for (const auto& group : errors_by_group(rows)) {
    document["groups"].push_back({{"group", name_of(group.group)},
                                  {"rows", group.rows},
                                  {"mean_abs_error", group.mean},
                                  {"max_abs_error", group.error.worst},
                                  {"bias", group.bias}});
  }
  document["not_predicted"] = unknown_rows(rows);
  out << serialized(document, 2) << '\n';
}

}  // namespace gradway::report
