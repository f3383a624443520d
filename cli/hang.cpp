// SPDX-License-Identifier: Apache-2.0
#include "cli/hang.hpp"

#include <algorithm>
#include <ostream>

#include "cli/shell/common_options.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/out_folder.hpp"
#include "observe/hang/report.hpp"
#include "sim/config/config.hpp"

namespace gradway::cli {
namespace {

/// The hang on the platform, with a GPU for each rank.
std::optional<report::HangPrice> price_of(const HangArguments& arguments, const HangReport& report,
                                          const CommandContext& context) {
  if (arguments.platform.empty()) return std::nullopt;
  const auto node = load_platform(arguments.platform, 1, context.data);
  const auto per_node = static_cast<int>(node.gpus.size()) / std::max(1, node.nodes);
  const auto ranks = (std::max(1, report.world) + per_node - 1) / per_node * per_node;
  Calibration calibration;
  const auto platform = load_platform(arguments.platform, ranks, context.data, &calibration);
  return report::price_of_hang(report, platform, calibration, arguments.platform);
}

}  // namespace

Status diagnose_hang(const HangArguments& arguments, const CommandContext& context) {
  const auto most = percentage("--max-lost", arguments.max_lost);
  const auto report = judge_hang(read_hang_evidence(arguments.paths));
  const auto price = price_of(arguments, report, context);
  if (arguments.json) {
    report::write_hang_json(context.results, report, price);
  } else {
    report::write_hang(context.results, report, price, context.style);
  }
  if (!arguments.out.empty())
    write_named_files(
        arguments.out,
        {{"diagnosis.json", [&](std::ostream& out) { report::write_hang_json(out, report, price); }}},
        context);
  const bool is_lost = report.verdict == HangVerdict::hung || report.verdict == HangVerdict::failed;
  return status_of_loss(is_lost ? 1 : 0, most, context.messages);
}

}  // namespace gradway::cli
