// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nccl_log/nccl_log.hpp"

#include <istream>
#include <map>
#include <ostream>

#include "sim/cli/commands.hpp"
#include "sim/cli/import/formats.hpp"
#include "sim/cli/import/nccl_log.hpp"
#include "sim/config/config.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/report/nccl_log/nccl_log.hpp"
#include "sim/study/nccl_log/check_nccl_log.hpp"

namespace gradway::cli {

NcclLog read_nccl_logs(const std::vector<std::string>& files) {
  NcclLogReader reader;
  for (const auto& file : files) {
    CompressedFile lines{file, file};
    std::istream stream{&lines};
    reader.read(stream);
    lines.check();
  }
  return reader.finish(files.front());
}

namespace {

/// The communicator with numbers for the names of its hosts: a job has many of the same shape.
NcclLogCommunicator shape_of(NcclLogCommunicator communicator) {
  std::map<std::string, std::string> names;
  for (auto& [rank, process] : communicator.seen)
    process.host = names.emplace(process.host, std::to_string(names.size())).first->second;
  return communicator;
}

}  // namespace

std::vector<CheckedCommunicator> check_communicators(const NcclLog& log, const std::string& platform,
                                                     const CommandContext& context) {
  const auto node = load_platform(platform, 1, context.data);
  const auto gpus_per_node = static_cast<int>(node.gpus.size()) / node.nodes;
  std::map<int, std::pair<Platform, Calibration>> of_nodes;  // by number of nodes
  std::map<NcclLogCommunicator, CheckedCommunicator> of_shape;
  std::vector<CheckedCommunicator> checked;
  for (const auto& communicator : log.communicators) {
    const auto [known, is_new] = of_shape.try_emplace(shape_of(communicator));
    if (is_new && communicator.ranks > 1) {
      const auto nodes = nodes_of(communicator, gpus_per_node, platform);
      const auto [built, is_first] = of_nodes.try_emplace(nodes);
      auto& [of_platform, calibration] = built->second;
      if (is_first) of_platform = load_platform(platform, nodes * gpus_per_node, context.data, &calibration);
      known->second = check_nccl_log(log, communicator, of_platform, calibration);
    }
    checked.push_back(known->second);
  }
  return checked;
}

void import_nccl_log(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty())
    refuse("'gradway import nccl-log' does not write a file", "use --json and redirect the output");
  const auto log = read_nccl_logs(arguments.files);
  const auto checked = arguments.platform.empty() ? std::vector<CheckedCommunicator>{}
                                                  : check_communicators(log, arguments.platform, context);
  if (arguments.json) {
    report::write_json(context.results, log, arguments.platform, checked);
  } else {
    report::write_nccl_log(context.results, log, arguments.platform, checked, context.style);
  }
}

}  // namespace gradway::cli
