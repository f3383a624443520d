// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/import/scenario.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

void import_torchtitan(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const auto file = read_toml_settings(read_text_file(arguments.files.front()));
  put_scenario(draft_of_torchtitan(file, options), arguments, context);
}

}  // namespace gradway::cli
