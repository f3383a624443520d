// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "cli/import/formats.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/read_back.hpp"
#include "readers/training/scenario_draft.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::cli {
namespace {

/// The options of an import to a scenario. @throws ConfigError for unknown names
DraftOptions draft_options(const ImportArguments& arguments, const CommandContext& context) {
  constexpr int most_gpus = 1 << 20;
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "scenarios");
  DraftOptions options;
  options.model = arguments.model;
  options.platform = arguments.platform;
  options.known_models = available_names(DataKind::model, arguments.out, context.data);
  const auto check = [&](DataKind kind, const char* option, const std::string& name) {
    if (!name.empty()) find_name(kind, name, context.data, given_by(option, "", name).where, arguments.out);
  };
  check(DataKind::model, "--model", options.model);
  check(DataKind::platform, "--platform", options.platform);
  if (value_of("--precision", arguments.precision, config::precision))
    options.precision = arguments.precision;
  options.gpus = value_of("--gpus", arguments.gpus, config::integer(1, most_gpus));
  options.batch = value_of("--batch", arguments.batch, config::integer(1, 1'000'000));
  options.sequence = value_of("--sequence", arguments.sequence, config::integer(1, 1 << 24));
  options.blocks_of = [&context](const std::string& model) {
    try {
      return blocks_of(load_model(model, context.data)).count;
    } catch (const ConfigError&) {
      return 0;  // the error is reported when the scenario is read back
    }
  };
  return options;
}

/// Prints an imported scenario, or writes it and prints its name. Prints its notes to standard error.
void finish_scenario_import(const Draft& draft, const ImportArguments& arguments,
                            const CommandContext& context) {
  const auto text = draft_yaml(draft, "scenario");
  check_scenario_reads_back(text, draft.file, arguments.out, context.data);
  for (const auto& note : draft.notes) warn(context, to_text(note));
  print_or_write(text, arguments, context);
}

/// The file of settings in the folder of a model, or the file itself.
/// @throws ConfigError at the name of a model on the hub: nothing is downloaded
std::string config_in(const std::string& name) {
  const std::filesystem::path path{name};
  if (std::filesystem::is_directory(path)) return (path / "config.json").generic_string();
  const bool is_of_hub = std::ranges::count(name, '/') == 1 && !name.ends_with(".json");
  if (is_of_hub && !std::filesystem::exists(path))
    refuse_at(
        Where{name, 0, 0, 0, {}}, "no such file",
        fmt::format("download it: https://huggingface.co/{}/resolve/main/config.json", printable(name)));
  return name;
}

}  // namespace

void import_deepspeed(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const auto file = read_json_settings(read_text_file(arguments.files.front()));
  finish_scenario_import(draft_of_deepspeed(file, options), arguments, context);
}

void import_torchtitan(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const auto& name = arguments.files.front();
  const auto file = name.ends_with(".py")
                        ? torchtitan_of_registry(read_python_function(read_text_file(name), arguments.config))
                        : read_toml_settings(read_text_file(name));
  finish_scenario_import(draft_of_torchtitan(file, options), arguments, context);
}

void import_megatron(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const std::filesystem::path out{arguments.out};
  const auto name = arguments.out.empty() ? std::string{"megatron_model"} : out.stem().string() + "_model";
  const auto model_file = out.parent_path() / "models" / (name + ".yaml");
  const auto settings = read_argument_settings(read_text_file(arguments.files.front()));
  const auto draft = draft_of_megatron(settings, options, name);
  if (draft.model.keys.empty()) return finish_scenario_import(draft.scenario, arguments, context);
  if (!arguments.out.empty()) check_yaml(model_file, arguments.force, "models");
  const auto model = draft_yaml(draft.model, "model");
  const auto scenario = draft_yaml(draft.scenario, "scenario");
  check_scenario_reads_back(scenario, draft.scenario.file, arguments.out, context.data, model);
  for (const auto& note : draft.scenario.notes) warn(context, to_text(note));
  if (arguments.out.empty()) {
    context.results << "# models/" << name << ".yaml\n" << model << "---\n" << scenario;
    return;
  }
  write_with_model(out, scenario, model_file, model);
  for (const auto& file : {out, model_file})
    context.results << context.style.paint(report::Paint::bold, printable(file.generic_string())) << '\n';
}

void import_trainer(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  std::vector<SettingsFile> files;
  for (const auto& name : arguments.files) {
    const std::filesystem::path path{name};
    const bool is_yaml = path.extension() == ".yaml" || path.extension() == ".yml";
    files.push_back(is_yaml                       ? read_yaml_settings(read_text_file(name))
                    : path.extension() == ".json" ? read_json_settings(read_text_file(name))
                    : path.extension() == ".py"   ? read_python_variables(read_text_file(name))
                                                  : read_argument_settings(read_text_file(name)).file);
  }
  const auto read_json = [](const std::string& name, const std::string& beside) {
    std::error_code ignored;
    for (const auto& path : {std::filesystem::path{beside}.parent_path() / name, std::filesystem::path{name}})
      if (std::filesystem::is_regular_file(path, ignored))
        return std::optional{read_json_settings(read_text_file(path.generic_string()))};
    return std::optional<SettingsFile>{};
  };
  finish_scenario_import(draft_of_finetuning(files, options, read_json), arguments, context);
}

void import_hugging_face(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "models");
  const auto sequence = value_of("--sequence", arguments.sequence, config::integer(1, 1 << 24));
  const auto file = read_json_settings(read_text_file(config_in(arguments.files.front())));
  const auto draft = draft_of_hugging_face(file, sequence);
  const auto text = draft_yaml(draft, "model");
  check_reads_back(DataKind::model, text, draft.file);
  for (const auto& note : draft.notes) warn(context, to_text(note));
  print_or_write(text, arguments, context);
}

}  // namespace gradway::cli
