// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/import_probe.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/commands.hpp"
#include "sim/cli/files.hpp"
#include "sim/describe/write_gpu.hpp"
#include "sim/describe/write_platform.hpp"
#include "sim/import/gpu_name.hpp"
#include "sim/report/show_platform.hpp"
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
    refuse(fmt::format("'--calibration {}' is not a name of a calibration", name),
           "write NAME of calibration/results/NAME/calibration.yaml");
  }
}

void check_out(const ProbeImport& asked) {
  const auto ending = fs::path{asked.out}.extension();
  if (ending != ".yaml" && ending != ".yml")
    refuse(fmt::format("'--out {}' does not end in .yaml", asked.out), "platforms are YAML files");
  check_file(asked.out, asked.force);
}

/// The file that a GPU needs beside the platform; nothing if there is one.
std::optional<WrittenGpu> gpu_file(const Samples& samples, const std::string& name, const ProbeImport& asked,
                                   const Surroundings& around) {
  if (is_among(list_names(DataKind::gpu, around.data), name)) return std::nullopt;
  std::error_code ignored;
  const auto beside = fs::path{asked.out}.parent_path() / "gpus" / (name + ".yaml");
  if (!asked.out.empty() && fs::exists(beside, ignored)) return std::nullopt;
  return gpu_yaml(samples);
}

void warn(const std::vector<std::string>& warnings, const Surroundings& around) {
  for (const auto& warning : warnings) around.messages << "warning: " << warning << '\n';
}

}  // namespace

void import_probe(const ProbeImport& asked, const Surroundings& around) {
  if (!asked.out.empty()) check_out(asked);
  check_calibration(asked.calibration);
  const auto samples = read_samples({read_sample_file(asked.samples)});
  const auto gpu = gpu_file_name(node_of(samples, asked.samples).gpus.front().name);
  const auto platform = platform_yaml(samples, {gpu, asked.calibration});
  const auto own_gpu = gpu_file(samples, gpu, asked, around);
  const bool is_calibrated = asked.calibration.empty() ||
                             is_among(list_names(DataKind::calibration, around.data), asked.calibration);
  warn(platform.warnings, around);
  if (!is_calibrated) {
    around.messages << fmt::format(
        "warning: there is no calibration '{}' yet: 'gradway calibrate fit' makes it\n", asked.calibration);
  }
  if (asked.out.empty()) {
    if (own_gpu)
      around.messages << fmt::format(
          "warning: no file of platforms/gpus describes '{}': with --out, one is written\n", gpu);
    around.results << platform.yaml;
    return;
  }
  const fs::path out{asked.out};
  std::vector<OutputFile> files{
      {out.filename().string(), [&](std::ostream& stream) { stream << platform.yaml; }}};
  if (own_gpu)
    files.push_back(
        {fmt::format("gpus/{}.yaml", gpu), [&](std::ostream& stream) { stream << own_gpu->yaml; }});
  write_files(out.has_parent_path() ? out.parent_path() : fs::path{"."}, files);
  around.results << around.style.paint(report::Paint::bold, asked.out) << '\n';
  if (own_gpu) {
    const auto file = out.parent_path() / "gpus" / (gpu + ".yaml");
    around.results << around.style.paint(report::Paint::bold, file.generic_string()) << '\n';
    around.messages << fmt::format(
        "warning: no file described the GPU; of the new one complete from the datasheet: {}\n",
        fmt::join(own_gpu->to_complete, ", "));
  }
  if (!is_calibrated) return;
  around.results << '\n';
  Calibration calibration;
  const auto written = load_platform(asked.out, 1, around.data, &calibration);
  report::write_platform(around.results, written, calibration, around.style);
}

}  // namespace gradway::cli
