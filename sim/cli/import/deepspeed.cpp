// SPDX-License-Identifier: Apache-2.0
#include "sim/import/training/deepspeed.hpp"
#include "sim/cli/import/scenario.hpp"

namespace gradway::cli {

void import_deepspeed(const ImportArguments& arguments, const Surroundings& around) {
  const auto options = draft_options(arguments, around);
  const auto file = read_json_settings(read_text_file(arguments.files.front()));
  put_scenario(draft_of_deepspeed(file, options), arguments, around);
}

}  // namespace gradway::cli
