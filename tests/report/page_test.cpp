// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "sim/report/page/page.hpp"
#include "sim/report/page/page_parts.hpp"
#include "sim/report/run/json.hpp"
#include "tests/report/made_up_run.hpp"

using namespace gradway;
using namespace gradway::testing;
using Json = nlohmann::json;

namespace {

constexpr std::string_view start = R"(<script id="data" type="application/json">)";
constexpr std::string_view end = "</script>";

template <class... Document>
std::string page_of(const Document&... of) {
  std::ostringstream out;
  report::write_page(out, of...);
  return out.str();
}

/// The data of a page as a browser finds it: up to the first end tag.
Json data_of(const std::string& page) {
  const auto from = page.find(start);
  REQUIRE(from != std::string::npos);
  REQUIRE(page.find(start, from + 1) == std::string::npos);
  const auto text = page.substr(from + start.size());
  return Json::parse(text.substr(0, text.find(end)));
}

template <class... Document>
Json document_of(const Document&... of) {
  std::ostringstream out;
  report::write_json(out, of...);
  return Json::parse(out.str());
}

}  // namespace

TEST_CASE("a page has the report of its run, number for number", "[report][page]") {
  const auto run = made_up_run();
  const auto data = data_of(page_of(run, run, "1.2.3"));
  CHECK(data["kind"] == "run");
  CHECK(data["gradway"] == "1.2.3");
  CHECK(data["title"] == "tiny on 2 x ideal on 1 node");
  CHECK(data["report"] == document_of(run, "1.2.3"));
  CHECK(page_of(run, run, "1.2.3") == page_of(run, run, "1.2.3"));
}

TEST_CASE("a name in a scenario cannot end the data of a page", "[report][page]") {
  auto run = made_up_run();
  run.scenario.name = "</script><script>alert(1)</script><!-- \xff";
  const auto page = page_of(run, run, "1");
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(data_of(page)["scenario"] == "</script><script>alert(1)</script><!-- \xEF\xBF\xBD");
}

TEST_CASE("a page is self-contained", "[report][page]") {
  const auto run = made_up_run();
  const auto page = page_of(run, run, "1");
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.find("default-src 'none'") != std::string::npos);
  // Elements that load something: scripts or images with a source, style sheets, frames.
  for (const auto* loads : {"<script src", "<link rel=\"stylesheet", "<img src=\"http", "<iframe", "@import"})
    CHECK(page.find(loads) == std::string::npos);
  constexpr std::size_t most = 2'000'000;
  CHECK(page.size() < most);
}

TEST_CASE("pages of sweeps, comparisons and validations have their documents", "[report][page]") {
  report::Sweep sweep{"mine", {{"job.gpus", {"1", "2"}}}, {{.values = {"1"}, .error = "error: no"}}};
  sweep.points.push_back(report::point_of(made_up_run(), "1", true));
  sweep.points[1].values = {"2"};
  const auto of_sweep = data_of(page_of(sweep, "1"));
  CHECK(of_sweep["kind"] == "sweep");
  CHECK(of_sweep["scenario"] == "mine");
  CHECK(of_sweep["title"] == "tiny on made-up: job.gpus");
  const auto document = document_of(sweep, "1");
  for (const auto* key : {"vary", "fastest", "cheapest", "shortest_step", "tied"})
    CHECK(of_sweep["sweep"][key] == document[key]);
  CHECK(of_sweep["sweep"]["fastest"] == 1);
  for (const auto& column : of_sweep["sweep"]["columns"]) {
    const Json::json_pointer path{column["path"].get<std::string>()};
    CAPTURE(path);
    REQUIRE(column["values"].size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& value = column["values"][i];
      const auto& run = document["runs"][i];
      const auto shown = value.is_null() || !column.contains("distinct")
                             ? value
                             : column["distinct"][value.get<std::size_t>()];
      CHECK(shown == (run.contains(path) ? run[path] : Json{}));
    }
  }
  CHECK(of_sweep["sweep"]["columns"][0]["path"] == "/error");
  CHECK(of_sweep["sweep"]["columns"].size() > 12);

  const report::Validation validation{"a stop watch", {{"slow", 100_ms, 150_ms, {140_ms, 160_ms}}}};
  const auto of_validation = data_of(page_of(validation, "cases", "1"));
  CHECK(of_validation["title"] == "cases: predicted and measured");
  CHECK(of_validation["validate"] == Json::parse(report::text_of(report::json_document(validation))));
  CHECK(of_validation["validate"]["cases"][0]["interval_s"] == Json{0.14, 0.16});
  CHECK(of_validation["validate"]["source"] == "a stop watch");
}

TEST_CASE("the page of a comparison describes the compared job", "[report][page]") {
  report::PlatformComparison compared;
  compared.scenario = "mine";
  compared.model = "vit";
  compared.job.batch_per_gpu = 8;
  const auto data = data_of(page_of(compared, "1"));
  CHECK(data["scenario"] == "mine");
  CHECK(data["title"] == "vit on 0 platforms");
  CHECK(data["job"] == "vit, batch 8 per GPU, fp32, DDP, PyTorch's default buckets (1 MiB, then 25 MiB)");
  CHECK(data["compare"] == Json::parse(report::text_of(report::json_document(compared, "1"))));
}

TEST_CASE("a sweep whose points all failed has no best point", "[report][page]") {
  const report::Sweep sweep{"mine", {{"job.gpus", {"9"}}}, {{.values = {"9"}, .error = "error: no"}}};
  const auto json = document_of(sweep, "1");
  CHECK(json["fastest"].is_null());
  CHECK(json["cheapest"].is_null());
}

TEST_CASE("the platform of a page has each link once, with the use that the report gives", "[report][page]") {
  const auto run = made_up_run(4);
  const auto platform = Json::parse(report::platform_json(run).dump());
  CHECK(platform["gpus"] == 4);
  CHECK(platform["gpus_shown"] == 4);
  std::map<std::string, Json> directions;
  for (const auto& link : platform["links"]) {
    for (const auto* way : {"there", "back"}) {
      if (!link[way].is_null()) CHECK(directions.emplace(link[way]["name"], link[way]).second);
    }
  }
  CHECK(directions.size() == run.scenario.platform.links.size());
  for (const auto& use : run.measured.links) {
    CHECK(directions.at(use.name)["busy_fraction"] == use.busy_fraction);
    CHECK(directions.at(use.name)["bytes"] == use.bytes.value());
    directions.erase(use.name);
  }
  for (const auto& [name, unused] : directions) CHECK(unused["bytes"] == 0);
}

TEST_CASE("a page shows a part of a large platform and says so", "[report][page]") {
  const auto run = made_up_run(200);
  const auto platform = report::platform_json(run);
  CHECK(platform["gpus"] == 200);
  const auto shown = platform["gpus_shown"].get<std::size_t>();
  CHECK(shown == 16);
  std::size_t gpus = 0;
  for (const auto& device : platform["devices"]) gpus += device["kind"] == "gpu";
  CHECK(gpus == shown);
}
