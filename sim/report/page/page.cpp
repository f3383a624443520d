// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/page.hpp"

#include <algorithm>
#include <ostream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page_parts.hpp"
#include "sim/report/run/json.hpp"

// In template.S: the bundled page, byte for byte.
extern "C" const char gradway_page_begin[];
extern "C" const char gradway_page_end[];

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::string_view page() {
  return {gradway_page_begin, static_cast<std::size_t>(gradway_page_end - gradway_page_begin)};
}

/// Writes the page with the data inserted into the template.
void write_page(std::ostream& out, const Json& data) {
  constexpr std::string_view start = R"(<script id="data" type="application/json">)";
  const auto template_text = page();
  const auto at = template_text.find(start);
  expects(at != std::string_view::npos, "the page has a place for its data");
  out << template_text.substr(0, at + start.size());
  // "</script>" or "<!--" in a name must not end the data, so every '<' is escaped.
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      out << "\\u003c";
    } else {
      out << c;
    }
  }
  out << template_text.substr(at + start.size());
}

/// @param scenario its name
/// @param title identifies the page without context, with model and platform
Json start_of(std::string_view kind, std::string_view scenario, std::string_view title,
              std::string_view version) {
  return {{"schema", 1}, {"gradway", version}, {"kind", kind}, {"scenario", scenario}, {"title", title}};
}

/// "vit_l_32 on 8 x l40s on 1 node"
std::string title_of(const Scenario& scenario) {
  const auto& job = scenario.job;
  return fmt::format("{} on {}", trains(job.strategy) ? scenario.model.name : describe(job.strategy),
                     hardware_in_words(scenario.platform, job.gpus));
}

std::string title_of(const PlatformComparison& compared) {
  std::vector<std::string> platforms;
  for (const auto& run : compared.runs) {
    const auto& name = run.platform;
    if (std::ranges::find(platforms, name) == platforms.end()) platforms.push_back(name);
  }
  constexpr std::size_t most_names = 3;
  return fmt::format("{} on {}", compared.model,
                     platforms.empty() || platforms.size() > most_names
                         ? counted_text(platforms.size(), "platform")
                         : fmt::format("{}", fmt::join(platforms, ", ")));
}

std::string keys_in_words(const std::vector<Axis>& axes) {
  std::vector<std::string> keys;
  for (const auto& axis : axes) keys.push_back(axis.key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

/// "vit_l_32 on aws-g6e.48xlarge: strategy.bucket_cap", by the first point with a result.
std::string title_of(const Sweep& sweep) {
  for (const auto& point : sweep.points) {
    if (!point.error.empty()) continue;
    const auto& [model, platform] = std::tie(point.result.model, point.result.platform);
    return fmt::format("{} on {}: {}", model.empty() ? "collectives" : model, platform,
                       keys_in_words(sweep.axes));
  }
  return fmt::format("{}: {}", sweep.scenario, keys_in_words(sweep.axes));
}

/// Model, hardware and strategy, in the same words as on the terminal.
Json headline(const Run& run) {
  const auto& job = run.scenario.job;
  const bool is_collective = !trains(job.strategy);
  return {{"model", is_collective ? "" : run.scenario.model.name},
          {"hardware", hardware_in_words(run.scenario.platform, job.gpus)},
          {"strategy", describe(job.strategy)}};
}

}  // namespace

bool has_page() {
  return !page().empty();
}

void write_page(std::ostream& out, const Run& run, std::string_view version, const RunQuestions& questions) {
  auto data = start_of("run", run.scenario.name, title_of(run.scenario), version);
  data["headline"] = headline(run);
  data["report"] = json_document(run, version, questions).json();
  data["timeline"] = timeline_json(run);
  if (auto pipeline = pipeline_json(run); !pipeline.is_null()) data["pipeline"] = std::move(pipeline);
  data["buckets"] = buckets_json(run);
  data["use"] = use_json(run);
  data["platform"] = platform_json(run);
  write_page(out, data);
}

void write_page(std::ostream& out, const Campaign& campaign, std::string_view version) {
  const auto& scenario = campaign.run.scenario;
  const auto& plan = campaign.answers.plan;
  const auto where = plan.rounds
                         ? fmt::format("{} on {}", scenario.model.name, counted_text(plan.nodes, "client"))
                         : title_of(scenario);
  auto data = start_of("campaign", scenario.name, "Training " + where, version);
  data["headline"] = headline(campaign.run);
  data["campaign"] = json_document(campaign, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const CampaignPoints& points, std::string_view version) {
  auto data =
      start_of("campaigns", points.scenario,
               fmt::format("{}: campaigns by {}", points.scenario, keys_in_words(points.axes)), version);
  data["campaigns"] = json_document(points, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const Sweep& sweep, std::string_view version) {
  auto data = start_of("sweep", sweep.scenario, title_of(sweep), version);
  data["sweep"] = sweep_points_json(sweep);
  write_page(out, data);
}

void write_page(std::ostream& out, const PlatformComparison& compared, std::string_view version) {
  auto data = start_of("compare", compared.scenario, title_of(compared), version);
  data["job"] = describe(compared.model, compared.job);
  data["compare"] = json_document(compared, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const Validation& validation, std::string_view title,
                std::string_view version) {
  auto data = start_of("validate", title, fmt::format("{}: predicted and measured", title), version);
  data["validate"] = json_document(validation).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const Explanation& explanation, const RunCommand& command,
                std::string_view version) {
  const auto& run = explanation.run;
  auto data =
      start_of("explain", run.scenario.name, fmt::format("What bounds {}", title_of(run.scenario)), version);
  data["headline"] = headline(run);
  auto& commands = data["commands"] = nlohmann::ordered_json::array();
  for (const auto& one : explanation.helps)
    if (!one.bound()) commands.push_back(command.with(one.set));
  data["report"] = json_document(run, version, RunQuestions{}).json();
  data["explain"] = json_document(explanation, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const SettingsSearchReport& found, std::string_view version) {
  auto data = start_of("optimize", found.scenario,
                       fmt::format("Settings of {} on {}", found.model, found.platform), version);
  data["job"] = describe(found.model, found.jobs.front());
  data["optimize"] = json_document(found, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const LayoutSearchReport& search_report, std::string_view version) {
  auto data =
      start_of("layouts", search_report.scenario,
               fmt::format("Layouts of {} on {}", search_report.model, search_report.hardware), version);
  data["layouts"] = json_document(search_report, version).json();
  write_page(out, data);
}

}  // namespace gradway::report
