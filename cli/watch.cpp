// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
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

Status watch(const WatchArguments& arguments, const CommandContext& context) {
  const auto most = percentage("--max-lost", arguments.max_lost);
  StepLogOptions options;
  if (!arguments.key.empty()) options.key = arguments.key;
  options.unit = unit_of(arguments.unit);
  options.batch = batch_of(arguments.batch);
  options.rows = arguments.rows;
  CompressedFile file{arguments.log, arguments.log};
  std::istream lines{&file};
  const auto steps = read_step_log(lines, arguments.log, options);
  file.check();
  std::vector<Seconds> times;
  for (const auto& step : steps) times.push_back(step.time);
  const auto run = watch_steps(times, expected_steps(arguments, context));
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
                 "unit of the step times, if the log does not name it: s, ms or us")
      ->type_name("UNIT");
  app.add_option("--batch", arguments->batch,
                 "samples or tokens of a step, if the log has rates such as samples per second")
      ->type_name("COUNT");
  app.add_option("--row", arguments->rows,
                 "format of the log, if it is not recognised: time NAME, total NAME or rate NAME of=tokens")
      ->type_name("ROW");
  add_max_lost(app, arguments->max_lost);
  add_flag(app, "--json", arguments->json, "print the result as JSON");
  return [arguments](const CommandContext& context) { return watch(*arguments, context); };
}

}  // namespace gradway::cli
