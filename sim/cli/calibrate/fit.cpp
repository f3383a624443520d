// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <sstream>
#include <system_error>

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

namespace {
namespace fs = std::filesystem;

/// Whether the platform names the calibration that this file has.
bool uses(const std::string& platform, const std::string& calibration, const DataPath& data) {
  try {
    Calibration measured;
    load_platform(platform, 1, data, &measured);
    return measured.name == calibration;
  } catch (const ConfigError&) {
    return false;
  }
}

/// Says how the platform gets the calibration that was written, unless it has it.
void write_how_to_attach(const CalibrateArguments& arguments, const CommandContext& context) {
  const auto& data = context.data;
  const fs::path out{arguments.out};
  const bool is_in_own_folder = out.filename() == "calibration.yaml" && out.has_parent_path();
  const auto name = (is_in_own_folder ? out.parent_path().filename() : out.stem()).string();
  if (uses(arguments.platform, name, data)) return;
  std::error_code ignored;
  const bool is_path = fs::exists(arguments.platform, ignored);
  const auto file =
      is_path ? fs::path{arguments.platform} : find_name(DataKind::platform, arguments.platform, data);
  const bool is_shipped = fs::equivalent(file.parent_path(), data.roots.back() / "platforms", ignored);
  context.messages << fmt::format(
      "to use it, write 'calibration: {}' into {}\n", printable(name),
      is_shipped ? fmt::format("a platform of yours with 'based_on: {}'", printable(arguments.platform))
                 : printable(file.string()));
  if (!is_in_own_folder)
    context.messages << fmt::format(
        "it is found by this name beside the scenario, in the working folder, and as "
        "calibration/results/{}/calibration.yaml there\n",
        printable(name));
}

}  // namespace

void write_made(const CalibrateArguments& arguments, Calibration calibration, const std::string& input,
                const CommandContext& context) {
  std::ostringstream text;
  write_calibration_file(text, calibration);
  check_reads_back(DataKind::calibration, text.str(), input);
  write_file(arguments.out, arguments.force, [&](std::ostream& out) { out << text.view(); });
  calibration.name = printable(arguments.out);
  report::write_calibration(context.results, calibration, context.style);
  if (!arguments.platform.empty()) write_how_to_attach(arguments, context);
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
