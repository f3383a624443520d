// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <istream>
#include <ostream>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/import/formats.hpp"
#include "cli/import/nccl_log.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/read_back.hpp"
#include "observe/nccl_log/check_nccl_log.hpp"
#include "observe/nccl_log/report.hpp"
#include "readers/nccl_log/nccl_log.hpp"
#include "readers/nccl_tests/nccl_tests.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/cost/calibration_words.hpp"
#include "sim/cost/size_text.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/report/format/table.hpp"

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

namespace {

std::string one_of(const std::string& option, const std::string& text,
                   const std::vector<std::string>& known) {
  if (std::ranges::find(known, text) == known.end())
    refuse(fmt::format("'{} {}' is not known", option, text), suggestion(text, known));
  return text;
}

NcclTestOptions options_of(const ImportArguments& arguments) {
  constexpr int most_ranks = 1 << 20;
  NcclTestOptions options;
  if (!arguments.operation.empty()) {
    const auto operation = nccl_operation(arguments.operation);
    options.operation =
        one_of("--operation", operation.empty() ? arguments.operation : operation, nccl_operations());
  }
  if (!arguments.transport.empty())
    options.transport = one_of("--transport", arguments.transport, {"p2p", "shm", "net"});
  options.ranks = value_of("--ranks", arguments.ranks, config::integer(2, most_ranks));
  options.nodes = value_of("--nodes", arguments.nodes, config::integer(1, most_ranks));
  options.in_place = arguments.in_place;
  return options;
}

bool is_modelled(const std::string& operation) {
  return std::ranges::find(calibration_words::operations, operation) != calibration_words::operations.end();
}

void write_runs(const std::vector<NcclTestSamples>& runs, const CommandContext& context) {
  using enum report::Table::Align;
  report::Table table{{{"operation", left},
                       {"ranks", right},
                       {"nodes", right},
                       {"transport", left},
                       {"rows", right},
                       {"from", right},
                       {"to", right}}};
  for (const auto& run : runs) {
    const auto [least, most] = std::ranges::minmax(run.rows, {}, &NcclTestSample::size);
    table.add({run.operation, fmt::format("{}", run.ranks), fmt::format("{}", run.nodes), run.tag,
               fmt::format("{}", run.rows.size()), size_text(least.size), size_text(most.size)});
  }
  table.write(context.results, context.style);
}

}  // namespace

void import_nccl_tests(const ImportArguments& arguments, const CommandContext& context) {
  if (!arguments.out.empty()) {
    if (std::filesystem::path{arguments.out}.extension() != ".json")
      refuse(fmt::format("'--out {}' does not end in .json", arguments.out), "samples are JSON files");
    check_file(arguments.out, arguments.force);
  }
  const auto options = options_of(arguments);
  std::vector<NcclTestSamples> runs;
  for (const auto& name : arguments.files) {
    const auto file = read_text_file(name);
    auto imported =
        is_inspector_file(file) ? import_inspector(file, options) : import_nccl_test_log(file, options);
    for (const auto& warning : imported.warnings) warn(context, warning);
    std::ranges::move(imported.runs, std::back_inserter(runs));
  }
  for (const auto& run : runs) {
    if (is_modelled(run.operation)) continue;
    warn(context, fmt::format("gradway does not model {}: its {} rows are kept, but not used", run.operation,
                              run.rows.size()));
  }
  const auto text = samples_json(runs);
  check_samples_read_back(text, arguments.files.front());
  if (!print_or_write(text, arguments, context)) return;
  context.results << '\n';
  write_runs(runs, context);
}

}  // namespace gradway::cli
