// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/export.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/progress.hpp"
#include "sim/config/model_shape.hpp"
#include "sim/report/experiment/experiment.hpp"
#include "sim/report/format/text.hpp"
#include "sim/study/ask/ask.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

/// Refuses to replace files that this command has not written.
void check_ours(const fs::path& folder, const std::vector<report::ExperimentFile>& files) {
  for (const auto& file : files) {
    const auto path = folder / file.name;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    std::ifstream in{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (text.find(report::experiment_mark) == std::string::npos)
      refuse(fmt::format("'{}' already exists and was not written by this command", path.string()),
             "choose another folder for --out");
  }
}

/// The scenario as it will be read from the folder, where files that lie next to the original are not found.
Scenario moved_scenario(const std::string& file, const std::string& text,
                        const std::vector<Override>& overrides, DataPath data) {
  data.texts[file] = text;
  try {
    return load_scenario(file, overrides, data);
  } catch (const ConfigError& error) {
    refuse(
        fmt::format("the scenario cannot be read from the output folder: {}", error.problems().front().what),
        "add the folder of the files that it names to GRADWAY_PATH");
  }
}

}  // namespace

void export_experiment(const ExportArguments& arguments, const CommandContext& context) {
  if (arguments.chose_ranks)
    refuse("'gradway export experiment' does not have '--ranks'",
           "set the number of GPUs: '--set job.gpus=4'");
  const auto overrides = parse_overrides(arguments.set);
  load_scenario(arguments.scenario, overrides, context.data);  // reports problems at their places
  const auto shape = load_model_shape(arguments.scenario, overrides, context.data);
  const auto text =
      fmt::format("# Copied by '{}' from the scenario {}.\n{}", report::experiment_mark,
                  printable(arguments.scenario), load_scenario_source(arguments.scenario, context.data));
  auto scenario =
      moved_scenario((fs::path{arguments.out} / "scenario.yaml").string(), text, overrides, context.data);
  if (auto problems = report::unsupported_settings(scenario, shape); !problems.empty())
    throw ConfigError{std::move(problems)};
  announce_large_platform(context, scenario.platform);
  const auto run = ask(std::move(scenario));
  report::Experiment experiment{.scenario = arguments.scenario,
                                .text = text,
                                .shape = shape,
                                .step_time = run.measured.metrics.step_time,
                                .range = run.range,
                                .version = GRADWAY_VERSION};
  for (const auto& change : overrides) experiment.set.emplace_back(change.key, change.value);
  const auto files = report::experiment_files(run.scenario, experiment);
  check_ours(arguments.out, files);
  std::vector<OutputFile> outputs;
  for (const auto& file : files)
    outputs.push_back({file.name, [&file](std::ostream& out) { out << file.text; }});
  write_files(arguments.out, outputs);
  context.messages << fmt::format("wrote train.py, run.sh, check.sh, scenario.yaml and README.md to {}\n",
                                  printable(arguments.out));
}

}  // namespace gradway::cli
