// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/points/points.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/progress.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/run/explain.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

struct ExplainArguments {
  std::string scenario;
  std::vector<std::string> set;
  Shorthands shorthands;
  std::string engine = "fluid";  // runs in this process
  PriceChoice price;
  int jobs = 0;
  std::string out;
  bool json = false;
};

Explanation explained(const ExplainArguments& arguments, const std::vector<Override>& overrides,
                      const CommandContext& context) {
  Progress progress{context};
  const auto on_progress = progress.callback();
  report_progress(on_progress, "reading the scenario and building its platform");
  const auto scenario = load_scenario(arguments.scenario, overrides, context.data, arguments.price);
  announce_large_platform(context, scenario.platform);
  std::optional<StorageTier> drive;
  if (const auto& storage = scenario.job.input.storage; storage && !storage->is_local())
    drive = load_storage("local-nvme", context.data);
  report_progress(on_progress, "simulating counterfactuals");
  return gradway::explain(scenario, arguments.engine, arguments.jobs, drive);
}

Status explain(const ExplainArguments& arguments, const CLI::App& app, const CommandContext& context) {
  check_engine(arguments.engine);
  const bool writes_files = wants_files(app, arguments.out);
  const auto overrides = overrides_of(arguments.set, arguments.shorthands);
  const auto explanation = explained(arguments, overrides, context);
  report::RunCommand command{arguments.scenario, {}};
  for (const auto& change : overrides) command.set.emplace_back(change.key, change.value);
  const Results results{
      .text = [&](auto& out) { report::write_text(out, explanation, command, context.style); },
      .page = [&](auto& out) { report::write_page(out, explanation, command, GRADWAY_VERSION); },
      .files = {{"explain.json", [&](auto& out) {
                   report::write(out, report::json_document(explanation, GRADWAY_VERSION));
                 }}}};
  show(results, arguments.json ? "explain.json" : "", writes_files ? arguments.out : "", context);
  return Status::done;
}

}  // namespace

Action add_explain(CLI::App& app) {
  const auto arguments = std::make_shared<ExplainArguments>();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  add_shorthands(app, arguments->shorthands);
  add_engine(app, arguments->engine);
  add_price_options(app, arguments->price);
  add_jobs(app, arguments->jobs);
  add_out(app, arguments->out, "report.html and explain.json");
  add_flag(app, "--json", arguments->json, "print the explanation as JSON");
  return [arguments, &app](const CommandContext& context) { return explain(*arguments, app, context); };
}

}  // namespace gradway::cli
