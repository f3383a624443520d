// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/shell/argument_words.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/config/find/lookup.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/report/search/commented_scenario.hpp"

namespace gradway::cli {
namespace {

struct InitArguments {
  Shorthands job;
  std::string strategy;
  std::string framework;
  std::string out;
  bool force = false;
};

bool can_ask() {
  return isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
}

/// Asks until the answer is one of the words. Suggests near words for other answers.
std::string ask(const std::string& question, const std::vector<std::string>& known,
                const CommandContext& context) {
  for (std::string answer;;) {
    context.messages << question << ": " << std::flush;
    if (!std::getline(std::cin, answer)) refuse("there was no answer", "see 'gradway init --help'");
    if (std::ranges::find(known, answer) != known.end()) return answer;
    context.messages << fmt::format("  there is no '{}'; {}\n", printable(answer), suggestion(answer, known));
  }
}

int gpus_of(const std::string& text) {
  constexpr int most_gpus = 1 << 20;
  return *value_of("--gpus", text, config::integer(1, most_gpus));
}

std::string ask_gpus(const CommandContext& context) {
  for (std::string answer;;) {
    context.messages << "GPUs (8): " << std::flush;
    if (!std::getline(std::cin, answer) || answer.empty()) return "8";
    try {
      gpus_of(answer);
      return answer;
    } catch (const ConfigError& error) {
      context.messages << "  " << error.problems().front().what << '\n';
    }
  }
}

/// Asks for missing arguments on a terminal. @throws ConfigError for missing arguments elsewhere
void complete(Shorthands& job, const std::vector<std::string>& models,
              const std::vector<std::string>& platforms, const CommandContext& context) {
  const auto need = [&](std::string& value, const std::string& option, const auto& answer) {
    if (!value.empty()) return;
    if (!can_ask())
      refuse(
          fmt::format("'gradway init' needs {}", option),
          "such as 'gradway init --model llama3_8b --platform aws-p5.48xlarge --gpus 64'; on a terminal it "
          "asks");
    value = answer();
  };
  need(job.model, "--model NAME",
       [&] { return ask("model, a name from 'gradway list models'", models, context); });
  need(job.platform, "--platform NAME",
       [&] { return ask("platform, a name from 'gradway list platforms'", platforms, context); });
  need(job.gpus, "--gpus N", [&] { return ask_gpus(context); });
}

/// A model file of the user in a folder where the scenario finds it by its name.
struct OwnModel {
  std::string name;
  std::string file;
};

/// @param model a name or a file @param out the scenario's file; empty: one in the working folder
/// @throws ConfigError if the model is a file that the scenario would not find
std::optional<OwnModel> own_model(const std::string& model, const std::string& out) {
  namespace fs = std::filesystem;
  constexpr std::string_view ending = ".yaml";
  if (model.empty()) return std::nullopt;
  const bool is_file = model.ends_with(ending);
  const auto name = is_file ? fs::path{model}.stem().string() : model;
  const auto folder = fs::path{out}.parent_path();
  std::error_code ignored;
  for (const auto& file : {folder / "models" / (name + ".yaml"), folder / (name + ".yaml")}) {
    if (!fs::is_regular_file(file, ignored)) continue;
    if (is_file ? fs::equivalent(file, model, ignored) : config::may_be(DataKind::model, file))
      return OwnModel{name, file.string()};
  }
  if (is_file && fs::is_regular_file(model, ignored))
    refuse(
        fmt::format("'--model {}' is not in the folder of the scenario, or in a folder 'models' there, where "
                    "the scenario finds it by its name",
                    printable(model)),
        fmt::format("write the scenario to the folder of the model: '-o {}'",
                    printable((fs::path{model}.parent_path() / "first.yaml").string())));
  return std::nullopt;
}

Status init(InitArguments arguments, const CommandContext& context) {
  const auto& out = arguments.out;
  if (!out.empty()) check_yaml(out, arguments.force, "scenarios");
  const auto models = list_names(DataKind::model, context.data);
  const auto platforms = list_names(DataKind::platform, context.data);
  const auto own = own_model(arguments.job.model, out);
  if (!own) check_known("--model", arguments.job.model, "model", models);
  check_known("--platform", arguments.job.platform, "platform", platforms);
  check_known("--strategy", arguments.strategy, "strategy", strategies_of_training());
  check_known("--framework", arguments.framework, "framework",
              {framework_words.begin(), framework_words.end()});
  complete(arguments.job, models, platforms, context);
  const FirstScenarioRequest request{.model = own ? own->name : arguments.job.model,
                                     .model_file = own ? own->file : "",
                                     .platform = arguments.job.platform,
                                     .gpus = gpus_of(arguments.job.gpus),
                                     .strategy = arguments.strategy,
                                     .framework = arguments.framework};
  const auto scenario =
      attribute_errors_to("gradway init", [&] { return first_scenario(request, out, context.data); });
  std::ostringstream text;
  report::write_commented_scenario(text, scenario, out);
  check_scenario_reads_back(text.str(), "gradway init", out, context.data);
  if (!scenario.fits)
    warn(context,
         "the job does not fit into the GPUs' memory: use more GPUs, or search a layout that fits with "
         "'gradway "
         "optimize FILE --layout'");
  if (out.empty()) {
    context.results << text.str();
    return Status::done;
  }
  write_file(out, arguments.force, [&](std::ostream& file) { file << text.str(); });
  context.results << context.style.paint(report::Paint::bold, printable(out)) << '\n';
  return Status::done;
}

}  // namespace

Action add_init(CLI::App& app) {
  const auto arguments = std::make_shared<InitArguments>();
  app.add_option(
         "--model", arguments->job.model,
         "model: a name from 'gradway list models', or a file in the folder of the scenario; asked for on a "
         "terminal")
      ->type_name("NAME");
  app.add_option("--platform", arguments->job.platform,
                 "platform: a name from 'gradway list platforms'; asked for on a terminal")
      ->type_name("NAME");
  app.add_option("--gpus", arguments->job.gpus, "number of GPUs; asked for on a terminal")->type_name("N");
  app.add_option("--strategy", arguments->strategy,
                 "strategy: none, ddp, fsdp ..., see 'gradway help strategies' (default: ddp, or fsdp if ddp "
                 "does not "
                 "fit)")
      ->type_name("NAME");
  app.add_option("--framework", arguments->framework,
                 "framework whose recipe is used: pytorch, megatron or deepspeed (default: pytorch)")
      ->type_name("NAME");
  app.add_option("-o,--out", arguments->out, "file to write (default: print the scenario)")
      ->type_name("FILE");
  app.add_flag("--force", arguments->force, "replace an existing file")->disable_flag_override();
  return [arguments](const CommandContext& context) { return init(*arguments, context); };
}

}  // namespace gradway::cli
