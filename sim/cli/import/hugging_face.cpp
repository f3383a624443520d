// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "sim/base/printable.hpp"
#include "sim/cli/import/formats.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

void import_hugging_face(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "models");
  const auto sequence = value_of("--sequence", arguments.sequence, config::integer(1, 1 << 24));
  const auto file = read_json_settings(read_text_file(arguments.files.front()));
  const auto draft = draft_of_hugging_face(file, sequence);
  const auto text = model_yaml(draft);
  check_reads_back(DataKind::model, text, draft.file);
  for (const auto& note : draft.notes) warn(context, to_text(note));
  print_or_write(text, arguments, context);
}

}  // namespace gradway::cli
