// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/follow.hpp"
#include "cli/shell/common_options.hpp"
#include "observe/watch/report.hpp"
#include "observe/watch/watch.hpp"
#include "readers/step_log/step_log.hpp"
#include "sim/base/number.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/report/format/errors_json.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway::cli {
namespace {

struct WatchArguments {
  std::string log;
  std::string scenario;
  std::vector<std::string> set;
  std::string key;
  std::string unit;
  std::string batch;
  std::vector<std::string> rows;
  std::optional<std::string> max_lost;
  bool follow = false;
  std::string alert;
  std::string idle;
  std::string metrics;
  bool json = false;
};

std::optional<Seconds> unit_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name == "s") return 1.0_s;
  if (name == "ms") return 1_ms;
  if (name == "us") return 1_us;
  refuse(fmt::format("'--unit {}' is not a unit of time", name), "write s, ms or us");
}

std::optional<double> batch_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  double batch = 0;
  const auto read = read_number(text.data(), text.data() + text.size(), batch);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || !(batch > 0) ||
      !std::isfinite(batch))
    refuse(fmt::format("'--batch {}' is no number of samples or tokens", printable(text)),
           "write a number, such as 64");
  return batch;
}

std::optional<ExpectedSteps> expected_steps(const WatchArguments& arguments, const CommandContext& context) {
  if (arguments.scenario.empty()) {
    if (!arguments.set.empty())
      refuse("'--set' changes a scenario, but none is given", "name it with --scenario");
    return std::nullopt;
  }
  const auto run = ask(load_scenario(arguments.scenario, parse_overrides(arguments.set), context.data));
  return ExpectedSteps{run.range.low, run.measured.metrics.step_time, run.range.high,
                       report::least_certain_part(run.errors)};
}

std::vector<LoggedStep> read_log(const std::string& log, const StepLogOptions& options) {
  CompressedFile file{log, log};
  std::istream lines{&file};
  auto steps = read_step_log(lines, log, options);
  file.check();
  return steps;
}

Status watch(const WatchArguments& arguments, const CommandContext& context) {
  const auto most = percentage("--max-lost", arguments.max_lost);
  StepLogOptions options;
  if (!arguments.key.empty()) options.key = arguments.key;
  options.unit = unit_of(arguments.unit);
  options.assumes_seconds = arguments.scenario.empty();  // Shares of the time are the same in any unit.
  options.batch = batch_of(arguments.batch);
  options.rows = arguments.rows;
  const FollowedLog log{
      .file = arguments.log,
      .read = [&] { return read_log(arguments.log, options); },
      .watch =
          [expected = expected_steps(arguments, context)](const std::vector<LoggedStep>& steps) {
            std::vector<Seconds> times;
            for (const auto& step : steps) times.push_back(step.time);
            return watch_steps(times, expected);
          },
      .alert = arguments.alert,
      .metrics = arguments.metrics,
      .idle = value_of("--idle", arguments.idle, config::duration),
      .most_lost = most};
  if (arguments.follow) return follow_log(log, context);
  const auto steps = log.read();
  const auto run = log.watch(steps);
  if (!log.metrics.empty()) write_metrics_file(log, steps, run);
  if (arguments.json) {
    report::write_json(context.results, steps, run);
  } else {
    report::write_watched(context.results, steps, run, context.style);
  }
  return status_of_loss(run.lost_share(), most, context.messages);
}

}  // namespace

Action add_watch(CLI::App& app) {
  const auto arguments = std::make_shared<WatchArguments>();
  app.add_option("LOG", arguments->log, "log with a step time per line, plain or compressed by gzip")
      ->required();
  app.add_option("--scenario", arguments->scenario, "scenario of the run, to compare with its prediction");
  add_overrides(app, arguments->set);
  app.add_option("--key", arguments->key, "name of the step time in each line")->type_name("NAME");
  app.add_option("--unit", arguments->unit,
                 "unit of the step times, if the log does not name it: s (assumed), ms or us")
      ->type_name("UNIT");
  app.add_option("--batch", arguments->batch,
                 "samples or tokens of a step, if the log has rates such as samples per second")
      ->type_name("COUNT");
  app.add_option("--row", arguments->rows,
                 "format of the log, if it is not recognised: time NAME, total NAME or rate NAME of=tokens")
      ->type_name("ROW");
  add_max_lost(app, arguments->max_lost);
  auto* const follow = add_flag(app, "--follow", arguments->follow,
                                "go on while the log grows, and print each finding when it is made");
  app.add_option("--alert", arguments->alert,
                 "command of the shell to run for each finding, which is its input, and when no step comes")
      ->type_name("COMMAND")
      ->needs(follow);
  app.add_option("--idle", arguments->idle, "end when no line has come for this long, such as 10min")
      ->type_name("TIME")
      ->needs(follow);
  app.add_option("--metrics", arguments->metrics,
                 "file to write for Prometheus: steps as measured and as expected")
      ->type_name("FILE");
  add_flag(app, "--json", arguments->json, "print the result as JSON")->excludes(follow);
  return [arguments](const CommandContext& context) { return watch(*arguments, context); };
}

}  // namespace gradway::cli
