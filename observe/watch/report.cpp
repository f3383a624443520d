// SPDX-License-Identifier: Apache-2.0
#include "observe/watch/report.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/rows.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::tables {
extern const std::string_view findings;
}

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t watch_kinds = 6;

const TextRow& row_of(std::size_t kind) {
  static const auto rows = rows_in(tables::findings);
  expects(rows.size() == watch_kinds, "each kind of findings has a row");
  return rows[kind];
}

const TextRow& row_of(const WatchFinding& finding) {
  return row_of(static_cast<std::size_t>(finding.kind));
}

/// What a finding of this kind usually comes from.
std::string_view likely_causes(const WatchFinding& finding) {
  constexpr double long_stall = 10;  // times the level: writing to storage, not a pause of the program
  const auto& row = row_of(finding);
  const auto shorter = finding.after > finding.before ? "" : row.value("shorter");
  const auto of_long = finding.after > long_stall * finding.before ? row.value("long") : "";
  return !shorter.empty() ? shorter : !of_long.empty() ? of_long : row.value("likely");
}

std::string step_text(const std::vector<LoggedStep>& steps, std::size_t index) {
  const auto& step = steps[index];
  return step.moment.empty() ? fmt::format("{}", step.number)
                             : fmt::format("{} ({})", step.number, step.moment);
}

std::string sentence(const std::vector<LoggedStep>& steps, const WatchFinding& finding) {
  const auto once = finding.steps == 1 ? row_of(finding).value("once") : "";
  return fmt::format(
      fmt::runtime(once.empty() ? row_of(finding).value("text") : once),
      fmt::arg("first", step_text(steps, finding.first)), fmt::arg("last", step_text(steps, finding.last)),
      fmt::arg("before", time_text(finding.before)), fmt::arg("after", time_text(finding.after)),
      fmt::arg("change", signed_percent_text(finding.after / finding.before - 1)),
      fmt::arg("period", finding.period), fmt::arg("steps", counted_text(finding.steps, "step")),
      fmt::arg("stalls", counted_text(finding.steps, "stall")));
}

/// Whether the steps are as the prediction says, and what to do if not.
std::string compared_with_expected(const WatchedRun& run) {
  constexpr double as_expected = 0.05;
  const auto& expected = *run.expected;
  const auto difference = run.median / expected.time - 1;
  const auto amount = fmt::format("{} {} than predicted", percent_text(std::abs(difference)),
                                  difference < 0 ? "shorter" : "longer");
  if (run.median > expected.high) return fmt::format("no: {}, outside the prediction interval", amount);
  if (run.median < expected.low)
    return fmt::format("{}, outside the prediction interval: it may describe another job", amount);
  if (std::abs(difference) <= as_expected) return fmt::format("yes: {}", amount);
  return fmt::format("it may be: {}, but inside the prediction interval{}", amount,
                     expected.least_certain.empty()
                         ? ""
                         : fmt::format("; the least certain part is {}: a measurement narrows the interval "
                                       "('gradway help calibrations')",
                                       expected.least_certain));
}

/// Whether step times are in an unknown unit, in which the shares of findings are the same.
bool assumes_seconds(const std::vector<LoggedStep>& steps) {
  return std::ranges::any_of(steps, &LoggedStep::is_unit_assumed);
}

std::string_view assumed_unit(const std::vector<LoggedStep>& steps) {
  return assumes_seconds(steps) ? ", if the log is in seconds (else: --unit)" : "";
}

}  // namespace

void write_watched(std::ostream& out, const std::vector<LoggedStep>& steps, const WatchedRun& run,
                   const Style& style) {
  const auto row = [&](std::string_view name, const std::string& value) {
    constexpr std::size_t indent = 15;
    const auto lines = wrap(value, style.width - indent);
    for (std::size_t i = 0; i < lines.size(); ++i)
      out << fmt::format("  {:<12} {}\n", i == 0 ? name : "", lines[i]);
  };
  row("steps", run.warm_up == 0 ? fmt::format("{}", run.steps)
                                : fmt::format("{}, without the first {}, which warm up",
                                              run.steps - run.warm_up, run.warm_up));
  row("step time", fmt::format("median {}, 90 % of them {}{}", time_text(run.median),
                               range_text(run.low, run.high), assumed_unit(steps)));
  if (run.expected) {
    row("expected", fmt::format("{} (90 % prediction interval: {})", time_text(run.expected->time),
                                range_text(run.expected->low, run.expected->high)));
    row("as expected?", compared_with_expected(run));
  }
  if (run.findings.empty()) {
    row("verdict", "healthy: no jump, drift or stall");
    return;
  }
  row("verdict", fmt::format("{} of the time is lost", percent_text(run.lost_share())));
  for (const auto& finding : run.findings) {
    out << '\n';
    row(finding.lost > Seconds{} ? percent_text(finding.lost / run.total) : "note", sentence(steps, finding));
    row("", fmt::format("likely: {}", likely_causes(finding)));
  }
}

void write_json(std::ostream& out, const std::vector<LoggedStep>& steps, const WatchedRun& run) {
  Json json{{"schema", 1},
            {"steps", run.steps},
            {"warm_up", run.warm_up},
            {"median_s", run.median.value()},
            {"low_s", run.low.value()},
            {"high_s", run.high.value()},
            {"total_s", run.total.value()},
            {"lost_share", run.lost_share()},
            {"assumes_seconds", assumes_seconds(steps)},
            {"expected", nullptr}};
  if (run.expected) {
    json["expected"] = {{"step_time_s", run.expected->time.value()},
                        {"low_s", run.expected->low.value()},
                        {"high_s", run.expected->high.value()},
                        {"median_over_step_time", run.median / run.expected->time},
                        {"least_certain_part", run.expected->least_certain}};
  }
  auto& findings = json["findings"] = Json::array();
  for (const auto& finding : run.findings) {
    Json entry{{"kind", row_of(finding).word(0)},         {"first_step", steps[finding.first].number},
               {"last_step", steps[finding.last].number}, {"steps", finding.steps},
               {"before_s", finding.before.value()},      {"after_s", finding.after.value()},
               {"lost_s", finding.lost.value()}};
    if (finding.period > 0) entry["period"] = finding.period;
    if (!steps[finding.first].moment.empty()) entry["moment"] = steps[finding.first].moment;
    findings.push_back(std::move(entry));
  }
  write(out, JsonDocument{std::move(json)});
}

std::string finding_text(const std::vector<LoggedStep>& steps, const WatchFinding& finding) {
  return fmt::format("{}\nlikely: {}\n", sentence(steps, finding), likely_causes(finding));
}

void write_metrics(std::ostream& out, std::string_view log, const std::vector<LoggedStep>& steps,
                   const WatchedRun& run) {
  std::string label;  // As Prometheus escapes the value of a label.
  for (const char letter : printable(log)) {
    if (letter == '\\' || letter == '"') label += '\\';
    label += letter;
  }
  const auto family = [&](std::string_view name, std::string_view help) {
    out << fmt::format("# HELP gradway_{} {}\n# TYPE gradway_{} gauge\n", name, help, name);
  };
  const auto sample = [&](std::string_view name, std::string_view more, double value) {
    out << fmt::format("gradway_{}{{log=\"{}\"{}}} {:.9g}\n", name, label, more, value);
  };
  family("steps", "Steps in the log.");
  sample("steps", "", static_cast<double>(run.steps));
  family("last_step", "Number of the last step.");
  sample("last_step", "", static_cast<double>(steps.back().number));
  family("last_step_time_seconds", "Time of the last step.");
  sample("last_step_time_seconds", "", steps.back().time.value());
  family("step_time_seconds", "Step times after the warm-up.");
  for (const auto& [quantile, time] :
       {std::pair{"0.05", run.low}, std::pair{"0.5", run.median}, std::pair{"0.95", run.high}})
    sample("step_time_seconds", fmt::format(",quantile=\"{}\"", quantile), time.value());
  family("lost_ratio", "Share of the time that jumps, drifts and stalls cost.");
  sample("lost_ratio", "", run.lost_share());
  family("findings", "What disturbs the run, by kind.");
  for (std::size_t kind = 0; kind < watch_kinds; ++kind)
    sample("findings", fmt::format(",kind=\"{}\"", row_of(kind).word(0)),
           static_cast<double>(
               std::ranges::count(run.findings, static_cast<WatchKind>(kind), &WatchFinding::kind)));
  if (!run.expected) return;
  family("expected_step_time_seconds", "Predicted step time, and the ends of its 90 % interval.");
  for (const auto& [bound, time] :
       {std::pair{"low", run.expected->low}, std::pair{"predicted", run.expected->time},
        std::pair{"high", run.expected->high}})
    sample("expected_step_time_seconds", fmt::format(",bound=\"{}\"", bound), time.value());
  family("measured_over_expected_ratio", "Median step time over the predicted one.");
  sample("measured_over_expected_ratio", "", run.median / run.expected->time);
}

}  // namespace gradway::report
