// SPDX-License-Identifier: Apache-2.0
#include "cli/points/programs.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/progress.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/report/points/program_change.hpp"
#include "sim/study/compare/program_change.hpp"
#include "sim/study/search/first_scenario.hpp"
#include "sim/workload/captured/captured_step.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

/// What is compared: a scenario, or a model that becomes one.
struct Compared {
  std::string scenario;
  std::optional<fs::path> model{};
  int ranks = 1;  ///< with which a capture was started
};

Compared compared(const std::string& argument, const DataPath& data) {
  Compared result{.scenario = argument, .model = model_file_of(argument, data)};
  if (!result.model) return result;
  if (const auto captured = load_model(result.model->string(), data).captured) result.ranks = captured->ranks;
  return result;
}

/// @param gpus empty: those of the scenario, or the ranks of a capture
Scenario scenario_of(const Compared& compared, const std::string& platform, const std::string& gpus,
                     const ProgramsRequest& request, const DataPath& data) {
  auto overrides = request.set;
  if (!compared.model) {
    if (!platform.empty()) overrides.push_back(given_by("--platforms", "platform", platform));
    if (!gpus.empty()) overrides.push_back(given_by("--gpus", "job.gpus", gpus));
    return load_scenario(compared.scenario, overrides, data);
  }
  // Its scenario stands next to the model, by whose name it finds it.
  constexpr int most_gpus = 1 << 20;
  const auto name = compared.model->stem().string();
  const auto settings = recipe_settings(
      {.model = name,
       .model_file = compared.model->string(),
       .platform = platform,
       .gpus = value_of("--gpus", gpus, config::integer(1, most_gpus)).value_or(compared.ranks)},
      data);
  const auto file = (compared.model->parent_path() / fmt::format("{}-compared.yaml", name)).string();
  auto with_scenario = data;
  with_scenario.texts[file] = scenario_text(settings);
  auto scenario = load_scenario(file, overrides, with_scenario);
  scenario.name = name;
  return scenario;
}

std::vector<ProgramChange> changes_of(const ProgramsRequest& request, const CommandContext& context) {
  const auto data = with_file_cache(context.data);
  auto before = compared(request.before, data);
  auto after = compared(request.after, data);
  if ((before.model || after.model) && request.platforms.empty())
    refuse(fmt::format("'{}' is a model, and nothing names the platform on which it runs",
                       before.model ? before.scenario : after.scenario),
           "add it, such as '--platforms aws-p5.48xlarge --gpus 8'; 'gradway list platforms' has all names");
  before.ranks = after.ranks = std::max(before.ranks, after.ranks);
  const auto platforms = request.platforms.empty() ? std::vector<std::string>{""} : request.platforms;
  const auto numbers = request.gpus.empty() ? std::vector<std::string>{""} : request.gpus;
  std::vector<ProgramChange> changes;
  Progress progress{context, "combination", platforms.size() * numbers.size()};
  for (const auto& platform : platforms)
    for (const auto& gpus : numbers) {
      auto old_scenario = scenario_of(before, platform, gpus, request, data);
      auto new_scenario = scenario_of(after, platform, gpus, request, data);
      changes.push_back(
          program_change(std::move(old_scenario), std::move(new_scenario), {.engine = request.engine}));
      progress.step();
    }
  return changes;
}

/// Whether a limit is passed. Says so.
bool passes_limit(const ProgramChange& change, const std::optional<double>& limit, std::ostream& messages) {
  if (!limit) return false;
  const auto& platform = change.after.answer.platform;
  if (change.no_longer_fits()) {
    messages << fmt::format("error: the job no longer fits into the GPUs of {}\n", platform);
    return true;
  }
  if (change.sign != ChangeSign::slower || change.ratio.value - 1 <= *limit) return false;
  messages << fmt::format("error: the step on {} becomes {:.2f} % longer, more than the limit of {:.4g} %\n",
                          platform, (change.ratio.value - 1) * 100, *limit * 100);
  return true;
}

}  // namespace

Status compare_programs(const ProgramsRequest& request, const CommandContext& context) {
  const auto changes = changes_of(request, context);
  if (request.json) {
    report::write(context.results, report::json_document(changes, GRADWAY_VERSION));
  } else if (request.markdown) {
    report::write_markdown(context.results, changes);
  } else {
    report::write_text(context.results, changes, context.style);
  }
  bool passed = false;
  for (const auto& change : changes) passed = passes_limit(change, request.limit, context.messages) || passed;
  return passed ? Status::limit_passed : Status::done;
}

}  // namespace gradway::cli
