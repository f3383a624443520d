// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "sim/cli/calibrate/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/report/run/calibration_check.hpp"

namespace gradway::cli {

Status check_samples(const CalibrateArguments& arguments, const CommandContext& context) {
  constexpr std::size_t rows_on_a_screen = 30;
  if (arguments.files.size() < 2) {
    refuse("'gradway calibrate check' needs a calibration and files of samples",
           "such as 'gradway calibrate check h200-4x samples.json'");
  }
  const auto calibration = load_calibration(arguments.files.front(), context.data);
  const auto samples =
      read_samples_with_remarks({arguments.files.begin() + 1, arguments.files.end()}, context);
  const auto rows = predict_samples(calibration, samples, facts_of(arguments.platform, samples, context));
  if (arguments.json) {
    report::write_check_json(context.results, rows);
  } else {
    report::write_check(context.results, rows,
                        arguments.all ? std::numeric_limits<std::size_t>::max() : rows_on_a_screen,
                        context.style);
  }
  return Status::done;
}

}  // namespace gradway::cli
