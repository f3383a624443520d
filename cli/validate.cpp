// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/out_folder.hpp"
#include "cli/shell/progress.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/page/page.hpp"
#include "sim/report/run/json.hpp"
#include "sim/report/run/validation.hpp"
#include "sim/scenario/strategy_words.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/compare/proposed_anchor.hpp"

namespace gradway::cli {
namespace {

struct ValidateArguments {
  std::string cases;
  std::vector<std::string> set;
  std::string out;
  bool json = false;
  std::optional<std::string> max_mean_error;
  std::optional<std::string> max_error;
};

/// Whether two keys are the same, or one is a group that contains the other.
bool overlap(std::string_view a, std::string_view b) {
  const auto& [shorter, longer] = std::minmax(a, b, [](auto x, auto y) { return x.size() < y.size(); });
  return longer.starts_with(shorter) && (longer.size() == shorter.size() || longer[shorter.size()] == '.');
}

/// Adds the overrides of all cases before those of each case. @throws ConfigError for keys that are set twice
void set_in_all(const std::vector<Override>& changes, Cases& cases) {
  std::vector<Problem> problems;
  for (auto& checked_case : cases.cases) {
    for (const auto& change : changes) {
      for (const auto& case_change : checked_case.set) {
        if (!overlap(change.key, case_change.key)) continue;
        problems.push_back({case_change.where,
                            fmt::format("case '{}' sets '{}', so '--set {}={}' cannot set it",
                                        checked_case.name, case_change.key, change.key, change.value),
                            {},
                            "set only keys that no case sets"});
      }
    }
    checked_case.set.insert(checked_case.set.begin(), changes.begin(), changes.end());
  }
  if (!problems.empty()) throw ConfigError{problems};
}

/// Loads the scenarios of all cases. @throws ConfigError with the errors of all, and the names of their cases
std::vector<Scenario> load_all(const Cases& cases, const DataPath& data) {
  std::vector<Scenario> scenarios;
  std::vector<Problem> problems;
  std::vector<std::string> texts;  // one per problem: most problems are the same in each case
  for (const auto& checked_case : cases.cases) {
    try {
      scenarios.push_back(load_scenario(checked_case.scenario_file, checked_case.set, data));
    } catch (const ConfigError& error) {
      for (auto problem : error.problems()) {
        const auto text = to_text(problem);
        if (std::ranges::find(texts, text) != texts.end()) continue;
        texts.push_back(text);
        problem.notes.push_back({checked_case.where, fmt::format("in case '{}'", checked_case.name)});
        problems.push_back(std::move(problem));
      }
    }
  }
  if (!problems.empty()) throw ConfigError{problems};
  return scenarios;
}

/// The measurement as a step time. @throws ConfigError for a bus bandwidth if the strategy is not a
/// collective
Seconds measured_time(const Scenario& scenario, const Case& checked_case) {
  if (!checked_case.bus_bandwidth) return checked_case.measured;
  if (trains(scenario.job.strategy)) {
    refuse_at(
        checked_case.where,
        fmt::format("case '{}' has a bus bandwidth, but its strategy is not a collective", checked_case.name),
        "give its 'step_time', or set 'strategy.kind: collective'");
  }
  const auto& call = std::get<OneCollective>(scenario.job.strategy);
  const auto factor = bus_factor(call.kind, scenario.job.gpus);
  return factor * call.size / *checked_case.bus_bandwidth;
}

report::ValidationCase predict(const Scenario& scenario, const Case& checked_case,
                               const std::string& source) {
  const auto measured = measured_time(scenario, checked_case);
  try {
    const auto run = ask(scenario);
    return {checked_case.name,
            measured,
            run.measured.metrics.step_time,
            run.range,
            proposed_anchor(scenario, measured, source),
            report::group_of(run),
            meets_given_step(scenario),
            scenario.model.name,
            scenario.platform.gpu_models.front().name,
            scenario.job.gpus,
            name_of(scenario.job.strategy),
            scenario.model.parameter_count()};
  } catch (const SimulationError& error) {
    throw SimulationError{fmt::format("case '{}': {}", checked_case.name, error.what())};
  } catch (const ConfigError& error) {
    auto problems = error.problems();
    for (auto& problem : problems)
      problem.notes.push_back({checked_case.where, fmt::format("in case '{}'", checked_case.name)});
    throw ConfigError{problems};
  }
}

report::Validation compare(const Cases& cases, const CommandContext& context) {
  const auto scenarios = load_all(cases, with_file_cache(context.data));
  report::Validation validation{cases.source, {}};
  Progress progress{context, "case", scenarios.size()};
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    validation.cases.push_back(predict(scenarios[i], cases.cases[i], cases.source));
    progress.step();
  }
  return validation;
}

bool passes(std::string_view kind, double error, std::optional<double> most, std::ostream& messages) {
  if (!most || error <= *most) return false;
  messages << fmt::format("error: the {} error of {:.2f} % exceeds the limit of {:.4g} %\n", kind,
                          error * 100, *most * 100);
  return true;
}

Status validate(const ValidateArguments& arguments, const CLI::App& app, const CommandContext& context) {
  const bool writes_files = wants_files(app, arguments.out);
  const auto most_mean = percentage("--max-mean-error", arguments.max_mean_error);
  const auto most = percentage("--max-error", arguments.max_error);
  const auto overrides = parse_overrides(arguments.set);
  auto cases = load_cases(arguments.cases, context.data);
  set_in_all(overrides, cases);
  const auto validation = compare(cases, context);
  const std::filesystem::path file{arguments.cases};
  const auto title = (file.parent_path().filename() / file.stem()).generic_string();  // "article/cases"
  const Results results{
      .text = [&](auto& out) { report::write_table(out, validation, context.style); },
      .page = [&](auto& out) { report::write_page(out, validation, title, GRADWAY_VERSION); },
      .files = {{"validate.json",
                 [&](auto& out) { report::write(out, report::json_document(validation)); }}}};
  show(results, arguments.json ? "validate.json" : "", writes_files ? arguments.out : "", context);
  const bool mean_passes = passes("mean", validation.mean_abs_error(), most_mean, context.messages);
  const bool worst_passes = passes("largest", validation.max_abs_error(), most, context.messages);
  return mean_passes || worst_passes ? Status::limit_passed : Status::done;
}

}  // namespace

Action add_validate(CLI::App& app) {
  const auto arguments = std::make_shared<ValidateArguments>();
  app.add_option("CASES", arguments->cases,
                 "file of cases, each with a scenario, overrides and a measured step time")
      ->required();
  app.add_option("--set", arguments->set,
                 "set a key in all cases, which no case may set itself; can be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_out(app, arguments->out, "report.html and validate.json");
  add_flag(app, "--json", arguments->json, "print the comparison as JSON");
  app.add_option("--max-mean-error", arguments->max_mean_error,
                 "exit with status 4 if the mean absolute error is larger")
      ->type_name("P%");
  app.add_option("--max-error", arguments->max_error, "exit with status 4 if any absolute error is larger")
      ->type_name("P%");
  return [arguments, &app](const CommandContext& context) { return validate(*arguments, app, context); };
}

}  // namespace gradway::cli
