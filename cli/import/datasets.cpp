// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "cli/import/formats.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/read_back.hpp"
#include "readers/dataset/dataset.hpp"
#include "readers/loader/loader.hpp"
#include "sim/base/printable.hpp"
#include "sim/files/text_file.hpp"

namespace gradway::cli {

void import_dataset(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "datasets");
  const auto& name = arguments.files.front();
  const auto parquet = parquet_of(name);
  const auto text = parquet ? parquet_yaml(*parquet, name) : dataset_yaml(sample_sizes(name));
  check_reads_back(DataKind::dataset, text, name);
  print_or_write(text, arguments, context);
}

void import_loader(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "datasets");
  const auto log =
      read_text_file(arguments.files.front(), "", "docs/data-path.md has a script that prints runs");
  const auto runs = read_loader_log(log);
  if (std::ranges::none_of(runs, [](const LoaderRun& run) { return run.workers > 0; }))
    refuse_at(log.whole(), "there are no runs with workers", "add runs with 1, 2, 4 ... workers");
  const auto costs = fit_loader(runs);
  constexpr double poor = 0.15;
  if (costs.mean_error() > poor)
    warn(context,
         fmt::format(
             "{}: the mean error of the fit to these runs is {:.0f} %: check the rows before you use it",
             printable(log.name), 100 * costs.mean_error()));
  const auto text = loader_yaml(runs, costs, log.name);
  check_reads_back(DataKind::dataset, text, log.name);
  print_or_write(text, arguments, context);
}

}  // namespace gradway::cli
