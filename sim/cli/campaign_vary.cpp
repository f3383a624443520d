// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "sim/cli/campaign_actions.hpp"
#include "sim/cli/check_values.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/out_folder.hpp"
#include "sim/cli/points.hpp"
#include "sim/report/campaign.hpp"
#include "sim/report/campaign_points.hpp"

namespace gradway::cli {
namespace {

std::vector<Override> overrides_of_point(const std::vector<Override>& fixed, const std::vector<Axis>& axes,
                                         const std::vector<std::string>& values) {
  auto overrides = fixed;
  for (std::size_t i = 0; i < values.size(); ++i)
    overrides.push_back({axes[i].key, values[i], told_by(axes[i], values[i])});
  return overrides;
}

void check_clashes(const std::vector<Override>& fixed, const std::vector<Axis>& axes) {
  for (const auto& one : fixed) {
    if (std::ranges::find(axes, one.key, &Axis::key) != axes.end())
      refuse(fmt::format("'{}' is set and varied", one.key), "leave out '--set' or '--vary' for it");
  }
}

}  // namespace

Status vary_campaign(const CampaignArguments& arguments, const CLI::App& app, const Surroundings& around) {
  const bool writes_files = wants_files(app, arguments.out);
  const auto data = each_file_once(around.data);
  const auto fixed = overrides_of(arguments.set, arguments.short_hands);
  report::CampaignPoints all{
      std::filesystem::path{arguments.scenario}.stem().string(), parse_axes(arguments.vary), {}};
  check_clashes(fixed, all.axes);
  check_values(all.axes, [&](const std::vector<std::string>& values) {
    return problems_of_values(arguments.scenario, overrides_of_point(fixed, all.axes, values), data,
                              arguments.price);
  });
  const auto questions = questions_of(arguments, 1);  // the points are played side by side
  for (std::size_t i = 0; i < point_count(all.axes); ++i) all.points.push_back({point_values(all.axes, i)});
  const auto failures = run_points(around, "campaign", all.points.size(), arguments.jobs, [&](std::size_t i) {
    auto& point = all.points[i];
    const auto run = step_of_campaign(arguments, overrides_of_point(fixed, all.axes, point.values), data, {});
    const report::Campaign played{run, questions, answers_of(run, questions)};
    std::ostringstream text;
    report::write_json(text, played, GRADWAY_VERSION);
    point.report = text.str();
    point.estimate = played.answers.estimate;
    point.in_time = played.answers.in_time;
    point.in_budget = played.answers.in_budget;
  });
  if (std::ranges::find(failures, Status::done, &Failure::status) == failures.end()) {
    raise_wrong_input(failures);
    tell_each_once(failures, around.messages);
    return status_of(failures);
  }
  for (std::size_t i = 0; i < failures.size(); ++i) all.points[i].error = failures[i].text;
  const auto json = [&](std::ostream& out) { report::write_json(out, all, GRADWAY_VERSION); };
  if (arguments.json) {
    json(around.results);
  } else {
    report::write_table(around.results, all, around.style);
  }
  if (writes_files) put_files(arguments.out, {{"campaigns.json", json}}, around);
  return status_of(failures);
}

}  // namespace gradway::cli
