// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/files.hpp"
#include "sim/cli/import_probe.hpp"
#include "sim/config/quantities.hpp"
#include "sim/config/read.hpp"
#include "sim/import/kineto.hpp"
#include "sim/report/show_profile.hpp"

namespace gradway::cli {
namespace {

struct Arguments {
  std::string format;
  std::vector<std::string> files;  // and a unit of --step-time that stands behind a blank
  std::string out;
  std::string step_time;
  std::string gpu;
  std::string precision;
  std::string batch;
  std::string calibration;
  bool force = false;
};

/// Reads the value of an option as a file's value would be read; messages name the option.
template <class Parse>
auto value_of(const std::string& option, const std::string& text, const Parse& parse)
    -> std::optional<std::invoke_result_t<const Parse&, const config::Node&>> {
  if (text.empty()) return std::nullopt;
  Where where;
  where.file = option;
  return parse(config::Node{.kind = config::Node::Kind::scalar, .text = text, .where = where});
}

/// `--step-time 39.3 ms` comes as three words, of which the last one looks like a file.
void join_unit(Arguments& arguments) {
  constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  const auto unit = std::ranges::find_first_of(arguments.files, units);
  const bool has_number = !arguments.step_time.empty() &&
                          arguments.step_time.find_first_not_of("0123456789.") == std::string::npos;
  if (!has_number || unit == arguments.files.end()) return;
  arguments.step_time += " " + *unit;
  arguments.files.erase(unit);
}

void check_out(const Arguments& arguments) {
  const auto ending = std::filesystem::path{arguments.out}.extension();
  if (ending != ".yaml" && ending != ".yml")
    refuse(fmt::format("'--out {}' does not end in .yaml", arguments.out), "models are YAML files");
  check_file(arguments.out, arguments.force);
}

void import_profile(const Arguments& arguments, const Surroundings& around) {
  if (!arguments.out.empty()) check_out(arguments);
  ImportOptions options;
  options.step_time = value_of("--step-time", arguments.step_time, config::duration);
  if (!arguments.gpu.empty()) options.gpu = arguments.gpu;
  options.precision = value_of("--precision", arguments.precision, config::precision);
  options.batch = value_of("--batch", arguments.batch, config::integer(1, 1'000'000));
  options.known_gpus = list_names(DataKind::gpu, around.data);
  const auto& file = arguments.files.front();
  const auto imported = import_kineto(file, file, options);
  const auto text = profile_yaml(imported.profile, imported.notes);
  for (const auto& warning : imported.warnings) around.messages << "warning: " << warning << '\n';
  if (arguments.out.empty()) {
    around.results << text;
    return;
  }
  write_file(arguments.out, arguments.force, [&](std::ostream& out) { out << text; });
  around.results << around.style.paint(report::Paint::bold, arguments.out) << "\n\n";
  report::write_profile(around.results, imported.profile, around.style);
}

void import_platform(const Arguments& arguments, const Surroundings& around) {
  import_probe({arguments.files.front(), arguments.out, arguments.calibration, arguments.force}, around);
}

/// An option that not all formats take.
struct OwnOption {
  std::string_view name;
  std::string Arguments::*value;
  std::string_view format;
};
constexpr std::array own_options{OwnOption{"--step-time", &Arguments::step_time, "kineto"},
                                 OwnOption{"--gpu", &Arguments::gpu, "kineto"},
                                 OwnOption{"--precision", &Arguments::precision, "kineto"},
                                 OwnOption{"--batch", &Arguments::batch, "kineto"},
                                 OwnOption{"--calibration", &Arguments::calibration, "probe"}};

/// What can be imported.
struct Format {
  std::string_view name;
  void (*import)(const Arguments&, const Surroundings&);
};
constexpr std::array formats{Format{"kineto", import_profile}, Format{"probe", import_platform}};

Status import(Arguments arguments, const Surroundings& around) {
  const auto format = std::ranges::find(formats, arguments.format, &Format::name);
  if (format == formats.end()) {
    std::vector<std::string> names;
    for (const auto& known : formats) names.emplace_back(known.name);
    refuse(fmt::format("cannot import '{}'", arguments.format), suggestion(arguments.format, names));
  }
  join_unit(arguments);
  if (arguments.files.empty()) refuse("'gradway import' needs FILE", "see 'gradway import --help'");
  if (arguments.files.size() > 1)
    refuse(fmt::format("'gradway import' has no use for '{}'", arguments.files[1]),
           "see 'gradway import --help'");
  for (const auto& option : own_options) {
    if (option.format == format->name || (arguments.*option.value).empty()) continue;
    refuse(fmt::format("'gradway import {}' has no use for '{}'", format->name, option.name),
           fmt::format("'gradway import {}' takes it", option.format));
  }
  format->import(arguments, around);
  return Status::done;
}

}  // namespace

Action add_import(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  app.add_option("FORMAT", arguments->format,
                 "kineto: a PyTorch profiler trace becomes a model; probe: samples of gradway-probe become a "
                 "platform")
      ->required();
  app.add_option("FILE", arguments->files,
                 "kineto: training steps on one GPU without DDP, with record_shapes=True; probe: the "
                 "samples; .json or "
                 ".json.gz")
      ->required()
      ->expected(1, 2);
  app.add_option("-o,--out", arguments->out, "the file to write; without it, what it would hold is printed")
      ->type_name("FILE");
  app.add_option("--step-time", arguments->step_time, "kineto: the step without the profiler, as in 39.3ms")
      ->type_name("TIME");
  app.add_option("--gpu", arguments->gpu, "kineto: a name of platforms/gpus, if the trace does not say it")
      ->type_name("NAME");
  app.add_option("--precision", arguments->precision,
                 "kineto: fp32, tf32, bf16 or fp16, if the trace misleads")
      ->type_name("NAME");
  app.add_option("--batch", arguments->batch, "kineto: samples of a step, if the trace misleads")
      ->type_name("N");
  app.add_option("--calibration", arguments->calibration,
                 "probe: that the platform shall use, NAME of calibration/results/NAME")
      ->type_name("NAME");
  app.add_flag("--force", arguments->force, "replace the file if it is there")->disable_flag_override();
  return [arguments](const Surroundings& around) { return import(*arguments, around); };
}

}  // namespace gradway::cli
