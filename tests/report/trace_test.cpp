// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace.hpp"

#include <map>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/report/made_up_run.hpp"

using namespace gradway;
using Json = nlohmann::json;

namespace {

Json trace_of(const Run& run) {
  std::ostringstream out;
  report::write_trace(out, run);
  return Json::parse(out.str());
}

std::vector<Json> events(const Json& trace, std::string_view phase) {
  std::vector<Json> found;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

/// What a viewer would write beside a slice.
std::string thread_of(const Json& trace, const Json& slice) {
  for (const auto& event : events(trace, "M")) {
    if (event["name"] == "thread_name" && event["pid"] == slice["pid"] && event["tid"] == slice["tid"]) {
      return event["args"]["name"];
    }
  }
  return "";
}

}  // namespace

TEST_CASE("slices stand where the timeline has them, in microseconds", "[report][trace]") {
  const auto trace = trace_of(testing::made_up_run());

  std::map<std::string, std::pair<double, double>> of_rank_1;  // by thread and name: start and duration
  for (const auto& slice : events(trace, "X")) {
    if (slice["pid"] != 1) continue;
    of_rank_1[thread_of(trace, slice) + ": " + slice["name"].get<std::string>()] = {slice["ts"],
                                                                                    slice["dur"]};
  }
  const std::map<std::string, std::pair<double, double>> expected{{"CPU launch: input copy", {0, 5}},
                                                                  {"copy engine: input copy", {0, 1000}},
                                                                  {"compute: layer \"one\"", {1000, 5000}},
                                                                  {"NCCL: bucket 0 all-reduce", {4000, 5000}},
                                                                  {"compute: optimizer", {9000, 1000}}};
  CHECK(of_rank_1 == expected);
}

TEST_CASE("a collective is one slice on every rank, from its first part to its last", "[report][trace]") {
  const auto trace = trace_of(testing::made_up_run());

  std::set<int> ranks;
  for (const auto& slice : events(trace, "X")) {
    if (slice["name"] != "bucket 0 all-reduce") continue;
    CHECK(ranks.insert(slice["pid"].get<int>()).second);
  }
  CHECK(ranks == std::set<int>{0, 1});
}

TEST_CASE("slices say what they belong to", "[report][trace]") {
  const auto trace = trace_of(testing::made_up_run());

  for (const auto& slice : events(trace, "X")) {
    if (slice["name"] == "layer \"one\"") {
      CHECK(slice["args"].dump() == R"({"layer":"one","phase":"backward","step":0})");
    }
    if (slice["name"] == "bucket 0 all-reduce") {
      CHECK(slice["args"].dump() == R"({"bucket":0,"bytes":4194304,"phase":"communication","step":0})");
    }
  }
}

TEST_CASE("a process is named by its rank and GPU", "[report][trace]") {
  const auto trace = trace_of(testing::made_up_run());

  std::map<int, std::string> names;
  for (const auto& event : events(trace, "M")) {
    if (event["name"] == "process_name") names[event["pid"]] = event["args"]["name"];
  }
  CHECK(names == std::map<int, std::string>{{0, "rank 0 (gpu0)"}, {1, "rank 1 (gpu1)"}});
}

TEST_CASE("slices of a thread do not overlap: what would overlap gets a row of its own", "[report][trace]") {
  auto run = testing::made_up_run();
  run.workload.tasks.push_back(run.workload.tasks[0]);  // a second copy, beside the first
  run.workload.tasks.back().name = "background copy";
  Op op;
  op.kind = OpKind::delay;
  op.origin = {4, 0, 0, Activity::copy, Phase::input};
  run.ops.add(op);
  run.timeline.start.push_back(0.5_ms);
  run.timeline.end.push_back(3_ms);
  const auto trace = trace_of(run);

  std::map<std::pair<int, int>, double> ends;
  std::set<std::string> threads;
  for (const auto& slice : events(trace, "X")) {
    auto& end = ends[{slice["pid"], slice["tid"]}];
    CHECK(slice["ts"].get<double>() >= end);
    end = slice["ts"].get<double>() + slice["dur"].get<double>();
    threads.insert(thread_of(trace, slice));
  }
  CHECK(threads == std::set<std::string>{"CPU launch", "compute", "NCCL", "copy engine", "copy engine (2)"});
}

TEST_CASE("large runs keep their first ranks and say so", "[report][trace]") {
  const auto [ranks, shown, words] = GENERATE(table<int, std::size_t, std::string>(
      {{1, 1, "all 1"}, {64, 64, "all 64"}, {65, 8, "the first 8 of 65"}}));
  CAPTURE(ranks);
  const auto trace = trace_of(testing::made_up_run(ranks));

  std::set<int> processes;
  for (const auto& event : trace["traceEvents"]) processes.insert(event["pid"].get<int>());
  CHECK(processes.size() == shown);
  CHECK(trace["otherData"]["ranks"] == words);
  CHECK(trace["otherData"]["scenario"] == "made-up-run");
}

TEST_CASE("the same run gives the same trace", "[report][trace]") {
  CHECK(trace_of(testing::made_up_run()) == trace_of(testing::made_up_run()));
}
