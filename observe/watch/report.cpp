// SPDX-License-Identifier: Apache-2.0
#include "observe/watch/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/printable.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> keys{
    "slower_than_expected", "faster_than_expected", "jump", "drift", "periodic_stalls", "random_stalls"};

std::string_view key_of(WatchKind kind) {
  return keys[static_cast<std::size_t>(kind)];
}

/// What a finding of this kind usually comes from.
std::string_view likely_causes(const WatchFinding& finding) {
  constexpr double long_stall = 10;  // times the level: writing to storage, not a pause of the program
  switch (finding.kind) {
    case WatchKind::slower_than_expected:
      return "compare a trace with the prediction: 'gradway explain' names what bounds the step, and "
             "'gradway import nccl-log' what NCCL chose";
    case WatchKind::faster_than_expected:
      return "check that the scenario describes this run: batch, precision, number of GPUs";
    case WatchKind::jump:
      return finding.after > finding.before
                 ? "clocks (power limit, heat), a slow or shared GPU or node, another job on the network or "
                   "the storage; compare 'nvidia-smi -q -d PERFORMANCE' of all nodes"
                 : "what slowed the steps before has ended";
    case WatchKind::drift:
      return finding.after > finding.before
                 ? "memory that fragments or grows, longer samples, logs or metrics that grow, a GPU that "
                   "gets warmer"
                 : "caches that fill, or shorter samples";
    case WatchKind::periodic_stalls:
      return finding.after > long_stall * finding.before
                 ? "checkpoints or evaluation, or the start of an epoch: compare the period with theirs"
                 : "logging, garbage collection of Python, or the end of a shard of the data: compare the "
                   "period with theirs";
    case WatchKind::random_stalls:
      return "stragglers, storage that is slow at times, retries of the allocator, or other jobs on the "
             "node or the network";
  }
  return "";
}

std::string step_text(const std::vector<LoggedStep>& steps, std::size_t index) {
  const auto& step = steps[index];
  return step.moment.empty() ? fmt::format("{}", step.number)
                             : fmt::format("{} ({})", step.number, step.moment);
}

std::string sentence(const std::vector<LoggedStep>& steps, const WatchFinding& finding) {
  const auto change = finding.after / finding.before - 1;
  switch (finding.kind) {
    case WatchKind::slower_than_expected:
      return fmt::format("the median of {} is above the prediction interval, which ends at {}",
                         time_text(finding.after), time_text(finding.before));
    case WatchKind::faster_than_expected:
      return fmt::format("the median of {} is below the prediction interval, which begins at {}",
                         time_text(finding.after), time_text(finding.before));
    case WatchKind::jump:
      return fmt::format("from step {} on, steps take {} instead of {} ({}), for {}",
                         step_text(steps, finding.first), time_text(finding.after), time_text(finding.before),
                         signed_percent_text(change), counted_text(finding.steps, "step"));
    case WatchKind::drift:
      return fmt::format("step times drift from {} to {} ({}) between step {} and {}",
                         time_text(finding.before), time_text(finding.after), signed_percent_text(change),
                         step_text(steps, finding.first), step_text(steps, finding.last));
    case WatchKind::periodic_stalls:
      return fmt::format("every {} steps one takes {} instead of {}: {}, the first is step {}",
                         finding.period, time_text(finding.after), time_text(finding.before),
                         counted_text(finding.steps, "stall"), step_text(steps, finding.first));
    case WatchKind::random_stalls:
      return fmt::format("{} without a period, {} instead of {}: from step {} to {}",
                         counted_text(finding.steps, "stall"), time_text(finding.after),
                         time_text(finding.before), step_text(steps, finding.first),
                         step_text(steps, finding.last));
  }
  return "";
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
    Json entry{{"kind", key_of(finding.kind)},
               {"first_step", steps[finding.first].number},
               {"last_step", steps[finding.last].number},
               {"steps", finding.steps},
               {"before_s", finding.before.value()},
               {"after_s", finding.after.value()},
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
  for (const auto key : keys)
    sample("findings", fmt::format(",kind=\"{}\"", key),
           static_cast<double>(std::ranges::count_if(
               run.findings, [&](const WatchFinding& finding) { return key_of(finding.kind) == key; })));
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
