// SPDX-License-Identifier: Apache-2.0
#include "sim/import/dataset/dataset.hpp"
#include "sim/cli/import/formats.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/read_back.hpp"

namespace gradway::cli {

void import_dataset(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "datasets");
  const auto& name = arguments.files.front();
  const auto parquet = parquet_of(name);
  const auto text = parquet ? parquet_yaml(*parquet, name) : dataset_yaml(sample_sizes(name));
  check_reads_back(DataKind::dataset, text, name);
  print_or_write(text, arguments, context);
}

}  // namespace gradway::cli
