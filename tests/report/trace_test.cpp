// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace/trace.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "sim/report/trace/events.hpp"
#include "tests/report/made_up_run.hpp"
#include "tests/report/pictured_runs.hpp"
#include "tests/report/trace_view.hpp"

using namespace gradway;
using namespace gradway::testing;
using Json = nlohmann::json;

TEST_CASE("slices have the times of the timeline", "[report][trace]") {
  const auto trace = trace_of(made_up_run());

  std::map<std::string, Stretch> of_rank_1;  // by track and name
  for (const auto& slice : trace.slices())
    if (slice.rank == 1) of_rank_1[slice.track + ": " + slice.name] = slice.when;
  constexpr std::int64_t ms = 1'000'000;
  const std::map<std::string, Stretch> expected{{"phases: input", {0, ms}},
                                                {"phases: backward", {ms, 6 * ms}},
                                                {"phases: communication", {4 * ms, 9 * ms}},
                                                {"phases: optimizer", {9 * ms, 10 * ms}},
                                                {"CPU launch: input copy (1 kB)", {0, 5000}},
                                                {"copy engine: input copy (1 kB)", {0, ms}},
                                                {"compute: layer \"one\"", {ms, 6 * ms}},
                                                {"NCCL: bucket 0 all-reduce (4.194 MB)", {4 * ms, 9 * ms}},
                                                {"compute: optimizer", {9 * ms, 10 * ms}}};
  CHECK(of_rank_1 == expected);
}

TEST_CASE("slices name what they belong to", "[report][trace]") {
  const auto trace = trace_of(made_up_run());

  std::set<std::string> args;
  for (const auto& slice : trace.slices()) {
    if (slice.rank == 0 && slice.track != "CPU launch") args.insert(slice.args.dump());
  }
  CHECK(args == std::set<std::string>{
                    R"({"rank":0,"step":0})",
                    R"({"bytes":1000,"phase":"input","rank":0,"step":0})",
                    R"({"layer":"one","phase":"backward","rank":0,"step":0})",
                    R"({"bucket":0,"bytes":4194304,"phase":"communication","rank":0,"step":0})",
                    R"({"phase":"optimizer","rank":0,"step":0})",
                });
}

TEST_CASE("processes are the run and its nodes, and threads are ordered as in nsys", "[report][trace]") {
  const auto trace = trace_of(made_up_run());

  std::map<int, std::string> processes;
  std::map<int, std::string> threads;
  std::map<int, int> positions;
  for (const auto& event : trace.events("M")) {
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] == "thread_name") threads[event["tid"]] = event["args"]["name"];
    if (event["name"] == "process_sort_index") positions[event["args"]["sort_index"]] = event["pid"];
  }
  REQUIRE(positions.size() == 2);
  CHECK(processes[positions[0]] == "made-up-run: all 2 ranks");
  CHECK(processes[positions[1]] == "node 0: 2 x ideal");
  std::vector<std::string> in_order;
  for (const auto& [id, name] : threads) in_order.push_back(name);
  CHECK(in_order == std::vector<std::string>{"steps", "rank 0 (gpu0): phases", "rank 0 (gpu0): phases (2)",
                                             "rank 0 (gpu0): compute", "rank 0 (gpu0): NCCL",
                                             "rank 0 (gpu0): copy engine", "rank 0 (gpu0): CPU launch",
                                             "rank 1 (gpu1): phases", "rank 1 (gpu1): phases (2)",
                                             "rank 1 (gpu1): compute", "rank 1 (gpu1): NCCL",
                                             "rank 1 (gpu1): copy engine", "rank 1 (gpu1): CPU launch"});
}

TEST_CASE("overlapping slices get rows of their own", "[report][trace]") {
  auto run = made_up_run();
  auto& tasks = run.workload.programs[0].tasks;
  tasks.push_back(tasks[0]);  // a second copy at the same time
  tasks.back().name = "background copy";
  Op op;
  op.kind = OpKind::delay;
  op.origin = {.task = 4, .actor = 0, .activity = Activity::copy, .phase = Phase::input};
  run.ops.add(op);
  run.timeline.start.push_back(0.5_ms);
  run.timeline.end.push_back(3_ms);
  const auto trace = trace_of(run);

  CHECK(trace_problems(trace.json()) == std::vector<std::string>{});
  std::set<std::string> copies;
  for (const auto& event : trace.events("M")) {
    const auto name = event["args"].value("name", "");
    if (name.find("copy engine") != std::string::npos) copies.insert(name);
  }
  CHECK(copies == std::set<std::string>{"rank 0 (gpu0): copy engine", "rank 0 (gpu0): copy engine (2)",
                                        "rank 1 (gpu1): copy engine"});
}

TEST_CASE("large runs keep a rank of each class and say so", "[report][trace]") {
  const auto [ranks, classes, shown, words] = GENERATE(table<int, std::size_t, std::size_t, std::string>(
      {{2, 1, 2, "all 2 ranks"},
       {64, 1, 64, "all 64 ranks"},
       {65, 1, 1, "rank 0 of 65; the others behave identically"},
       {65, 2, 2, "ranks 0, 1 of 65; each of the others behaves like one of these"},
       {65, 65, 8, "ranks 0, 1, 2, 3, 4, 5, 6, 7 of 65; other ranks behave differently and are not shown"}}));
  CAPTURE(ranks, classes);
  auto run = made_up_run(ranks);
  auto& representatives = run.folding.actor_representative;
  for (std::size_t i = 0; i < representatives.size(); ++i) representatives[i] = ActorId{i % classes};
  const auto trace = trace_of(run);

  std::set<int> seen;
  for (const auto& slice : trace.slices())
    if (slice.rank >= 0) seen.insert(slice.rank);
  CHECK(seen.size() == shown);
  CHECK(trace.json()["otherData"]["ranks"] == words);
  CHECK(trace.slices().front().process == "made-up-run: " + words);
}

TEST_CASE("runs of many tasks keep a rank of each class, too", "[report][trace]") {
  auto run = made_up_run(4);
  for (auto& rank : run.folding.actor_representative) rank = ActorId{0};
  const auto tasks = 4 * run.workload.first_program().tasks.size();
  const auto words_after = [&](std::size_t steps) {
    run.workload.steps = static_cast<int>(steps);
    return trace_of(run).json()["otherData"]["ranks"];
  };
  CHECK(words_after(500'000 / tasks) == "all 4 ranks");
  CHECK(words_after(500'000 / tasks + 1) == "rank 0 of 4; the others behave identically");
}

TEST_CASE("the same run gives the same trace", "[report][trace]") {
  CHECK(trace_of(made_up_run()).json() == trace_of(made_up_run()).json());
}

TEST_CASE("times survive Perfetto's rounding to the nanosecond", "[report][trace]") {
  std::size_t longer = 0;
  for (std::int64_t ns = 0; ns < 3'000'000'000; ns += 7'654'321 % (ns + 3) + 1) {
    const auto text = report::trace_time(ns);
    const auto read = Json::parse(text);
    REQUIRE(imported_ns(read) == ns);
    REQUIRE(std::llround(read.get<double>() * 1e3) == ns);
    longer += text.ends_with("1") && text.size() - text.find('.') == 5 ? 1 : 0;
    if (ns > 5'000'000) ns += 1'234'567;
  }
  CHECK(longer > 0);
  CHECK(report::trace_time(12'345) == "12.345");
}

TEST_CASE("invalid traces are detected", "[report][trace]") {
  const PicturedRun small{"", "article/g6e", {{"job.gpus", "2"}}};
  const auto sound = trace_of(simulate(scenario_of(small))).json();
  REQUIRE(trace_problems(sound).empty());
  const auto broken = [&](const std::string& kind, const auto& change) {
    auto trace = sound;
    for (auto& event : trace["traceEvents"]) {
      if (event["ph"] != kind) continue;
      change(event);
      break;
    }
    const auto problems = trace_problems(trace);
    return problems.empty() ? std::string{"nothing"} : problems.front().substr(0, problems.front().find(':'));
  };
  CHECK(broken("X", [](Json& event) { event.erase("dur"); }) == "lacks dur");
  CHECK(broken("X", [](Json& event) { event["dur"] = 0.0; }) == "no duration");
  CHECK(broken("X", [](Json& event) { event["tid"] = 5U; }) == "its thread has no name yet");
  CHECK(broken("X", [](Json& event) { event["ph"] = "?"; }) == "an unknown kind");
  CHECK(broken("M", [](Json& event) { event["args"] = Json::object(); }) == "lacks name");
  CHECK(broken("C", [](Json& event) { event["args"]["%"] = -1; }) == "not a share");
  CHECK(broken("C", [](Json& event) { event["args"]["%"] = 101; }) == "not a share");
  CHECK(broken("s", [](Json& event) { event["ts"] = 0.0; }) == "an arrow that meets no slice");
  CHECK(broken("f", [](Json& event) { event["ts"] = 5000.0; }) == "an arrow that meets no slice");
  CHECK(broken("f", [](Json& event) { event["id"] = 99U; }) == "an arrow without its other end");
  CHECK(broken("f", [](Json& event) { event["bp"] = "x"; }) == "an arrow that does not end in its slice");
  auto overlapping = sound;
  for (auto& event : overlapping["traceEvents"]) {
    if (event["name"] == "encoder.0.ln_1") event["dur"] = event["dur"].get<double>() + 1;
  }
  REQUIRE_FALSE(trace_problems(overlapping).empty());
  CHECK(trace_problems(overlapping).front().starts_with("slices that overlap"));
}
