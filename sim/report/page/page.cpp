// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/page.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/base/base64.hpp"
#include "sim/base/contract.hpp"
#include "sim/files/compressed_file.hpp"
#include "sim/report/format/json_document.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page_parts.hpp"
#include "sim/report/page/run_document.hpp"
#include "sim/report/run/json.hpp"
#include "sim/report/show/show.hpp"

// In template.S: the bundled page, byte for byte.
extern "C" const char gradway_page_begin[];
extern "C" const char gradway_page_end[];
// gradway.wasm by gzip in base64, or nothing.
extern "C" const char gradway_engine_begin[];
extern "C" const char gradway_engine_end[];

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::string_view page() {
  return {gradway_page_begin, static_cast<std::size_t>(gradway_page_end - gradway_page_begin)};
}

std::string_view engine() {
  return {gradway_engine_begin, static_cast<std::size_t>(gradway_engine_end - gradway_engine_begin)};
}

std::string dumped(const Json& data) {
  return serialized(data);
}

Json scenario_schema() {
  std::ostringstream schema;
  write_scenario_schema(schema);
  return Json::parse(schema.str());
}

/// The files and the schema of a scenario, by gzip.
std::string packed(const std::map<std::string, std::string>& files) {
  const Json document{{"files", files}, {"schema", scenario_schema()}};
  std::ostringstream out;
  write_gzip(out, [&](std::ostream& text) { text << dumped(document); });
  return std::move(out).str();
}

/// Writes the page with the data inserted into the template.
/// @param files for the engine, which the page then contains
void write_page(std::ostream& out, const Json& data,
                const std::map<std::string, std::string>* files = nullptr) {
  auto unwritten = page();
  const auto write_until = [&](std::string_view start) {
    const auto place = unwritten.find(start);
    expects(place != std::string_view::npos, "the page has a place for its data");
    out << unwritten.substr(0, place + start.size());
    unwritten.remove_prefix(place + start.size());
  };
  write_until(R"(<script id="data" type="application/json">)");
  // "</script>" or "<!--" in a name must not end the data, so every '<' is escaped.
  for (const char c : dumped(data)) {
    if (c == '<') {
      out << "\\u003c";
    } else {
      out << c;
    }
  }
  if (files != nullptr) {
    write_until(R"(<script id="engine" type="text/plain">)");
    out << engine();
    write_until(R"(<script id="files" type="text/plain">)");
    out << base64(packed(*files));
  }
  out << unwritten;
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
    return fmt::format("{}: {}", model_and_platform(point), keys_in_words(sweep.axes));
  }
  return fmt::format("{}: {}", sweep.scenario, keys_in_words(sweep.axes));
}

Json sweep_document(const Sweep& sweep, std::string_view version) {
  auto data = start_of("sweep", sweep.scenario, title_of(sweep), version);
  data["sweep"] = sweep_points_json(sweep);
  return data;
}

/// The policy of report.html, as its template has it. @pre has_page()
std::string_view policy_of_file() {
  constexpr std::string_view start = R"(Content-Security-Policy" content=")";
  const auto place = page().find(start);
  expects(place != std::string_view::npos, "the page has a policy");
  const auto policy = page().substr(place + start.size());
  return policy.substr(0, policy.find('"'));
}

/// A page in a file may contact no address; a served page may contact its own server.
std::string policy_in_served_page() {
  return fmt::format("{}; connect-src 'self'", policy_of_file());
}

}  // namespace

bool has_page() {
  return !page().empty();
}

bool has_engine() {
  return has_page() && !engine().empty();
}

void write_page(std::ostream& out, const Run& run, const Run& drawn, std::string_view version,
                const RunQuestions& questions, const WhatIfFiles* what_if) {
  auto data = run_document(run, drawn, version, questions);
  if (what_if == nullptr) return write_page(out, data);
  data["what_if"] = {{"scenario", what_if->scenario},
                     {"set", what_if->set},
                     {"roots", what_if->roots},
                     {"command", what_if->command},
                     {"yaml", what_if->yaml}};
  data["axes"] = layout_axes(run.scenario.model);
  write_page(out, data, &what_if->files);
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

void write_page(std::ostream& out, const CampaignPoints& points, const std::vector<JsonDocument>& reports,
                std::string_view version) {
  auto data =
      start_of("campaigns", points.scenario,
               fmt::format("{}: campaigns by {}", points.scenario, keys_in_words(points.axes)), version);
  data["campaigns"] = json_document(points, reports, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const Sweep& sweep, std::string_view version) {
  write_page(out, sweep_document(sweep, version));
}

void write_sweep_document(std::ostream& out, const Sweep& sweep, std::string_view version) {
  std::ostringstream csv;
  write_csv(csv, sweep);
  auto data = sweep_document(sweep, version);
  data["csv"] = std::move(csv).str();
  out << dumped(data);
}

void write_page(std::ostream& out, const PlatformComparison& compared, std::string_view version) {
  auto data = start_of("compare", compared.scenario, title_of(compared), version);
  data["job"] = describe(compared.model, compared.job);
  data["compare"] = json_document(compared, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const PlanPage& plan, std::string_view version) {
  write_page(out, plan_document(plan, version), &plan.files);
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
  for (const auto& answer : explanation.helps)
    if (!answer.is_bound) commands.push_back(command.with(answer.set));
  data["report"] = json_document(run, version, RunQuestions{}).json();
  data["explain"] = json_document(explanation, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const SettingsSearchReport& search, std::string_view version) {
  auto data = start_of(
      "optimize", search.written().name,
      fmt::format("Settings of {} on {}", search.written().model.name, search.written().platform.name),
      version);
  data["job"] = describe(search.written().model.name, search.written().job);
  data["optimize"] = json_document(search, version).json();
  write_page(out, data);
}

void write_page(std::ostream& out, const LayoutSearchReport& search_report, std::string_view version) {
  auto data =
      start_of("layouts", search_report.written.name,
               fmt::format("Layouts of {} on {}", search_report.written.model.name, search_report.hardware()),
               version);
  data["layouts"] = json_document(search_report, version).json();
  write_page(out, data);
}

void write_served_page(std::ostream& out, const UiStart& start, std::string_view version) {
  auto data = start_of("ui", start.scenario, "Scenarios", version);
  data["command"] = start.command;
  data["scenarios"] = start.scenarios;
  data["own"] = start.own;
  data["platforms"] = start.platforms;
  data["schema_of_scenarios"] = scenario_schema();
  std::ostringstream page;
  write_page(page, data);
  const auto text = std::move(page).str();
  const auto place = text.find(policy_of_file());
  out << text.substr(0, place) << policy_in_served_page() << text.substr(place + policy_of_file().size());
}

std::string policy_of_served_page() {
  return policy_in_served_page() + "; frame-ancestors 'none'";  // which a page cannot set itself
}

}  // namespace gradway::report
