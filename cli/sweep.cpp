// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/points/point_cache.hpp"
#include "cli/points/points.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/program_digest.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/points/sweep.hpp"

namespace gradway::cli {
namespace {

struct SweepArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::vector<std::string> vary;
  std::string engine = "fluid";  // runs in this process; simgrid forks for each point
  std::string out;
  std::string shard;
  std::vector<std::string> merge;
  PriceChoice price;
  int jobs = 0;
  bool json = false;
  bool csv = false;
  bool page_data = false;
  bool no_folding = false;
};

/// Runs points of a sweep in parallel, unless their reports are in a folder.
class SweepRunner {
 public:
  /// @param folder for finished points; empty: they are not stored
  SweepRunner(const SweepArguments& arguments, const CommandContext& context,
              const std::filesystem::path& folder)
      : arguments_{arguments},
        context_{context},
        sweeper_{{arguments.scenario, parse_overrides(arguments.set), parse_axes(arguments.vary),
                  with_file_cache(context.data), arguments.price},
                 arguments.engine,
                 arguments.no_folding ? FoldRanks::no : FoldRanks::yes,
                 program_digest()} {
    if (!folder.empty()) cache_.emplace(folder / "points");
  }

  const Sweeper& sweep() const { return sweeper_; }
  std::string remark(std::size_t points) const {
    return fmt::format("; {} of {} points were taken from an earlier run", cache_ ? cache_->found() : 0,
                       points);
  }

  /// The result of a point, or its failure.
  struct Outcome {
    std::string key;           ///< in the cache
    report::SweepPoint point;  ///< without its values
    Failure failure;
  };

  /// Simulates these points of the cross product. @return one outcome per point
  std::vector<Outcome> run(const std::vector<std::size_t>& points) {
    std::vector<Outcome> outcomes(points.size());
    auto failures = run_points(context_, "point", points.size(), arguments_.jobs, [&](std::size_t i) {
      run(point_values(sweeper_.axes(), points[i]), outcomes[i]);
    });
    for (std::size_t i = 0; i < points.size(); ++i) outcomes[i].failure = std::move(failures[i]);
    warn_of_damaged_points();
    return outcomes;
  }

 private:
  void warn_of_damaged_points() const {
    if (!cache_ || cache_->damaged() == 0) return;
    context_.messages << fmt::format(
        "warning: {} of the points in '{}' were damaged or changed, and were simulated again\n",
        cache_->damaged(), cache_->folder().string());
  }

  void run(const std::vector<std::string>& values, Outcome& outcome) {
    const auto is_known = [&](const std::string& key) {
      if (!cache_) return false;
      outcome.key = key;
      auto point = cache_->find(key);
      if (!point) return false;
      outcome.point = *std::move(point);
      if (!makes_documents()) outcome.point.report = std::string{};
      return true;
    };
    sweeper_.answer(values, is_known, [&](const std::string& key, const Run& simulated) {
      outcome.point = report::point_of(simulated, GRADWAY_VERSION, cache_ || makes_documents());
      if (cache_) cache_->store(key, outcome.point.report);
      if (!makes_documents()) outcome.point.report = std::string{};
    });
  }

  /// Whether the sweep is written as JSON or as a page. A shard is not, because its points are merged from
  /// the cache.
  bool makes_documents() const {
    return arguments_.shard.empty() && (arguments_.json || arguments_.page_data || !arguments_.out.empty());
  }

  const SweepArguments& arguments_;
  const CommandContext& context_;
  Sweeper sweeper_;
  std::optional<PointCache> cache_;
};

void check(const SweepArguments& arguments) {
  if (arguments.scenario.empty())
    refuse("'gradway sweep' needs SCENARIO",
           "scenario: a file, or a name from 'gradway list scenarios' (see 'gradway sweep --help')");
  check_engine(arguments.engine);
  if (arguments.vary.empty())
    refuse("'gradway sweep' needs '--vary'", "give values of a key, such as '--vary job.gpus=1,2,4,8'");
  if (arguments.shard.empty()) return;
  if (arguments.json || arguments.csv)
    refuse("a shard is not printed, so '--shard' does not go with '--json' or '--csv'",
           "give them to 'gradway sweep --merge' instead");
  if (arguments.out.empty()) refuse("'--shard' needs '--out'", "give a folder for 'gradway sweep --merge'");
}

/// Prints a finished sweep and writes its files. @param remark text to print after their names
void write_sweep(const report::Sweep& sweep, const SweepArguments& arguments, bool writes_files,
                 const CommandContext& context, const std::string& remark) {
  const Results results{
      .text =
          [&](auto& out) {
            if (arguments.page_data) {
              report::write_sweep_document(out, sweep, GRADWAY_VERSION);
            } else {
              report::write_table(out, sweep, context.style);
            }
          },
      .page = [&](auto& out) { report::write_page(out, sweep, GRADWAY_VERSION); },
      .files = {{"sweep.json", [&](auto& out) { report::write_json(out, sweep, GRADWAY_VERSION); }},
                {"sweep.csv", [&](auto& out) { report::write_csv(out, sweep); }}}};
  show(results,
       arguments.json  ? "sweep.json"
       : arguments.csv ? "sweep.csv"
                       : "",
       writes_files ? arguments.out : "", context, remark);
}

Status whole_sweep(const SweepArguments& arguments, bool writes_files, const CommandContext& context) {
  SweepRunner runner{arguments, context, arguments.out};
  report::Sweep sweep{runner.sweep().name(), runner.sweep().axes(), {}};
  std::vector<std::size_t> indices(point_count(sweep.axes));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  auto outcomes = runner.run(indices);
  std::vector<Failure> failures;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto& [key, point, failure] = outcomes[i];
    point.values = point_values(sweep.axes, i);
    point.error = failure.text;
    sweep.points.push_back(std::move(point));
    failures.push_back(std::move(failure));
  }
  const auto status = status_of(failures);
  if (!has_results(failures, context)) return status;
  write_sweep(sweep, arguments, writes_files, context, runner.remark(indices.size()));
  return status;
}

Status one_shard(const SweepArguments& arguments, const CommandContext& context) {
  const auto shard = parse_shard(arguments.shard);
  const auto folder = std::filesystem::path{arguments.out} / folder_of(shard);
  SweepRunner runner{arguments, context, folder};
  const auto& sweep = runner.sweep();
  const auto points = points_of(shard, point_count(sweep.axes()));
  report::SweepShard summary{
      shard, std::string{program_digest()}, sweep.settings_digest(), sweep.name(), sweep.axes(), {}};
  std::vector<Failure> failures;
  for (auto& [key, point, failure] : runner.run(points)) {
    summary.points.push_back({key, failure.text, static_cast<int>(failure.status)});
    failures.push_back(std::move(failure));
  }
  write_distinct_failures(failures, context.messages);
  write_shard(folder, summary, context, runner.remark(points.size()));
  return status_of(failures);
}

Status merged(const SweepArguments& arguments, const CLI::App& app, bool writes_files,
              const CommandContext& context) {
  check_merge_options(app);
  auto [sweep, failures, count] = merge_shards({arguments.merge.begin(), arguments.merge.end()});
  const auto status = status_of(failures);
  if (!has_results(failures, context)) return status;
  write_sweep(sweep, arguments, writes_files, context, fmt::format("; merged of {} shards", count));
  return status;
}

Status sweep(const SweepArguments& arguments, const CLI::App& app, const CommandContext& context) {
  if (arguments.json && arguments.csv) refuse("'--json' and '--csv' are both given", "give one of them");
  if (arguments.merge.empty()) check(arguments);
  const bool writes_files = wants_files(app, arguments.out);
  if (!arguments.merge.empty()) return merged(arguments, app, writes_files, context);
  return arguments.shard.empty() ? whole_sweep(arguments, writes_files, context)
                                 : one_shard(arguments, context);
}

}  // namespace

Action add_sweep(CLI::App& app) {
  const auto arguments = std::make_shared<SweepArguments>();
  app.add_option("SCENARIO", arguments->scenario,
                 "scenario: a file, or a name from 'gradway list scenarios'; not with --merge");
  app.add_option("--vary", arguments->vary,
                 "values of a key, such as 1,2,4 or 1..8; several keys: all combinations")
      ->type_name("KEY=V1,V2,...")
      ->allow_extra_args(false);
  add_overrides(app, arguments->set);
  add_engine(app, arguments->engine);
  add_price_options(app, arguments->price);
  add_jobs(app, arguments->jobs);
  add_out(app, arguments->out, "report.html, sweep.json, sweep.csv and finished points");
  app.add_option("--shard", arguments->shard,
                 "simulate only part I of N of the points, and keep them in --out")
      ->type_name("I/N");
  app.add_option("--merge", arguments->merge, "merge the shards in these folders of --out into one sweep")
      ->type_name("DIR...");
  add_flag(app, "--no-folding", arguments->no_folding,
           "simulate every rank instead of one per group of identical ranks");
  add_flag(app, "--json", arguments->json, "print all reports as one JSON document");
  add_flag(app, "--csv", arguments->csv, "print one row per point as CSV");
  add_page_data(app, arguments->page_data)->excludes("--json")->excludes("--csv")->excludes("--shard");
  return [arguments, &app](const CommandContext& context) { return sweep(*arguments, app, context); };
}

}  // namespace gradway::cli
