// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/import/formats.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

namespace {

/// The config.json of a folder of weights; other files as they are.
/// @throws ConfigError for the name of a model at Hugging Face
std::string config_of(const std::string& given) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(given, ignored)) return (fs::path{given} / "config.json").string();
  const bool is_name =
      std::ranges::count(given, '/') == 1 && given.front() != '/' && !given.ends_with(".json");
  if (is_name && !fs::exists(given, ignored))
    refuse(fmt::format("there is no file '{}'", printable(given)),
           fmt::format(
               "gradway downloads nothing: save https://huggingface.co/{}/raw/main/config.json, and give "
               "that file",
               printable(given)));
  return given;
}

}  // namespace

void import_hugging_face(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "models");
  const auto sequence = value_of("--sequence", arguments.sequence, config::integer(1, 1 << 24));
  const auto file = read_json_settings(read_text_file(config_of(arguments.files.front())));
  const auto draft = draft_of_hugging_face(file, sequence);
  const auto text = model_yaml(draft);
  check_reads_back(DataKind::model, text, draft.file);
  for (const auto& note : draft.notes) warn(context, to_text(note));
  print_or_write(text, arguments, context);
}

}  // namespace gradway::cli
