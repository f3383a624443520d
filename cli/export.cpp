// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "cli/shell/command_context.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/progress.hpp"
#include "readers/chakra/chakra.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/model_shape.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/trace/slices.hpp"
#include "sim/study/ask/ask.hpp"
#include "writers/chakra/chakra_nodes.hpp"
#include "writers/experiment/experiment.hpp"
#include "writers/kineto/kineto_trace.hpp"

namespace gradway::cli {
namespace {

struct ExportArguments {
  std::string format;
  std::string scenario;
  std::vector<std::string> set;
  std::string out;
  int ranks = 8;  ///< most ranks to write
  bool chose_ranks = false;
};

/// Writes one file per rank and perhaps others, and prints their names.
/// @param ranks number of files for ranks, which come first
void write_rank_files(const ExportArguments& arguments, const std::vector<OutputFile>& files,
                      std::size_t ranks, const std::string& remark, const CommandContext& context) {
  write_files(arguments.out, files);
  const auto path = [&](const OutputFile& file) {
    return printable((std::filesystem::path{arguments.out} / file.name).string());
  };
  context.messages << fmt::format("wrote {}{}{}{}\n", path(files.front()),
                                  ranks == 1 ? "" : " to " + path(files[ranks - 1]),
                                  ranks < files.size() ? " and " + path(files.back()) : "", remark);
}

/// Writes "DIR/NAME.RANK.et" for each rank, which ASTRA-sim takes as "DIR/NAME", and the process groups.
void export_chakra(const ExportArguments& arguments, const CommandContext& context) {
  if (arguments.chose_ranks)
    refuse("'gradway export chakra' does not have '--ranks'",
           "leave it out: Chakra needs the traces of all ranks");
  auto scenario = load_scenario(arguments.scenario, parse_overrides(arguments.set), context.data);
  announce_large_platform(context, scenario.platform);
  // The simulation says how much GPUs wait, on which their clocks depend.
  const auto run = ask(std::move(scenario), {.micro_batches = FoldMicroBatches::no});
  const auto& workload = run.workload;
  std::vector<OutputFile> files;
  for (int rank = 0; rank < workload.ranks; ++rank) {
    files.push_back({fmt::format("{}.{}.et", run.scenario.name, rank), [&workload, rank](std::ostream& out) {
                       out << chakra_bytes(
                           report::chakra_nodes(workload, ActorId{static_cast<std::uint32_t>(rank)}));
                     }});
  }
  files.push_back(
      {"comm_group.json", [&](std::ostream& out) { report::write_chakra_groups(out, workload); }});
  write_rank_files(arguments, files, files.size() - 1, "", context);
}

/// Writes "DIR/NAME.RANK.json.gz" for each rank to show.
void export_kineto(const ExportArguments& arguments, const CommandContext& context) {
  auto scenario = load_scenario(arguments.scenario, parse_overrides(arguments.set), context.data);
  announce_large_platform(context, scenario.platform);
  const auto run = ask(std::move(scenario), {.micro_batches = FoldMicroBatches::no});
  const auto most = static_cast<std::size_t>(arguments.ranks);
  const auto shown = report::shown_ranks(run.folding, most, most);
  const report::Slices slices{run, shown.ranks};
  std::vector<OutputFile> files;
  for (const auto rank : shown.ranks) {
    files.push_back(
        {fmt::format("{}.{}.json.gz", run.scenario.name, rank), [&, rank](std::ostream& out) {
           write_gzip(out, [&](std::ostream& text) { report::write_kineto_trace(text, run, slices, rank); });
         }});
  }
  write_rank_files(arguments, files, files.size(), "; " + shown.words, context);
}

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

/// Writes a PyTorch program that runs the scenario, and scripts that start it and check the prediction.
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

/// A format to export to.
struct ExportFormat {
  std::string_view name;
  std::string_view help;
  void (*write)(const ExportArguments&, const CommandContext&);
};

constexpr std::array all_exports{
    ExportFormat{"chakra", "execution traces of MLCommons Chakra, for ASTRA-sim", export_chakra},
    ExportFormat{"kineto", "traces like those of the PyTorch profiler, for Holistic Trace Analysis",
                 export_kineto},
    ExportFormat{"experiment", "PyTorch program that runs the job, to check the prediction on GPUs",
                 export_experiment}};

Status export_scenario(const ExportArguments& arguments, const CommandContext& context) {
  const auto& format = row_named(all_exports, arguments.format,
                                 fmt::format("there is no export format '{}'", arguments.format));
  check_folder(arguments.out);
  remove_abandoned_files(arguments.out);
  format.write(arguments, context);
  return Status::done;
}

std::string help_of_exports() {
  std::string help = "format to write";
  for (const auto& format : all_exports) help += fmt::format("\n{}: {}", format.name, format.help);
  return help;
}

}  // namespace

std::vector<std::string> export_formats() {
  return names_of(all_exports);
}

Action add_export(CLI::App& app) {
  const auto arguments = std::make_shared<ExportArguments>();
  app.add_option("FORMAT", arguments->format, help_of_exports())->required();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  app.add_option("-o,--out", arguments->out, "output folder")->type_name("DIR")->required();
  const auto* const ranks =
      app.add_option("--ranks", arguments->ranks,
                     "kineto: maximum number of ranks to write; of more, those that differ (default: 8)")
          ->type_name("N")
          ->check(CLI::Range(1, 1 << 20))
          ->capture_default_str();
  return [arguments, ranks](const CommandContext& context) {
    arguments->chose_ranks = ranks->count() > 0;
    return export_scenario(*arguments, context);
  };
}

}  // namespace gradway::cli
