// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "sim/base/nearest.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/show/lists.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {
namespace {

constexpr int gpus_of_synthetic_platforms = 8;  // whose size follows from the job

struct ShowArguments {
  std::string kind;
  std::string name;
  std::vector<std::string> set;
};

void show_platform(const ShowArguments& arguments, const CommandContext& context) {
  Calibration calibration;
  const auto platform =
      load_platform(arguments.name, gpus_of_synthetic_platforms, context.data, &calibration);
  report::write_platform(context.results, platform, calibration, context.style);
}

void show_calibration(const ShowArguments& arguments, const CommandContext& context) {
  report::write_calibration(context.results, load_calibration(arguments.name, context.data), context.style);
}

void show_model(const ShowArguments& arguments, const CommandContext& context) {
  report::write_model(context.results, load_model(arguments.name, context.data), context.style);
}

void show_storage(const ShowArguments& arguments, const CommandContext& context) {
  report::write_storage(context.results, load_storage(arguments.name, context.data), context.style);
}

void show_dataset(const ShowArguments& arguments, const CommandContext& context) {
  report::write_dataset(context.results, load_dataset(arguments.name, context.data), context.style);
}

void show_plan(const ShowArguments& arguments, const CommandContext& context) {
  const auto scenario = load_scenario(arguments.name, parse_overrides(arguments.set), context.data);
  report::write_plan(context.results, scenario, plan(scenario, compute_costs(scenario)), context.style);
}

void show_gpu(const ShowArguments& arguments, const CommandContext& context) {
  report::write_gpus(context.results,
                     {report::ListedGpu{arguments.name, load_gpu(arguments.name, {}, context.data),
                                        gpu_of_kernel_times(arguments.name, context.data)}},
                     context.style);
}

/// A kind of data to show.
struct ShownKind {
  std::string_view name;
  DataKind kind;
  void (*show)(const ShowArguments&, const CommandContext&);

  bool takes_overrides() const { return kind == DataKind::scenario; }
};
constexpr std::array all_kinds{ShownKind{"platform", DataKind::platform, show_platform},
                               ShownKind{"gpu", DataKind::gpu, show_gpu},
                               ShownKind{"model", DataKind::model, show_model},
                               ShownKind{"calibration", DataKind::calibration, show_calibration},
                               ShownKind{"plan", DataKind::scenario, show_plan},
                               ShownKind{"storage", DataKind::storage, show_storage},
                               ShownKind{"dataset", DataKind::dataset, show_dataset}};

/// Refuses a single word, which may be a name.
[[noreturn]] void refuse_without_name(const std::string& word, const DataPath& data) {
  for (const auto& kind : all_kinds) {
    const auto name = nearest(word, list_names(kind.kind, data));
    if (!name.empty())
      refuse("'gradway show' needs a kind and a name",
             fmt::format("such as 'gradway show {} {}'", kind.name, name));
  }
  refuse("'gradway show' needs NAME",
         "give a name from 'gradway list', or a file; see 'gradway show --help'");
}

Status show(const ShowArguments& arguments, const CommandContext& context) {
  if (arguments.name.empty()) refuse_without_name(arguments.kind, context.data);
  const auto& kind = row_named(all_kinds, arguments.kind,
                               fmt::format("'gradway show' does not have the kind '{}'", arguments.kind));
  if (!arguments.set.empty() && !kind.takes_overrides()) {
    refuse(fmt::format("'--set' changes a scenario, not a {}", kind.name),
           "use it with 'gradway show plan SCENARIO --set KEY=VALUE'");
  }
  kind.show(arguments, context);
  return Status::done;
}

}  // namespace

std::optional<DataKind> data_shown(const std::string& kind) {
  const auto known = std::ranges::find(all_kinds, kind, &ShownKind::name);
  return known == all_kinds.end() ? std::nullopt : std::optional{known->kind};
}

std::vector<std::string> shown_kinds() {
  return names_of(all_kinds);
}

Action add_show(CLI::App& app) {
  const auto arguments = std::make_shared<ShowArguments>();
  app.add_option("KIND", arguments->kind, "kind: platform, gpu, model, calibration, plan, storage or dataset")
      ->required();
  app.add_option("NAME", arguments->name, "name from 'gradway list', or a file; for a plan, a scenario");
  add_overrides(app, arguments->set);
  return [arguments](const CommandContext& context) { return show(*arguments, context); };
}

}  // namespace gradway::cli
