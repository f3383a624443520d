// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/cli/commands.hpp"
#include "sim/cli/common_options.hpp"
#include "sim/cli/points.hpp"
#include "sim/cli/progress.hpp"
#include "sim/report/explain.hpp"
#include "sim/study/parallel.hpp"

namespace gradway::cli {
namespace {

struct ExplainArguments {
  std::string scenario;
  std::vector<std::string> set;
  std::string engine = "fluid";  // as for a sweep
  PriceChoice price;
  int jobs = 0;
  bool json = false;
};

/// A word of a command as a shell reads it.
std::string quoted(const std::string& word) {
  constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,=/:+%@";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const auto c : word) text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return text + "'";
}

/// What runs the scenario as it is explained.
std::string command_of(const ExplainArguments& arguments) {
  auto command = "gradway run " + quoted(arguments.scenario);
  for (const auto& text : arguments.set) command += " --set " + quoted(text);
  return command;
}

Explanation explained(const ExplainArguments& arguments, const Surroundings& around) {
  Progress progress{around};
  const auto watch = progress.watch();
  tell(watch, "reading the scenario and building its platform");
  const auto scenario =
      load_scenario(arguments.scenario, parse_overrides(arguments.set), around.data, arguments.price);
  tell(watch, "simulating what would help");
  return gradway::explain(scenario, arguments.engine, arguments.jobs > 0 ? arguments.jobs : all_cores());
}

Status explain(const ExplainArguments& arguments, const Surroundings& around) {
  check_engine(arguments.engine);
  const auto explanation = explained(arguments, around);
  if (arguments.json) {
    report::write_json(around.results, explanation, GRADWAY_VERSION);
  } else {
    report::write_text(around.results, explanation, command_of(arguments), around.style);
  }
  return Status::done;
}

}  // namespace

Action add_explain(CLI::App& app) {
  const auto arguments = std::make_shared<ExplainArguments>();
  add_scenario(app, arguments->scenario);
  add_overrides(app, arguments->set);
  add_engine(app, arguments->engine);
  add_price_choice(app, arguments->price);
  add_jobs(app, arguments->jobs);
  app.add_flag("--json", arguments->json, "print all of it as JSON")->disable_flag_override();
  return [arguments](const Surroundings& around) { return explain(*arguments, around); };
}

}  // namespace gradway::cli
