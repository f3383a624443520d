// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/cli/import/formats.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

namespace {

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

void import_hugging_face(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "models");
  const auto sequence = value_of("--sequence", arguments.sequence, config::integer(1, 1 << 24));
  const auto file = read_json_settings(read_text_file(config_in(arguments.files.front())));
  const auto draft = draft_of_hugging_face(file, sequence);
  const auto text = model_yaml(draft);
  check_reads_back(DataKind::model, text, draft.file);
  for (const auto& note : draft.notes) warn(context, to_text(note));
  print_or_write(text, arguments, context);
}

}  // namespace gradway::cli
