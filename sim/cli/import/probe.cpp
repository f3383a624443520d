// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/commands.hpp"
#include "sim/cli/import/platform.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/describe/write_platform.hpp"
#include "sim/import/topology/gpu_name.hpp"
#include "sim/samples/read_samples.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void check_calibration(const std::string& name) {
  const bool is_name = std::ranges::all_of(name, [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || c == '.' || c == '_' || c == '-' || c == '+';
  });
  if (!is_name || name.starts_with('.') || name.find("..") != std::string::npos) {
    refuse(fmt::format("'--calibration {}' is not the name of a calibration", name),
           "write NAME of calibration/results/NAME/calibration.yaml");
  }
}

/// The file of a GPU to write with the platform. None if the GPU has a file.
std::optional<WrittenGpu> gpu_file(const Samples& samples, const std::string& name,
                                   const ImportArguments& arguments, const CommandContext& context) {
  if (is_among(list_names(DataKind::gpu, context.data), name)) return std::nullopt;
  std::error_code ignored;
  const auto gpu_path = fs::path{arguments.out}.parent_path() / "gpus" / (name + ".yaml");
  if (!arguments.out.empty() && fs::exists(gpu_path, ignored)) return std::nullopt;
  return gpu_yaml(samples);
}

}  // namespace

void import_probe(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "platforms");
  check_calibration(arguments.calibration);
  const auto& file = arguments.files.front();
  const auto samples = read_samples({read_sample_file(file)});
  const auto gpu = gpu_file_name(node_of(samples, file).gpus.front().name);
  const auto platform = platform_yaml(samples, {gpu, arguments.calibration});
  const auto own_gpu = gpu_file(samples, gpu, arguments, context);
  if (own_gpu) check_reads_back(DataKind::gpu, own_gpu->yaml, file);
  const bool is_calibrated = arguments.calibration.empty() ||
                             is_among(list_names(DataKind::calibration, context.data), arguments.calibration);
  std::vector<OutputFile> gpu_files;
  if (own_gpu)
    gpu_files.push_back({fmt::format("gpus/{}.yaml", gpu), [&](std::ostream& out) { out << own_gpu->yaml; }});
  finish_platform_import(platform, gpu_files, arguments, context);
  if (!is_calibrated) {
    warn(context, fmt::format("there is no calibration '{}' yet: make it with 'gradway calibrate fit'",
                              arguments.calibration));
  }
  if (arguments.out.empty()) {
    if (own_gpu)
      warn(context, fmt::format("no file of platforms/gpus describes '{}': give --out to write one", gpu));
    return;
  }
  if (own_gpu) {
    warn(context, fmt::format("a file for the GPU was written; complete these keys from its datasheet: {}",
                              fmt::join(own_gpu->to_complete, ", ")));
  }
  if (is_calibrated) show_written(arguments.out, context);
}

}  // namespace gradway::cli
