// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/shell/argument_words.hpp"
#include "cli/shell/command_context.hpp"
#include "cli/shell/common_options.hpp"
#include "cli/shell/failure.hpp"
#include "cli/shell/files.hpp"
#include "cli/shell/read_back.hpp"
#include "observe/acceptance/acceptance.hpp"
#include "observe/calibration/calibration_check.hpp"
#include "readers/fit/adapt.hpp"
#include "readers/fit/fit.hpp"
#include "readers/fit/node_facts.hpp"
#include "readers/fit/write_calibration.hpp"
#include "readers/samples/read_samples.hpp"
#include "sim/base/nearest.hpp"
#include "sim/base/printable.hpp"
#include "sim/config/yaml/scalars.hpp"
#include "sim/files/text_file.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/show/show.hpp"

namespace gradway::cli {
namespace {

/// Arguments of 'gradway calibrate'; empty if not given.
struct CalibrateArguments {
  std::string action;
  std::vector<std::string> files;
  std::string out;
  std::string source;
  std::string date;
  std::string platform;
  std::string thresholds;
  bool force = false;
  bool all = false;
  bool json = false;
  bool markdown = false;
};

constexpr std::size_t longest_remark = 200;

constexpr std::size_t most_remarks = 20;

void write_remarks(const Samples& samples, std::ostream& messages) {
  const auto shown = std::min(most_remarks, samples.remarks.size());
  for (std::size_t i = 0; i < shown; ++i)
    messages << "remark of the probe: " << report::shorten(samples.remarks[i], longest_remark) << '\n';
  if (shown < samples.remarks.size())
    messages << fmt::format("the probe has {} more remarks\n", samples.remarks.size() - shown);
  if (samples.noisy > 0) {
    messages << fmt::format("{} with repetitions that did not converge\n",
                            report::counted_text(samples.noisy, "row"));
  }
}

void write_unused_rows(const Samples& samples, std::ostream& messages) {
  std::vector<std::string> rows;
  for (const auto& [name, count] : samples.unused)
    rows.push_back(fmt::format("{} ({})", name, report::counted_text(count, "row")));
  if (!rows.empty()) messages << fmt::format("not used by gradway: {}\n", fmt::join(rows, ", "));
}

/// @throws ConfigError if the value of '--date' is not a date
void check_date(const std::string& date) {
  if (date.empty()) return;
  try {
    config::date(config::Node{.kind = config::Node::Kind::scalar, .text = date});
  } catch (const ConfigError& error) {
    refuse(fmt::format("'--date {}': {}", date, error.problems().front().what),
           error.problems().front().hint);
  }
}

/// Source and date of the samples: those of the options, else those that the samples contain.
/// @param made_by begins the source if neither has one, before the names of the files
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

/// Writes a calibration to the file of --out and prints it.
/// @param input that it was made from, for messages
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

// The actions, each in the file of its name.
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

/// Judges a node by its kind.
Status accept_node(const CalibrateArguments& arguments, const CommandContext& context) {
  if (arguments.platform.empty())
    refuse("'gradway calibrate accept' needs --platform NAME",
           "name the kind of node that was ordered: gradway list platforms");
  if (arguments.json && arguments.markdown)
    refuse("'--json' and '--markdown' are both given", "give one of them");
  DiagnosisBasis basis;
  basis.platform_name = arguments.platform;
  basis.platform = load_platform(arguments.platform, 1, context.data, &basis.calibration);
  const auto samples = read_samples_with_remarks(arguments.files, context);
  const auto per_node = static_cast<int>(basis.platform.gpus.size()) / std::max(1, basis.platform.nodes);
  basis.platform = load_platform(arguments.platform, per_node, context.data, &basis.calibration);
  for (const auto& node : samples.nodes) basis.nccl.nvls = basis.nccl.nvls && !node.nvls_was_off;
  const auto own = arguments.thresholds.empty() ? "" : read_text_file(arguments.thresholds).content;
  const auto acceptance = accept(samples, basis, acceptance_table(own, arguments.thresholds));
  if (arguments.json) {
    report::write_acceptance_json(context.results, acceptance);
  } else if (arguments.markdown) {
    report::write_acceptance_markdown(context.results, acceptance);
  } else {
    report::write_acceptance(context.results, acceptance, context.style);
  }
  return acceptance.passes() ? Status::done : Status::limit_passed;
}

/// An action and the options that not all actions have.
struct CalibrateAction {
  std::string_view name;
  Status (*run)(const CalibrateArguments&, const CommandContext&);
  std::array<const char*, 4> options;  ///< null: unused
};

constexpr std::array actions{
    CalibrateAction{"fit", fit_samples, {"--out", "--date", "--source", "--force"}},
    CalibrateAction{"adapt", adapt_calibration, {"--out", "--date", "--source", "--force"}},
    CalibrateAction{"check", check_samples, {"--all", "--json", nullptr, nullptr}},
    CalibrateAction{"accept", accept_node, {"--thresholds", "--json", "--markdown", nullptr}}};

/// Refuses options that only other actions have.
void check_options(const CalibrateAction& action, const CLI::App& app) {
  for (const auto& owner : actions) {
    if (owner.name == action.name) continue;
    for (const auto* option : owner.options) {
      const bool is_own = option != nullptr && std::ranges::any_of(action.options, [&](const char* name) {
                            return name != nullptr && std::string_view{name} == option;
                          });
      if (option != nullptr && !is_own && app.count(option) > 0) {
        refuse(fmt::format("'gradway calibrate {}' does not have '{}'", action.name, option),
               fmt::format("it is an option of '{}'", owner.name));
      }
    }
  }
}

}  // namespace

Samples read_samples_with_remarks(const std::vector<std::string>& files, const CommandContext& context) {
  std::vector<SampleFile> read;
  for (const auto& name : files) read.push_back(read_sample_file(name));
  auto samples = read_samples(read);
  write_remarks(samples, context.messages);
  write_unused_rows(samples, context.messages);
  return samples;
}

NodeFacts facts_of(const std::string& platform, const Samples& samples, const CommandContext& context) {
  if (!platform.empty()) {
    constexpr int gpus_of_synthetic_platforms = 8;
    return node_facts(load_platform(platform, gpus_of_synthetic_platforms, context.data), samples);
  }
  const auto forced = std::ranges::count_if(
      samples.contention, [](const ContentionRow& row) { return row.together && row.channels > 0; });
  if (forced > 0) {
    context.messages << fmt::format("not used without --platform: {} of contention with forced channels\n",
                                    report::counted_text(forced, "row"));
  }
  return {};
}

std::vector<std::string> calibrate_actions() {
  return names_of(actions);
}

Action add_calibrate(CLI::App& app) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  app.add_option("ACTION", arguments->action,
                 "action: fit, adapt, check or accept\n"
                 "fit: make a calibration from samples\n"
                 "adapt: transfer a calibration to another machine with a few samples from it\n"
                 "check: compare a calibration with samples\n"
                 "accept: judge a node by the samples of gradway-probe and --platform; status 4 if it fails")
      ->required();
  app.add_option("FILES", arguments->files,
                 "files of samples, .json or .json.gz; for adapt and check, a calibration first")
      ->required();
  app.add_option("-o,--out", arguments->out, "fit, adapt: calibration file to write")->type_name("FILE");
  app.add_option("--date", arguments->date, "fit, adapt: date of the measurement, for the file")
      ->type_name("YYYY-MM-DD");
  app.add_option("--source", arguments->source, "fit, adapt: source of the samples, for the file")
      ->type_name("TEXT");
  app.add_option("--platform", arguments->platform,
                 "platform of the samples, with the rates of the GPU and the cost of NCCL's channels")
      ->type_name("NAME");
  add_flag(app, "--force", arguments->force, "fit, adapt: replace an existing file");
  add_flag(app, "--all", arguments->all, "check: show all rows instead of those with the largest errors");
  app.add_option("--thresholds", arguments->thresholds,
                 "accept: file of limits that replace the shipped ones (docs/my-node.md)")
      ->type_name("FILE");
  add_flag(app, "--json", arguments->json, "check, accept: print the comparison as JSON");
  add_flag(app, "--markdown", arguments->markdown, "accept: print a page for who sold the node");
  return [arguments, &app](const CommandContext& context) {
    const auto& action =
        row_named(actions, arguments->action,
                  fmt::format("'gradway calibrate' does not have the action '{}'", arguments->action));
    check_options(action, app);
    return action.run(*arguments, context);
  };
}

}  // namespace gradway::cli
