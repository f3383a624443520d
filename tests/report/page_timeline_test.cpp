// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/page_parts.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/report/trace/slices.hpp"
#include "tests/report/made_up_run.hpp"
#include "tests/report/pictured_runs.hpp"
#include "tests/report/trace_view.hpp"

using namespace gradway;
using namespace gradway::testing;
using Json = nlohmann::ordered_json;

namespace {

std::int64_t ns(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e3);
}

Stretch step_of(const Json& timeline) {
  return {ns(timeline["step"]["from_us"]), ns(timeline["step"]["to_us"])};
}

Stretch stretch_of(const Json& slice) {
  return {ns(slice[1]), ns(slice[1]) + ns(slice[2])};
}

/// Time of the step in which rank 0 has slices on rows of these streams.
double seconds_on(const Json& timeline, const std::set<std::string>& streams) {
  std::vector<Stretch> found;
  for (const auto& slice : timeline["slices"]) {
    const auto& row = timeline["rows"][slice[0].get<std::size_t>()];
    if (row["rank"] == 0 && streams.contains(row["stream"])) found.push_back(stretch_of(slice));
  }
  return 1e-9 * static_cast<double>(covered_ns(found, step_of(timeline)));
}

constexpr double microsecond = 1e-6;

}  // namespace

TEST_CASE("the timeline of a page has the documented keys", "[report][page]") {
  CHECK(
      report::timeline_json(made_up_run()).dump() ==
      R"({"step":{"from_us":0.0,"to_us":10000.0},"ranks":"all 2 ranks","joined_us":null,)"
      R"("rows":[{"rank":0,"node":0,"device":"gpu0","stream":"phases"},)"
      R"({"rank":0,"node":0,"device":"gpu0","stream":"phases"},)"
      R"({"rank":0,"node":0,"device":"gpu0","stream":"compute"},)"
      R"({"rank":0,"node":0,"device":"gpu0","stream":"NCCL"},)"
      R"({"rank":0,"node":0,"device":"gpu0","stream":"copy engine"},)"
      R"({"rank":0,"node":0,"device":"gpu0","stream":"CPU launch"},)"
      R"({"rank":1,"node":0,"device":"gpu1","stream":"phases"},)"
      R"({"rank":1,"node":0,"device":"gpu1","stream":"phases"},)"
      R"({"rank":1,"node":0,"device":"gpu1","stream":"compute"},)"
      R"({"rank":1,"node":0,"device":"gpu1","stream":"NCCL"},)"
      R"({"rank":1,"node":0,"device":"gpu1","stream":"copy engine"},)"
      R"({"rank":1,"node":0,"device":"gpu1","stream":"CPU launch"}],)"
      R"("names":["input","backward","optimizer","communication","layer \"one\"",)"
      R"_("bucket 0 all-reduce (4.194 MB)","input copy (1 kB)"],)_"
      R"("phases":["input","backward","optimizer","communication"],)"
      R"("slices":[[0,0.0,1000.0,0,0,-1,0],[0,1000.0,5000.0,1,1,-1,0],[0,9000.0,1000.0,2,2,-1,0],)"
      R"([1,4000.0,5000.0,3,3,-1,0],[2,1000.0,5000.0,4,1,-1,0],[2,9000.0,1000.0,2,2,-1,0],)"
      R"([3,4000.0,5000.0,5,3,0,4194304],[4,0.0,1000.0,6,0,-1,1000],[5,0.0,5.0,6,0,-1,1000],)"
      R"([6,0.0,1000.0,0,0,-1,0],[6,1000.0,5000.0,1,1,-1,0],[6,9000.0,1000.0,2,2,-1,0],)"
      R"([7,4000.0,5000.0,3,3,-1,0],[8,1000.0,5000.0,4,1,-1,0],[8,9000.0,1000.0,2,2,-1,0],)"
      R"([9,4000.0,5000.0,5,3,0,4194304],[10,0.0,1000.0,6,0,-1,1000],[11,0.0,5.0,6,0,-1,1000]],"repeated":null})");
}

TEST_CASE("the timeline of a page agrees with report.json to the microsecond", "[report][page]") {
  const auto pictured = GENERATE(from_range(pictured_runs()));
  CAPTURE(pictured.what);
  const auto run = simulate(scenario_of(pictured));
  const auto& metrics = run.measured.metrics;
  const auto timeline = report::timeline_json(run);

  const auto step = step_of(timeline);
  CHECK(1e-9 * static_cast<double>(step.second - step.first) ==
        Approx(metrics.step_time.value()).margin(microsecond));
  const auto kernels = seconds_on(timeline, {"compute", "other streams"});
  CHECK(kernels == Approx((metrics.compute + metrics.optimizer).value()).margin(microsecond));
  CHECK(seconds_on(timeline, {"NCCL"}) == Approx(metrics.communication.value()).margin(microsecond));
  CHECK(seconds_on(timeline, {"compute", "other streams", "NCCL"}) - kernels ==
        Approx(metrics.exposed_communication.value()).margin(microsecond));

  std::set<int> ranks;
  std::pair<std::size_t, std::int64_t> before{0, 0};
  for (const auto& slice : timeline["slices"]) {
    const std::pair<std::size_t, std::int64_t> now{slice[0], ns(slice[1])};
    CHECK(before <= now);
    before = {now.first, stretch_of(slice).second};  // and slices of a row do not overlap
    ranks.insert(timeline["rows"][now.first]["rank"].get<int>());
    REQUIRE(slice[3] < timeline["names"].size());
    REQUIRE(slice[4] < timeline["phases"].size());
  }
  CHECK(ranks.size() == std::min<std::size_t>(4, run.folding.simulated_ranks()));
}

TEST_CASE("buckets of a page are ready, then reduced, in their order", "[report][page]") {
  const auto pictured = GENERATE(from_range(pictured_runs()));
  CAPTURE(pictured.what);
  const auto run = simulate(scenario_of(pictured));
  const auto buckets = report::buckets_json(run);
  const auto timeline = report::timeline_json(run);

  REQUIRE(buckets.size() == run.workload.first_program().units.size());
  std::int64_t free = step_of(timeline).first;
  double bytes = 0;
  std::size_t gradients = 0;
  for (const auto& bucket : buckets) {
    const auto start = ns(bucket["start_us"]);
    CHECK(ns(bucket["ready_us"]) <= start);
    CHECK(free <= start);
    free = ns(bucket["end_us"]);
    CHECK(start <= free);
    bytes += bucket["size_bytes"].get<double>();
    gradients += bucket["gradients"].get<std::size_t>();
  }
  CHECK(free <= step_of(timeline).second);
  if (buckets.empty()) return;
  CHECK(bytes == 4 * static_cast<double>(run.scenario.model.parameter_count()));
  std::size_t parameters = 0;
  for (const auto& layer : run.scenario.model.layers) parameters += layer.parameters.size();
  CHECK(gradients == parameters);
  CHECK(buckets.back()["last_layer"] ==
        std::ranges::find_if(run.scenario.model.layers, [](const auto& layer) {
          return !layer.parameters.empty();
        })->name);
}

TEST_CASE("a page of a long pipeline starts at its step, stays small and preserves use", "[report][page]") {
  const auto run = simulate(load_scenario("layouts/llama3_70b", {}, DataPath{{GRADWAY_SOURCE_DIR}}), "auto",
                            FoldRanks::yes, {}, FoldMicroBatches::no);
  const auto timeline = report::timeline_json(run);
  const auto step = step_of(timeline);
  CHECK(step.first == 0);
  CHECK(1e-9 * static_cast<double>(step.second) ==
        Approx(run.measured.metrics.step_time.value()).margin(microsecond));

  // Fewer slices, on the same rows, in order. A joined slice covers at least its parts, and gaps shorter than
  // the resolution.
  constexpr std::size_t most = 24'000;
  CHECK(timeline["slices"].size() < most);
  CHECK(timeline["joined_us"].get<double>() < 1e-3 * static_cast<double>(step.second) / 1e3);
  const auto& parts = run.measured.by_program.front().parts;
  CHECK(seconds_on(timeline, {"compute"}) >= (parts.compute + parts.optimizer).value() - microsecond);
  std::size_t phase_rows = 0;
  for (const auto& row : timeline["rows"]) phase_rows += row["rank"] == 0 && row["stream"] == "phases";
  CHECK(phase_rows <= 2);

  // Each bucket is reduce-scattered when it is ready, in far less time than a step.
  for (const auto& bucket : report::buckets_json(run)) {
    CHECK(bucket["collective"] == "reduce-scatter");
    CHECK(bucket["ready_us"] <= bucket["start_us"]);
    CHECK(bucket["end_us"].get<double>() - bucket["start_us"].get<double>() <
          1e-5 * static_cast<double>(step.second));
  }

  // Averaging preserves the total that a link carries.
  const auto tracks = report::busiest_links(run, 8);
  const auto use = report::use_json(run);
  REQUIRE(use.size() == tracks.size());
  const Stretch window{report::nanoseconds(run.window.from), report::nanoseconds(run.window.to)};
  for (std::size_t i = 0; i < use.size(); ++i) {
    Series series, whole;
    for (const auto& point : use[i]["points"]) series.emplace_back(ns(point[0]), point[1].get<double>());
    for (const auto& point : tracks[i].points) whole.emplace_back(point.at_ns, point.own);
    CHECK(series.size() <= 402);
    CHECK(series.front().first == 0);
    CHECK(integral(series, step) == Approx(integral(whole, window)).epsilon(1e-6));
  }
}

TEST_CASE("a period that is drawn once counts as often as it happens", "[report][page]") {
  const auto run = simulate(load_scenario("layouts/llama3_70b",
                                          {{"job.gpus", "64"},
                                           {"job.accumulate", "200"},
                                           {"parallel.pipeline", "4"},
                                           {"parallel.virtual", "1"},
                                           {"parallel.schedule", "1f1b"}},
                                          DataPath{{GRADWAY_SOURCE_DIR}}));
  REQUIRE(run.window.repeated.left_out > 100);
  const auto timeline = report::timeline_json(run);
  const auto& repeated = timeline["repeated"];
  const auto us = [](const Json& json) { return json.get<double>(); };
  const auto each = us(repeated["to_us"]) - us(repeated["from_us"]);
  const auto step = us(timeline["step"]["to_us"]) + repeated["left_out"].get<int>() * each;
  CHECK(step * 1e-6 == Approx(run.measured.metrics.step_time.value()).epsilon(1e-6));

  const auto pipeline = report::pipeline_json(run);
  std::set<int> before, after;
  for (const auto& pass : pipeline["passes"])
    (us(pass[1]) < us(repeated["to_us"]) ? before : after).insert(pass[4].get<int>());
  CHECK(*before.begin() == 0);
  CHECK(*before.rbegin() < 20);
  CHECK(*after.rbegin() == 199);
}

TEST_CASE("the use of links of a page carries the bytes of report.json", "[report][page]") {
  const auto pictured = GENERATE(from_range(pictured_runs()));
  CAPTURE(pictured.what);
  const auto run = simulate(scenario_of(pictured));
  const auto use = report::use_json(run);
  const auto step = step_of(report::timeline_json(run));

  CHECK(use.empty() == run.measured.links.empty());
  if (!use.empty()) CHECK(use[0]["name"] == run.measured.links.front().name);
  double busier = 1;
  for (const auto& link : use) {
    Series series;
    for (const auto& point : link["points"]) series.emplace_back(ns(point[0]), point[1].get<double>());
    CHECK(series.front().first == step.first);
    CHECK(series.back().first == step.second);
    const auto share = integral(series, step) / (1e-9 * static_cast<double>(step.second - step.first));
    const auto& links = run.measured.links;
    const auto reported =
        std::ranges::find_if(links, [&](const auto& one) { return one.name == link["name"]; });
    REQUIRE(reported != links.end());
    CHECK(share == Approx(reported->busy_fraction).epsilon(1e-5));
    CHECK(share <= busier * (1 + 1e-5));
    busier = share;
    std::size_t alike = 0;
    for (const auto& one : links) {
      if (one.busy_fraction == reported->busy_fraction) alike += 1 + one.alike;
    }
    CHECK(link["alike"] < alike);
  }
}
