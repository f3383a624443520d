// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/cli/common_options.hpp"
#include "sim/cli/out_folder.hpp"
#include "sim/cli/progress.hpp"
#include "sim/report/json/json.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/text/terminal.hpp"
#include "sim/report/trace/trace.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::cli {
namespace {

struct RunArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::string engine = "auto";
  std::string out;
  PriceChoice price;
  bool json = false;
  bool no_folding = false;
};

Run simulated(const RunArguments& arguments, const std::vector<Override>& overrides,
              const Surroundings& around) {
  Progress progress{around};
  const auto watch = progress.watch();
  tell(watch, "reading the scenario and building its platform");
  auto scenario = load_scenario(arguments.scenario, overrides, around.data, arguments.price);
  const auto fold = arguments.no_folding ? FoldRanks::no : FoldRanks::yes;
  return simulate(std::move(scenario), arguments.engine, fold, watch);
}

Status run(const RunArguments& arguments, const CLI::App& app, const Surroundings& around) {
  check_engine(arguments.engine);
  const bool writes_files = wants_files(app, arguments.out);
  const auto overrides = parse_overrides(arguments.set);
  const auto finished = simulated(arguments, overrides, around);
  const auto write_json = [&](std::ostream& out) { report::write_json(out, finished, GRADWAY_VERSION); };
  if (arguments.json) {
    write_json(around.results);
  } else {
    report::write_text(around.results, finished, around.style);
  }
  if (writes_files) {
    const auto write_trace = [&](std::ostream& out) { report::write_trace(out, finished); };
    put_results(
        arguments.out, {{"report.json", write_json}, {"trace.json", write_trace}},
        [&](std::ostream& out) { report::write_page(out, finished, GRADWAY_VERSION); }, around);
  }
  return Status::done;
}

}  // namespace

Action add_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  add_engine(app, arguments->engine);
  add_price_choice(app, arguments->price);
  app.add_flag("--no-folding", arguments->no_folding, "simulate every rank, even those that do the same")
      ->disable_flag_override();
  add_out(app, arguments->out, "report.html, report.json and trace.json");
  app.add_flag("--json", arguments->json, "print the report as JSON")->disable_flag_override();
  return [arguments, &app](const Surroundings& around) { return run(*arguments, app, around); };
}

}  // namespace gradway::cli
