// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/import/scenario.hpp"

#include <ostream>

#include "sim/base/printable.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/import/training/scenario_draft.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway::cli {

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

void finish_scenario_import(const ScenarioDraft& draft, const ImportArguments& arguments,
                            const CommandContext& context) {
  const auto text = scenario_yaml(draft);
  check_scenario_reads_back(text, draft.file, arguments.out, context.data);
  for (const auto& note : draft.notes) warn(context, to_text(note));
  print_or_write(text, arguments, context);
}

void import_deepspeed(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const auto file = read_json_settings(read_text_file(arguments.files.front()));
  finish_scenario_import(draft_of_deepspeed(file, options), arguments, context);
}

void import_torchtitan(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const auto file = read_toml_settings(read_text_file(arguments.files.front()));
  finish_scenario_import(draft_of_torchtitan(file, options), arguments, context);
}

}  // namespace gradway::cli
