// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/import/formats.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/read_back.hpp"
#include "readers/describe/drafted_platform.hpp"
#include "readers/describe/write_platform.hpp"
#include "readers/samples/read_samples.hpp"
#include "readers/topology/gpu_name.hpp"
#include "readers/topology/nccl_xml.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/files/text_file.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {
namespace {

/// Prints an imported platform, or writes it with other files, all or none, and prints their names. Prints
/// warnings to standard error.
/// @param other_files paths are relative to the folder of the platform
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

/// Prints a written platform like `gradway show platform`.
void show_written(const std::string& file, const CommandContext& context) {
  context.results << '\n';
  Calibration calibration;
  const auto written = load_platform(file, 1, context.data, &calibration);
  report::write_platform(context.results, written, calibration, context.style);
}

/// The GPU of a node without measurements: that of `--gpu`, else the one that a text names.
/// @param device the driver's name of the GPU; empty if the text does not have it
/// @param where place of the name @param source of the name, for messages: "the text"
/// @throws ConfigError if there is no file for this GPU
DescribedGpu described_gpu(const std::string& device, const Where& where, std::string_view source,
                           const ImportArguments& arguments, const CommandContext& context) {
  const auto chosen = arguments.gpu.empty() ? std::nullopt : std::optional{arguments.gpu};
  const auto known = gpu_names(arguments.out, context.data);
  const auto name = gpu_name(device, chosen, known, where, source);
  const auto gpu = load_gpu(name, arguments.out, context.data);
  return {name, gpu.compute_capability,
          chosen ? std::string{"Given with --gpu."} : fmt::format("{} names '{}'.", source, device)};
}

/// Reports that the file has a compute capability, but no GPU, and names the GPUs with that capability.
[[noreturn]] void refuse_capability(int capability, const Where& where, const ImportArguments& arguments,
                                    const CommandContext& context) {
  std::vector<std::string> likely;
  for (const auto& name : gpu_names(arguments.out, context.data)) {
    if (load_gpu(name, arguments.out, context.data).compute_capability == capability) likely.push_back(name);
  }
  refuse_at(where,
            fmt::format("the file contains the compute capability of the GPUs, {}.{}, but not their name",
                        capability / 10, capability % 10),
            likely.empty() ? std::string{"write a file in platforms/gpus, and name it with --gpu"}
                           : fmt::format("give --gpu with one of: {}", fmt::join(likely, ", ")));
}

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

namespace fs = std::filesystem;

void import_topo(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "platforms");
  constexpr std::string_view underlines = "\x1b";  // in the header of nvidia-smi; they are removed
  const auto text = read_text_file(arguments.files.front(), underlines);
  const auto matrix = read_topology_matrix(text.content, text.name);
  const auto list = find_gpu_list(text);
  if (list.gpus > 0 && static_cast<std::size_t>(list.gpus) != matrix.gpus) {
    refuse_at(list.first, fmt::format("the list has {} GPUs, but the matrix {}", list.gpus, matrix.gpus),
              "give the output of `nvidia-smi -L` and `nvidia-smi topo -m` on the same node");
  }
  if (list.has_instances)
    warn(context, "the list has MIG instances, which gradway does not simulate: whole GPUs are described");
  const auto place = list.gpus > 0 ? list.first : text.whole();
  const auto gpu = described_gpu(list.device, place, "the text", arguments, context);
  finish_platform_import(matrix_platform(matrix, gpu), {}, arguments, context);
  if (!arguments.out.empty()) show_written(arguments.out, context);
}

void import_nccl_topo(const ImportArguments& arguments, const CommandContext& context) {
  constexpr int most_gpus = 1024;
  if (!arguments.out.empty()) check_yaml(arguments.out, arguments.force, "platforms");
  const auto gpus = value_of("--gpus", arguments.gpus, config::integer(1, most_gpus));
  const auto xml = read_nccl_xml(read_text_file(arguments.files.front()));
  if (const auto* graphs = std::get_if<std::vector<NcclGraph>>(&xml.content)) {
    if (!arguments.out.empty()) {
      refuse_at(xml.where, "the file contains graphs, which do not describe a platform",
                "import NCCL_TOPO_DUMP_FILE, or leave out --out to print the graphs");
    }
    report::write_graphs(context.results, *graphs, context.style);
    return;
  }
  const auto& topology = std::get<NcclTopology>(xml.content);
  auto node = node_layout(topology, gpus);
  const auto device = gpu_of(topology);
  if (const auto capability = capability_of(topology); device.empty() && capability && arguments.gpu.empty())
    refuse_capability(*capability, topology.where, arguments, context);
  const auto gpu = described_gpu(device, topology.where, "the file", arguments, context);
  finish_platform_import(nccl_platform(topology, std::move(node), gpu), {}, arguments, context);
  if (!arguments.out.empty()) show_written(arguments.out, context);
}

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
