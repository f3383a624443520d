// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/files.hpp"
#include "sim/cli/node_facts.hpp"
#include "sim/config/scalars.hpp"
#include "sim/fit/fit.hpp"
#include "sim/fit/read_samples.hpp"
#include "sim/fit/write_calibration.hpp"
#include "sim/report/show_calibration.hpp"
#include "sim/report/text.hpp"

namespace gradway::cli {
namespace {

struct Arguments {
  std::string action;
  std::vector<std::string> samples;
  std::string out;
  std::string source;
  std::string date;
  std::string platform;
  bool force = false;
};

SampleFile read_file(const std::string& name) {
  std::error_code error;
  std::ifstream stream{name, std::ios::binary};
  if (!stream || std::filesystem::is_directory(name, error))
    refuse(fmt::format("'{}' cannot be read", name), "give files of samples: JSON lists of rows");
  return {name, {std::istreambuf_iterator<char>{stream}, {}}};
}

void check_date(const std::string& date) {
  if (date.empty()) return;
  try {
    config::date(config::Node{.kind = config::Node::Kind::scalar, .text = date});
  } catch (const ConfigError& error) {
    refuse(fmt::format("'--date {}': {}", date, error.problems().front().what),
           error.problems().front().hint);
  }
}

void say_unused(const Samples& samples, std::ostream& messages) {
  std::vector<std::string> rows;
  for (const auto& [what, count] : samples.unused)
    rows.push_back(fmt::format("{} ({})", what, report::counted_text(count, "row")));
  if (!rows.empty()) messages << fmt::format("understood, but of no use yet: {}\n", fmt::join(rows, ", "));
}

/// What the platform tells of the node; nothing without one.
NodeFacts facts_of(const std::string& platform, const Samples& samples, const DataPath& data) {
  if (platform.empty()) return {};
  constexpr int gpus_of_made_up_platforms = 8;
  return node_facts(load_platform(platform, gpus_of_made_up_platforms, data), samples);
}

Status fit_samples(const Arguments& arguments, const Surroundings& around) {
  check_date(arguments.date);
  check_file(arguments.out, arguments.force);
  std::vector<SampleFile> files;
  for (const auto& name : arguments.samples) files.push_back(read_file(name));
  const auto samples = read_samples(files);
  const auto source = arguments.source.empty()
                          ? fmt::format("gradway calibrate fit of {}", fmt::join(samples.origin.files, ", "))
                          : arguments.source;
  auto calibration =
      fit(samples, {source, arguments.date}, facts_of(arguments.platform, samples, around.data));
  write_file(arguments.out, arguments.force,
             [&](std::ostream& out) { write_calibration_file(out, calibration); });
  say_unused(samples, around.messages);
  calibration.name = arguments.out;
  report::write_calibration(around.results, calibration, around.style);
  return Status::done;
}

}  // namespace

Action add_calibrate(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  app.add_option("ACTION", arguments->action, "fit: make a calibration from samples")->required();
  app.add_option("SAMPLES", arguments->samples, "files of samples: JSON lists of rows")->required();
  app.add_option("-o,--out", arguments->out, "the calibration to write")->required()->type_name("FILE");
  app.add_option("--date", arguments->date, "the day of the measurement, for the file")
      ->type_name("YYYY-MM-DD");
  app.add_option("--source", arguments->source, "where the samples come from, for the file")
      ->type_name("TEXT");
  app.add_option("--platform", arguments->platform,
                 "where they were measured: tells what NCCL's channels take of the GPU")
      ->type_name("NAME");
  app.add_flag("--force", arguments->force, "replace the file if it is there already")
      ->disable_flag_override();
  return [arguments](const Surroundings& around) {
    if (arguments->action != "fit")
      refuse(fmt::format("'gradway calibrate' has no action '{}'", arguments->action),
             suggestion(arguments->action, {"fit"}));
    return fit_samples(*arguments, around);
  };
}

}  // namespace gradway::cli
