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

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/read_back.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
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
void complete(Shorthands& job, const CommandContext& context) {
  const auto need = [&](std::string& value, const std::string& option, const auto& answer) {
    if (!value.empty()) return;
    if (!can_ask())
      refuse(
          fmt::format("'gradway init' needs {}", option),
          "such as 'gradway init --model llama3_8b --platform aws-p5.48xlarge --gpus 64'; on a terminal it "
          "asks");
    value = answer();
  };
  need(job.model, "--model NAME", [&] {
    return ask("model, a name from 'gradway list models'", list_names(DataKind::model, context.data),
               context);
  });
  need(job.platform, "--platform NAME", [&] {
    return ask("platform, a name from 'gradway list platforms'", list_names(DataKind::platform, context.data),
               context);
  });
  need(job.gpus, "--gpus N", [&] { return ask_gpus(context); });
}

/// A model or a platform: its name in the scenario, and the file that the scenario finds by it.
struct NamedFile {
  std::string name;
  std::string file;
};

/// @param value a name, or a file
/// @param out the scenario's file; empty: one in the working folder
/// @throws ConfigError for an unknown name, and for a file that the scenario would not find
NamedFile named_file(DataKind kind, const std::string& option, const std::string& value,
                     const std::string& out, const DataPath& data) {
  namespace fs = std::filesystem;
  const fs::path file{value};
  std::error_code ignored;
  if (file.extension() != ".yaml" || !fs::is_regular_file(file, ignored))
    return {value, find_name(kind, value, data, given_by(option, "", value).where, out).string()};
  const auto name = file.stem().string();
  try {
    if (fs::equivalent(find_name(kind, name, data, {}, out), file, ignored)) return {name, value};
  } catch (const ConfigError&) {  // explained below
  }
  refuse(fmt::format("'{} {}' is not in the folder of the scenario, in the working folder, or in a folder "
                     "'{}s' there, where the scenario finds it by its name",
                     option, printable(value), option.substr(2)),
         fmt::format("write the scenario to the folder of the {}: '-o {}'", option.substr(2),
                     printable((file.parent_path() / "first.yaml").string())));
}

Status init(InitArguments arguments, const CommandContext& context) {
  const auto& out = arguments.out;
  if (!out.empty()) check_yaml(out, arguments.force, "scenarios");
  check_known("--strategy", arguments.strategy, "strategy", strategies_of_training());
  check_known("--framework", arguments.framework, "framework",
              {framework_words.begin(), framework_words.end()});
  complete(arguments.job, context);
  const auto model = named_file(DataKind::model, "--model", arguments.job.model, out, context.data);
  const auto platform =
      named_file(DataKind::platform, "--platform", arguments.job.platform, out, context.data);
  const FirstScenarioRequest request{.model = model.name,
                                     .model_file = model.file,
                                     .platform = platform.name,
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
         "model: a name from 'gradway list models', or a file of the working folder or of the scenario's; "
         "asked for on a terminal")
      ->type_name("NAME");
  app.add_option(
         "--platform", arguments->job.platform,
         "platform: a name from 'gradway list platforms', or a file as of a model; asked for on a terminal")
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
  add_flag(app, "--force", arguments->force, "replace an existing file");
  return [arguments](const CommandContext& context) { return init(*arguments, context); };
}

}  // namespace gradway::cli
