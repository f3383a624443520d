// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/cli/calibrate/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/shell/files.hpp"
#include "sim/fit/adapt.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::cli {

Status adapt_calibration(const CalibrateArguments& arguments, const CommandContext& context) {
  if (arguments.files.size() < 2) {
    refuse("'gradway calibrate adapt' needs a calibration and files of samples",
           "such as 'gradway calibrate adapt h200-4x samples.json -o mine.yaml'");
  }
  if (arguments.out.empty()) {
    refuse("'gradway calibrate adapt' needs --out FILE",
           "give the calibration file to write (see 'gradway calibrate --help')");
  }
  check_date(arguments.date);
  check_file(arguments.out, arguments.force);
  const auto calibration = load_calibration(arguments.files.front(), context.data);
  const auto samples =
      read_samples_with_remarks({arguments.files.begin() + 1, arguments.files.end()}, context);
  auto title = title_of(arguments, samples, "rows of");
  if (arguments.source.empty())
    title.source = fmt::format("{}, adapted to: {}", calibration.source, title.source);
  auto adapted = adapt(calibration, samples, title);
  if (adapted.left_out > 0) {
    context.messages << fmt::format("left out: {} without a table or link in calibration {}\n",
                                    report::counted_text(adapted.left_out, "row"), calibration.name);
  }
  write_made(arguments, std::move(adapted.calibration), arguments.files[1], context);
  return Status::done;
}

}  // namespace gradway::cli
