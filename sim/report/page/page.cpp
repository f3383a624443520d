// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/page.hpp"

#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/contract.hpp"
#include "sim/report/json/json.hpp"
#include "sim/report/page/pipeline.hpp"
#include "sim/report/page/platform.hpp"
#include "sim/report/page/sweep_points.hpp"
#include "sim/report/page/timeline.hpp"
#include "sim/report/text/words.hpp"

// In template.S: the bundled page, byte for byte.
extern "C" const char gradway_page_begin[];
extern "C" const char gradway_page_end[];

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

std::string_view page() {
  return {gradway_page_begin, static_cast<std::size_t>(gradway_page_end - gradway_page_begin)};
}

/// What `write_json` would write, as a value.
template <class... Document>
Json document(const Document&... of) {
  std::ostringstream text;
  write_json(text, of...);
  return Json::parse(text.str());
}

/// The page with its data where the template leaves room for them.
void write_page(std::ostream& out, const Json& data) {
  constexpr std::string_view start = R"(<script id="data" type="application/json">)";
  const auto template_text = page();
  const auto at = template_text.find(start);
  expects(at != std::string_view::npos, "the page has a place for its data");
  out << template_text.substr(0, at + start.size());
  // "</script>" or "<!--" in a name must not end the data: in JSON a '<' can be written otherwise.
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      out << "\\u003c";
    } else {
      out << c;
    }
  }
  out << template_text.substr(at + start.size());
}

Json start_of(std::string_view kind, std::string_view title, std::string_view version) {
  return {{"schema", 1}, {"gradway", version}, {"kind", kind}, {"title", title}};
}

/// What was run, in the words of the terminal.
Json headline(const Run& run) {
  const auto& job = run.scenario.job;
  const bool is_collective = !trains(job.strategy);
  return {{"model", is_collective ? "" : run.scenario.model.name},
          {"hardware", hardware_in_words(run.scenario.platform, job.gpus)},
          {"strategy", in_words(job.strategy)}};
}

}  // namespace

bool has_page() {
  return !page().empty();
}

void write_page(std::ostream& out, const Run& run, std::string_view version, const RunQuestions& questions) {
  auto data = start_of("run", run.scenario.name, version);
  data["headline"] = headline(run);
  data["report"] = document(run, version, questions);
  data["timeline"] = timeline_json(run);
  if (auto pipeline = pipeline_json(run); !pipeline.is_null()) data["pipeline"] = std::move(pipeline);
  data["buckets"] = buckets_json(run);
  data["use"] = use_json(run);
  data["platform"] = platform_json(run);
  write_page(out, data);
}

void write_page(std::ostream& out, const Campaign& campaign, std::string_view version) {
  auto data = start_of("campaign", campaign.run.scenario.name, version);
  data["headline"] = headline(campaign.run);
  data["campaign"] = document(campaign, version);
  write_page(out, data);
}

void write_page(std::ostream& out, const CampaignPoints& points, std::string_view version) {
  auto data = start_of("campaigns", points.scenario, version);
  data["campaigns"] = document(points, version);
  write_page(out, data);
}

void write_page(std::ostream& out, const Sweep& sweep, std::string_view version) {
  auto data = start_of("sweep", sweep.scenario, version);
  data["sweep"] = sweep_points_json(sweep);
  write_page(out, data);
}

void write_page(std::ostream& out, const Compared& compared, std::string_view version) {
  auto data = start_of("compare", compared.scenario, version);
  data["job"] = in_words(compared.model, compared.job);
  data["compare"] = document(compared, version);
  write_page(out, data);
}

void write_page(std::ostream& out, const Validation& validation, std::string_view title,
                std::string_view version) {
  auto data = start_of("validate", title, version);
  data["validate"] = document(validation);
  write_page(out, data);
}

}  // namespace gradway::report
