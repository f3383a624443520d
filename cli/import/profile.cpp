// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "cli/import/formats.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/read_back.hpp"
#include "readers/chakra/chakra.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/nsys/nsys.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/read/read.hpp"
#include "sim/config/yaml/goal_quantities.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {

namespace {

using Importer = ImportedProfile (*)(const std::filesystem::path&, const std::string&, const ImportOptions&);

void import_profile(const ImportArguments& arguments, const CommandContext& context, Importer importer) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "models");
  ImportOptions options;
  options.step_time = value_of("--step-time", arguments.step_time, config::duration);
  if (!arguments.gpu.empty()) options.gpu = arguments.gpu;
  options.precision = value_of("--precision", arguments.precision, config::precision_of_profile);
  options.batch = value_of("--batch", arguments.batch, config::integer(1, 1'000'000));
  options.parameters = value_of("--parameters", arguments.parameters, config::tokens);
  options.known_gpus = list_names(DataKind::gpu, context.data);
  const auto& file = arguments.files.front();
  auto imported = importer(file, file, options);
  if (const auto sequence = value_of("--sequence", arguments.sequence, config::integer(1, 1 << 24)))
    imported.notes.sequence = *sequence;
  const auto text = profile_yaml(imported.profile, imported.notes);
  check_reads_back(DataKind::model, text, file);
  for (const auto& warning : imported.warnings) warn(context, warning);
  if (!print_or_write(text, arguments, context)) return;
  context.results << '\n';
  report::write_profile(context.results, imported.profile, context.style);
}

}  // namespace

void import_kineto_trace(const ImportArguments& arguments, const CommandContext& context) {
  import_profile(arguments, context, import_kineto);
}

void import_chakra_trace(const ImportArguments& arguments, const CommandContext& context) {
  import_profile(arguments, context,
                 [](const auto& file, const std::string& shown, const ImportOptions& options) {
                   return import_chakra(read_chakra(file, shown), shown, options);
                 });
}

void import_nsys_export(const ImportArguments& arguments, const CommandContext& context) {
  import_profile(arguments, context, import_nsys);
}

}  // namespace gradway::cli
