// SPDX-License-Identifier: Apache-2.0
#include "sim/report/run/validation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/quantiles.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/table.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/trust/provenance_class.hpp"

namespace gradway::report {
namespace {

bool smaller_error(const ValidationCase& a, const ValidationCase& b) {
  return std::abs(a.error()) < std::abs(b.error());
}

/// Writes an anchor for each case outside its interval. With it the scenario would predict the measured time.
void write_anchors(std::ostream& out, const Validation& validation, const Style& style) {
  for (const auto& validated : validation.cases) {
    if (validated.in_interval() || !validated.anchor) continue;
    out << '\n'
        << style.paint(Paint::dim,
                       fit(fmt::format("# {} is outside its interval; the measured step as an anchor:",
                                       validated.name),
                           style.width))
        << '\n'
        << anchor_yaml(*validated.anchor);
  }
}

/// Writes the coverage of each group, if there are several.
void write_coverage(std::ostream& out, const Validation& validation) {
  const auto groups = validation.coverage();
  if (groups.size() < 2) return;
  std::size_t longest = 0;
  for (const auto& coverage : groups) longest = std::max(longest, coverage.group.size());
  for (const auto& coverage : groups)
    out << fmt::format("  {:<{}}  {} of {}\n", coverage.group, longest, coverage.inside, coverage.cases);
}

}  // namespace

std::vector<ValidationCase> Validation::counted() const {
  std::vector<ValidationCase> counted_cases;
  std::ranges::copy_if(cases, std::back_inserter(counted_cases),
                       [](const auto& validated) { return !validated.is_given; });
  return counted_cases;
}

double Validation::mean_abs_error() const {
  const auto counted_cases = counted();
  double sum = 0;
  for (const auto& validated : counted_cases) sum += std::abs(validated.error());
  return counted_cases.empty() ? 0 : sum / static_cast<double>(counted_cases.size());
}

double Validation::median_abs_error() const {
  std::vector<double> errors;
  for (const auto& validated : counted()) errors.push_back(std::abs(validated.error()));
  return median(errors);
}

double Validation::max_abs_error() const {
  const auto counted_cases = counted();
  return counted_cases.empty() ? 0
                               : std::abs(std::ranges::max_element(counted_cases, smaller_error)->error());
}

double Validation::bias() const {
  const auto counted_cases = counted();
  double sum = 0;
  for (const auto& validated : counted_cases) sum += validated.error();
  return counted_cases.empty() ? 0 : sum / static_cast<double>(counted_cases.size());
}

std::size_t Validation::in_interval() const {
  return static_cast<std::size_t>(std::ranges::count_if(counted(), &ValidationCase::in_interval));
}

std::vector<Coverage> Validation::coverage() const {
  std::vector<Coverage> groups;
  for (const auto& validated : counted()) {
    auto group = std::ranges::find(groups, validated.group, &Coverage::group);
    if (group == groups.end()) group = groups.insert(group, {validated.group});
    ++group->cases;
    if (validated.in_interval()) ++group->inside;
  }
  return groups;
}

std::string group_of(const Run& run) {
  const auto& job = run.scenario.job;
  const bool exchanges = run.measured.metrics.communication > Seconds{};
  const auto over = exchanges       ? gradway::name_of(run.step_basis.transport)
                    : job.gpus == 1 ? std::string_view{"one GPU"}
                                    : std::string_view{"no exchange"};
  return fmt::format("{}{}, {}", trains(job.strategy) ? "" : "collectives, ",
                     name_of(provenance_class_of(run.step_basis)), over);
}

std::string anchor_yaml(const Anchor& anchor) {
  // YAML reads a JSON string as the same text. {} is the shortest text that reads back as the number.
  const auto source = serialized(nlohmann::json(anchor.source));
  return fmt::format(
      "anchor:\n  gpu: {}\n  precision: {}\n  batch: {}\n  optimizer: {}\n  step_time: {} ms\n  source: {}\n",
      anchor.gpu, name_of(anchor.precision), anchor.batch, name_of(anchor.optimizer),
      std::round(anchor.step_time.value() * 1e9) / 1e6, source);
}

void write_table(std::ostream& out, const Validation& validation, const Style& style) {
  using enum Table::Align;
  Table table{{{"case", left}, {"measured", right}, {"predicted", right}, {"error", right}}};
  for (const auto& validated : validation.cases) {
    table.add({validated.name, time_text(validated.measured), time_text(validated.predicted),
               signed_percent_text(validated.error())});
  }
  table.write(out, style);
  out << '\n';
  const auto counted = validation.counted();
  if (!counted.empty()) {
    const auto& worst = *std::ranges::max_element(counted, smaller_error);
    out << fit(fmt::format("mean |error| {:.2f} %, worst {} ({}), bias {}, {}",
                           validation.mean_abs_error() * 100, signed_percent_text(worst.error()), worst.name,
                           signed_percent_text(validation.bias()), counted_text(counted.size(), "case")),
               style.width)
        << '\n'
        << fmt::format("median |error| {:.2f} %\n", validation.median_abs_error() * 100)
        << fmt::format("in the 90 % interval: {} of {}\n", validation.in_interval(), counted.size());
    write_coverage(out, validation);
  }
  if (const auto anchored = validation.cases.size() - counted.size(); anchored > 0)
    out << fmt::format("{} not counted: the prediction is anchored to that very step\n",
                       counted_text(anchored, "case"));
  if (!validation.source.empty()) write_wrapped(out, "measured: " + validation.source, style, Paint::dim);
  write_anchors(out, validation, style);
}

}  // namespace gradway::report
