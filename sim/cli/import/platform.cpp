// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/import/platform.hpp"

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/import/topology/gpu_name.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {

namespace fs = std::filesystem;

void finish_platform_import(const WrittenPlatform& platform, const std::vector<OutputFile>& other_files,
                            const ImportArguments& arguments, const CommandContext& context) {
  check_reads_back(DataKind::platform, platform.yaml, arguments.files.front());
  for (const auto& warning : platform.warnings) warn(context, warning);
  if (arguments.out.empty()) {
    context.results << platform.yaml;
    return;
  }
  const fs::path out{arguments.out};
  std::vector<OutputFile> files{
      {out.filename().string(), [&](std::ostream& stream) { stream << platform.yaml; }}};
  files.insert(files.end(), other_files.begin(), other_files.end());
  write_files(out.has_parent_path() ? out.parent_path() : fs::path{"."}, files);
  context.results << context.style.paint(report::Paint::bold, printable(arguments.out)) << '\n';
  for (const auto& file : other_files) {
    const auto path = (out.parent_path() / file.name).generic_string();
    context.results << context.style.paint(report::Paint::bold, printable(path)) << '\n';
  }
}

void show_written(const std::string& file, const CommandContext& context) {
  context.results << '\n';
  Calibration calibration;
  const auto written = load_platform(file, 1, context.data, &calibration);
  report::write_platform(context.results, written, calibration, context.style);
}

DescribedGpu described_gpu(const std::string& device, const Where& where, std::string_view source,
                           const ImportArguments& arguments, const CommandContext& context) {
  const auto chosen = arguments.gpu.empty() ? std::nullopt : std::optional{arguments.gpu};
  const auto known = gpu_names(arguments.out, context.data);
  const auto name = gpu_name(device, chosen, known, where, source);
  const auto gpu = load_gpu(name, arguments.out, context.data);
  return {name, gpu.compute_capability,
          chosen ? std::string{"Given with --gpu."} : fmt::format("{} names '{}'.", source, device)};
}

}  // namespace gradway::cli
