// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/digest.hpp"
#include "sim/cli/check_values.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/common_options.hpp"
#include "sim/cli/kept_points.hpp"
#include "sim/cli/out_folder.hpp"
#include "sim/cli/points.hpp"
#include "sim/cli/program_digest.hpp"
#include "sim/report/json/json.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/sweep.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::cli {
namespace {

struct SweepArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  std::string engine = "fluid";  // runs in this process, beside others; simgrid forks for each point
  std::string out;
  PriceChoice price;
  int jobs = 0;
  bool json = false;
  bool csv = false;
  bool no_folding = false;
};

/// Runs the points of a sweep, several at once.
class Sweeper {
 public:
  Sweeper(const SweepArguments& arguments, const Surroundings& around)
      : arguments_{arguments},
        around_{around},
        data_{each_file_once(around.data)},
        fixed_{parse_overrides(arguments.set)} {
    sweep_.scenario = std::filesystem::path{arguments.scenario}.stem().string();
    sweep_.axes = parse_axes(arguments.vary);
    check_clashes();
    check_values(sweep_.axes, [&](const std::vector<std::string>& values) {
      return problems_of_values(arguments.scenario, overrides_of(values), data_, arguments.price);
    });
    if (!arguments.out.empty()) kept_.emplace(std::filesystem::path{arguments.out} / "points");
  }

  /// Simulates all points. If none can be, their errors are told, and there is no sweep.
  std::optional<report::Sweep> run() {
    const auto count = point_count(sweep_.axes);
    sweep_.points.resize(count);
    for (std::size_t i = 0; i < count; ++i) sweep_.points[i].values = point_values(sweep_.axes, i);
    const auto failures = run_points(around_, "point", count, arguments_.jobs, [&](std::size_t i) {
      sweep_.points[i].report = report_of(sweep_.points[i].values);
    });
    for (std::size_t i = 0; i < count; ++i) sweep_.points[i].error = failures[i].text;
    status_ = status_of(failures);
    tell_damaged();
    if (std::ranges::find(failures, Status::done, &Failure::status) == failures.end()) {
      raise_wrong_input(failures);
      tell_each_once(failures, around_.messages);
      return std::nullopt;
    }
    return std::move(sweep_);
  }

  Status status() const { return status_; }
  std::size_t found() const { return kept_ ? kept_->found() : 0; }

 private:
  void check_clashes() const {
    for (const auto& fixed : fixed_) {
      if (std::ranges::find(sweep_.axes, fixed.key, &Axis::key) == sweep_.axes.end()) continue;
      refuse(fmt::format("'{}' is set and varied", fixed.key), "leave out '--set' or '--vary' for it");
    }
  }

  void tell_damaged() const {
    if (!kept_ || kept_->damaged() == 0) return;
    around_.messages << fmt::format(
        "warning: {} of the points in '{}/points' had been damaged or changed, and were simulated anew\n",
        kept_->damaged(), arguments_.out);
  }

  std::vector<Override> overrides_of(const std::vector<std::string>& values) const {
    auto overrides = fixed_;
    for (std::size_t i = 0; i < values.size(); ++i)
      overrides.push_back({sweep_.axes[i].key, values[i], told_by(sweep_.axes[i], values[i])});
    return overrides;
  }

  std::string report_of(const std::vector<std::string>& values) {
    auto scenario = load_scenario(arguments_.scenario, overrides_of(values), data_, arguments_.price);
    const auto key = kept_ ? key_of(scenario) : "";
    if (kept_) {
      if (auto report = kept_->find(key)) return std::move(*report);
    }
    std::ostringstream text;
    const auto fold = arguments_.no_folding ? FoldRanks::no : FoldRanks::yes;
    report::write_json(text, simulate(std::move(scenario), arguments_.engine, fold), GRADWAY_VERSION);
    if (kept_) kept_->keep(key, text.str());
    return text.str();
  }

  /// A digest of all that decides a report: the program, its input, what it is asked to do.
  std::string key_of(const Scenario& scenario) const {
    Digest digest;
    digest.add(program_digest());
    for (const auto& part : {arguments_.engine, scenario.name, scenario.digest}) digest.add(part);
    digest.add(arguments_.no_folding ? "all ranks" : "folded");
    return digest.hex();
  }

  const SweepArguments& arguments_;
  const Surroundings& around_;
  DataPath data_;
  std::vector<Override> fixed_;
  report::Sweep sweep_;
  std::optional<KeptPoints> kept_;
  Status status_ = Status::done;
};

void check(const SweepArguments& arguments) {
  check_engine(arguments.engine);
  if (arguments.json && arguments.csv)
    refuse("'--json' and '--csv' are two forms of one output", "choose one");
  if (arguments.vary.empty()) refuse("'gradway sweep' needs '--vary'", "as in '--vary job.gpus=1,2,4,8'");
}

Status sweep(const SweepArguments& arguments, const CLI::App& app, const Surroundings& around) {
  check(arguments);
  const bool writes_files = wants_files(app, arguments.out);
  Sweeper sweeper{arguments, around};
  const auto sweep = sweeper.run();
  if (!sweep) return sweeper.status();
  const auto& finished = *sweep;
  const auto json = [&](std::ostream& out) { report::write_json(out, finished, GRADWAY_VERSION); };
  const auto csv = [&](std::ostream& out) { report::write_csv(out, finished); };
  if (arguments.json) {
    json(around.results);
  } else if (arguments.csv) {
    csv(around.results);
  } else {
    report::write_table(around.results, finished, around.style);
  }
  if (writes_files) {
    put_results(
        arguments.out, {{"sweep.json", json}, {"sweep.csv", csv}},
        [&](std::ostream& out) { report::write_page(out, finished, GRADWAY_VERSION); }, around,
        fmt::format("; {} of {} points were there already", sweeper.found(), finished.points.size()));
  }
  return sweeper.status();
}

}  // namespace

Action add_sweep(CLI::App& app) {
  const auto arguments = std::make_shared<SweepArguments>();
  add_scenario(app, arguments->scenario);
  app.add_option("--vary", arguments->vary,
                 "values that a key takes in turn, 1..8 are eight; can be given several times")
      ->type_name("KEY=V1,V2,...")
      ->allow_extra_args(false);
  add_overrides(app, arguments->set);
  add_engine(app, arguments->engine);
  add_price_choice(app, arguments->price);
  add_jobs(app, arguments->jobs);
  add_out(app, arguments->out, "report.html, sweep.json, sweep.csv and finished points");
  app.add_flag("--no-folding", arguments->no_folding, "simulate every rank, even those that do the same")
      ->disable_flag_override();
  app.add_flag("--json", arguments->json, "print all reports as one JSON document")->disable_flag_override();
  app.add_flag("--csv", arguments->csv, "print a row a point as CSV")->disable_flag_override();
  return [arguments, &app](const Surroundings& around) { return sweep(*arguments, app, around); };
}

}  // namespace gradway::cli
