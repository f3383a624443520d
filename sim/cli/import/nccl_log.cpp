// SPDX-License-Identifier: Apache-2.0
#include "sim/import/nccl_log/nccl_log.hpp"

#include <istream>
#include <ostream>

#include "sim/cli/commands.hpp"
#include "sim/cli/import/formats.hpp"
#include "sim/cli/import/nccl_log.hpp"
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

void import_nccl_log(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty())
    refuse("'gradway import nccl-log' does not write a file", "use --json and redirect the output");
  const auto log = read_nccl_logs(arguments.files);
  const auto checked = arguments.platform.empty() ? std::vector<CheckedCommunicator>{}
                                                  : check_nccl_log(log, arguments.platform, context.data);
  if (arguments.json) {
    report::write_json(context.results, log, arguments.platform, checked);
  } else {
    report::write_nccl_log(context.results, log, arguments.platform, checked, context.style);
  }
}

}  // namespace gradway::cli
