// SPDX-License-Identifier: Apache-2.0
#include "sim/report/validation.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/quantiles.hpp"
#include "sim/report/text/table.hpp"
#include "sim/report/text/text.hpp"

namespace gradway::report {
namespace {

bool smaller_error(const Comparison& a, const Comparison& b) {
  return std::abs(a.error()) < std::abs(b.error());
}

/// Of cases outside of their interval: with such an anchor the scenario would meet what was measured.
void write_anchors(std::ostream& out, const Validation& validation, const Style& style) {
  for (const auto& one : validation.cases) {
    if (one.in_interval() || !one.anchor) continue;
    out << '\n'
        << style.paint(
               Paint::dim,
               fit(fmt::format("# {} is outside of its interval; as an anchor:", one.name), style.width))
        << '\n'
        << anchor_yaml(*one.anchor);
  }
}

}  // namespace

double Validation::mean_abs_error() const {
  double sum = 0;
  for (const auto& one : cases) sum += std::abs(one.error());
  return cases.empty() ? 0 : sum / static_cast<double>(cases.size());
}

double Validation::median_abs_error() const {
  std::vector<double> errors;
  for (const auto& one : cases) errors.push_back(std::abs(one.error()));
  return median(errors);
}

double Validation::max_abs_error() const {
  return cases.empty() ? 0 : std::abs(std::ranges::max_element(cases, smaller_error)->error());
}

double Validation::bias() const {
  double sum = 0;
  for (const auto& one : cases) sum += one.error();
  return cases.empty() ? 0 : sum / static_cast<double>(cases.size());
}

std::size_t Validation::in_interval() const {
  return static_cast<std::size_t>(std::ranges::count_if(cases, &Comparison::in_interval));
}

std::string anchor_yaml(const Anchor& anchor) {
  // What JSON quotes, YAML reads as the same text. {} is the shortest text that reads back as the number.
  const auto source =
      nlohmann::json(anchor.source).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return fmt::format(
      "anchor:\n  gpu: {}\n  precision: {}\n  batch: {}\n  optimizer: {}\n  step_time: {} ms\n  source: {}\n",
      anchor.gpu, name_of(anchor.precision), anchor.batch, name_of(anchor.optimizer),
      std::round(anchor.step_time.value() * 1e9) / 1e6, source);
}

void write_table(std::ostream& out, const Validation& validation, const Style& style) {
  using enum Table::Align;
  Table table{{{"case", left}, {"measured", right}, {"predicted", right}, {"error", right}}};
  for (const auto& one : validation.cases) {
    table.add(
        {one.name, time_text(one.measured), time_text(one.predicted), signed_percent_text(one.error())});
  }
  table.write(out, style);
  out << '\n';
  if (!validation.cases.empty()) {
    const auto& worst = *std::ranges::max_element(validation.cases, smaller_error);
    out << fit(fmt::format("mean |error| {:.2f} %, worst {} ({}), bias {}, {}",
                           validation.mean_abs_error() * 100, signed_percent_text(worst.error()), worst.name,
                           signed_percent_text(validation.bias()),
                           counted_text(static_cast<std::int64_t>(validation.cases.size()), "case")),
               style.width)
        << '\n'
        << fmt::format("half of the cases within {:.2f} %\n", validation.median_abs_error() * 100)
        << fmt::format("in the interval: {} of {}\n", validation.in_interval(), validation.cases.size());
  }
  if (!validation.source.empty()) {
    for (const auto& line : wrap("measured: " + validation.source, style.width)) {
      out << style.paint(Paint::dim, line) << '\n';
    }
  }
  write_anchors(out, validation, style);
}

}  // namespace gradway::report
