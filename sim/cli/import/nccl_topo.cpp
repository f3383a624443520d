// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/import/platform.hpp"
#include "sim/cli/shell/option_value.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/describe/nccl_platform.hpp"
#include "sim/import/topology/nccl_xml.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {

namespace {

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

}  // namespace

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

}  // namespace gradway::cli
