// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/import/scenario.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

void import_deepspeed(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const auto file = read_json_settings(read_text_file(arguments.files.front()));
  put_scenario(draft_of_deepspeed(file, options), arguments, context);
}

}  // namespace gradway::cli
