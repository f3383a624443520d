// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "sim/base/nearest.hpp"
#include "sim/cli/calibrate/actions.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/shell/argument_words.hpp"
#include "sim/cli/shell/common_options.hpp"
#include "sim/report/format/text.hpp"
#include "sim/samples/read_samples.hpp"

namespace gradway::cli {
namespace {

constexpr std::size_t longest_remark = 200;
constexpr std::size_t most_remarks = 20;

/// An action and the options that not all actions have.
struct CalibrateAction {
  std::string_view name;
  Status (*run)(const CalibrateArguments&, const CommandContext&);
  std::array<const char*, 4> options;  ///< null: unused
};
constexpr std::array actions{
    CalibrateAction{"fit", fit_samples, {"--out", "--date", "--source", "--force"}},
    CalibrateAction{"adapt", adapt_calibration, {"--out", "--date", "--source", "--force"}},
    CalibrateAction{"check", check_samples, {"--all", "--json", nullptr, nullptr}}};

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
  std::vector<std::string> names;
  for (const auto& known : actions) names.emplace_back(known.name);
  return names;
}

Action add_calibrate(CLI::App& app) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  app.add_option("ACTION", arguments->action,
                 "action: fit, adapt or check\n"
                 "fit: make a calibration from samples\n"
                 "adapt: transfer a calibration to another machine with a few samples from it\n"
                 "check: compare a calibration with samples")
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
  add_flag(app, "--json", arguments->json, "check: print the comparison as JSON");
  return [arguments, &app](const CommandContext& context) {
    const auto action = std::ranges::find(actions, arguments->action, &CalibrateAction::name);
    if (action == actions.end())
      refuse(fmt::format("'gradway calibrate' does not have the action '{}'", arguments->action),
             suggestion(arguments->action, calibrate_actions()));
    check_options(*action, app);
    return action->run(*arguments, context);
  };
}

}  // namespace gradway::cli
