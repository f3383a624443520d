// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/printable.hpp"
#include "sim/cli/calibrate/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/cli/shell/read_back.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/fit/fit.hpp"
#include "sim/fit/write_calibration.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {
void check_date(const std::string& date) {
  if (date.empty()) return;
  try {
    config::date(config::Node{.kind = config::Node::Kind::scalar, .text = date});
  } catch (const ConfigError& error) {
    refuse(fmt::format("'--date {}': {}", date, error.problems().front().what),
           error.problems().front().hint);
  }
}

CalibrationTitle title_of(const CalibrateArguments& arguments, const Samples& samples,
                          std::string_view made_by) {
  CalibrationTitle title{arguments.source, arguments.date};
  const auto* const node = samples.nodes.empty() ? nullptr : &samples.nodes.front();
  if (title.date.empty() && node != nullptr) title.date = node->date;
  if (title.source.empty()) {
    title.source = node != nullptr ? source_text(*node)
                                   : fmt::format("{} {}", made_by, fmt::join(samples.origin.files, ", "));
  }
  return title;
}

void write_made(const CalibrateArguments& arguments, Calibration calibration, const std::string& input,
                const CommandContext& context) {
  std::ostringstream text;
  write_calibration_file(text, calibration);
  check_reads_back(DataKind::calibration, text.str(), input);
  write_file(arguments.out, arguments.force, [&](std::ostream& out) { out << text.view(); });
  calibration.name = printable(arguments.out);
  report::write_calibration(context.results, calibration, context.style);
}

Status fit_samples(const CalibrateArguments& arguments, const CommandContext& context) {
  if (arguments.out.empty()) {
    refuse("'gradway calibrate fit' needs --out FILE",
           "give the calibration file to write (see 'gradway calibrate --help')");
  }
  check_date(arguments.date);
  check_file(arguments.out, arguments.force);
  const auto samples = read_samples_with_remarks(arguments.files, context);
  const auto title = title_of(arguments, samples, "gradway calibrate fit of");
  write_made(arguments, fit(samples, title, facts_of(arguments.platform, samples, context)),
             arguments.files.front(), context);
  return Status::done;
}

}  // namespace gradway::cli
