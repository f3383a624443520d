// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/base/refuse.hpp"
#include "sim/cli/import/platform.hpp"
#include "sim/import/topology/gpu_name.hpp"

namespace gradway::cli {

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

}  // namespace gradway::cli
