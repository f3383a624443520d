// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "sim/base/printable.hpp"
#include "sim/cli/import/scenario.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/import/training/scenario_draft.hpp"

namespace gradway::cli {

void import_megatron(const ImportArguments& arguments, const CommandContext& context) {
  const auto options = draft_options(arguments, context);
  const std::filesystem::path out{arguments.out};
  const auto name = arguments.out.empty() ? std::string{"megatron_model"} : out.stem().string() + "_model";
  const auto model_file = out.parent_path() / "models" / (name + ".yaml");
  const auto settings = read_argument_settings(read_text_file(arguments.files.front()));
  const auto draft = draft_of_megatron(settings, options, name);
  if (draft.model.keys.empty()) return finish_scenario_import(draft.scenario, arguments, context);
  if (!arguments.out.empty()) check_yaml(model_file, arguments.force, "models");
  const auto model = model_yaml(draft.model);
  const auto scenario = scenario_yaml(draft.scenario);
  check_scenario_reads_back(scenario, draft.scenario.file, arguments.out, context.data, model);
  for (const auto& note : draft.scenario.notes) warn(context, to_text(note));
  if (arguments.out.empty()) {
    context.results << "# models/" << name << ".yaml\n" << model << "---\n" << scenario;
    return;
  }
  const auto put = [](const std::string& text) { return [&text](std::ostream& stream) { stream << text; }; };
  write_files(out.has_parent_path() ? out.parent_path() : std::filesystem::path{"."},
              {{"models/" + name + ".yaml", put(model)}, {out.filename().string(), put(scenario)}});
  for (const auto& file : {out, model_file})
    context.results << context.style.paint(report::Paint::bold, printable(file.generic_string())) << '\n';
}

}  // namespace gradway::cli
