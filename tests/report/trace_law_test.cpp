// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/report/pictured_runs.hpp"
#include "tests/report/trace_view.hpp"

using namespace gradway;
using namespace gradway::testing;

namespace {

constexpr double microsecond = 1e-6;

double seconds(std::int64_t ns) {
  return 1e-9 * static_cast<double>(ns);
}

bool near(Seconds reported, std::int64_t seen) {
  return std::abs(reported.value() - seconds(seen)) <= microsecond;
}

bool is_kernel(const SeenSlice& slice) {
  return slice.track == "compute" || slice.track == "other streams";
}

void check_parts(const Metrics& metrics, const TraceView& trace) {
  const auto step = trace.reported();
  std::vector<Stretch> all;
  std::int64_t before = 0;
  // Each kind of work counts only while nothing of higher priority runs.
  const auto more = [&](auto wanted) {
    for (const auto& stretch : trace.stretches(0, wanted)) all.push_back(stretch);
    const auto now = covered_ns(all, step);
    return now - std::exchange(before, now);
  };
  CHECK(near(metrics.step_time, step.second - step.first));
  CHECK(near(metrics.optimizer,
             more([](const auto& slice) { return is_kernel(slice) && slice.category == "optimizer"; })));
  CHECK(near(metrics.compute, more(is_kernel)));
  CHECK(near(metrics.exposed_communication, more([](const auto& slice) { return slice.track == "NCCL"; })));
  CHECK(near(metrics.input_wait, more([](const auto& slice) {
               return slice.track == "copy engine" && !slice.name.starts_with("background copy");
             })));
  CHECK(near(metrics.launch_bound, more([](const auto& slice) { return slice.track == "CPU launch"; })));
  CHECK(near(metrics.idle, step.second - step.first - before));
  const auto nccl = trace.stretches(0, [](const auto& slice) { return slice.track == "NCCL"; });
  CHECK(near(metrics.communication, covered_ns(nccl, step)));
}

/// Slices of a task of the reported step on rank 0.
template <class Wanted>
std::size_t count(const TraceView& trace, Wanted wanted) {
  const auto reported = trace.reported();
  int step = -1;
  for (const auto& slice : trace.slices())
    if (slice.track == "steps" && slice.when == reported) step = slice.args["step"];
  std::size_t found = 0;
  for (const auto& slice : trace.slices())
    found += slice.rank == 0 && slice.args["step"] == step && wanted(slice);
  return found;
}

/// A link as in report.json.
const ResourceUse& use_of(const Run& run, const std::string& name) {
  for (const auto& use : run.measured.links)
    if (use.name == name) return use;
  FAIL("no link " << name);
  return run.measured.links.front();
}

double capacity_of(const Run& run, const std::string& name) {
  const auto& platform = run.scenario.platform;
  for (std::size_t i = 0; i < platform.resources.size(); ++i)
    if (platform.name_of(ResourceId{i}) == name) return platform.resources[i].capacity;
  return 0;
}

void check_counters(const Run& run, const TraceView& trace) {
  const auto step = trace.reported();
  std::size_t links = 0;
  for (const auto& [full_name, series] : trace.counters()) {
    const auto first = full_name.find(" | ") + 3;
    const auto name = full_name.substr(first, full_name.rfind(" | ") - first);
    CAPTURE(full_name);
    if (name == "rank 0 GPU busy") {
      const auto kernels = run.measured.metrics.compute + run.measured.metrics.optimizer;
      CHECK(std::abs(integral(series, step) / 100 - kernels.value()) <= microsecond);
    }
    if (name.ends_with(" GPU busy") || full_name.ends_with("neighbours")) continue;
    ++links;
    const auto link = name.substr(0, name.find(" (and "));
    const auto capacity = capacity_of(run, link);
    // Every time may be off by half a nanosecond.
    const auto rounding = 1e-9 * capacity * static_cast<double>(series.size());
    const auto bytes = use_of(run, link).bytes.value();
    CHECK(std::abs(integral(series, step) / 100 * capacity - bytes) <= 1e-6 * bytes + rounding);
  }
  CHECK(links <= 8);
  CHECK((links == 0) == run.measured.links.empty());
}

}  // namespace

TEST_CASE("traces are valid for Perfetto's importer and agree with report.json to the microsecond",
          "[report][trace]") {
  const auto pictured = GENERATE(from_range(pictured_runs()));
  CAPTURE(pictured.what);
  const auto run = simulate(scenario_of(pictured));
  const auto trace = trace_of(run);

  CHECK(trace_problems(trace.json()) == std::vector<std::string>{});
  check_parts(run.measured.metrics, trace);
  check_counters(run, trace);
  const auto collectives = count(trace, [](const auto& slice) { return slice.track == "NCCL"; });
  const auto alone = run.workload.ranks == 1;  // a collective of one rank takes no time
  CHECK(collectives == (alone ? 0 : static_cast<std::size_t>(run.measured.metrics.collectives)));
}

TEST_CASE("an arrow leads from the last gradient of each bucket to its collectives, on every rank",
          "[report][trace]") {
  const auto pictured = GENERATE(from_range(pictured_runs()));
  CAPTURE(pictured.what);
  const auto run = simulate(scenario_of(pictured));
  const auto trace = trace_of(run);

  std::map<std::pair<std::int64_t, std::int64_t>, SeenSlice> by_start;  // by thread and date
  const auto slices = trace.events("X");
  for (std::size_t i = 0; i < slices.size(); ++i)
    by_start[{slices[i]["tid"], trace.slices()[i].when.first}] = trace.slices()[i];
  const auto slice_at = [&](const nlohmann::json& event) {
    return std::prev(by_start.upper_bound({event["tid"], imported_ns(event["ts"])}))->second;
  };
  const auto starts = trace.events("s");
  const auto ends = trace.events("f");
  std::set<std::tuple<int, int, int>> begun;  // rank, step and bucket
  REQUIRE(starts.size() == ends.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto from = slice_at(starts[i]);
    const auto to = slice_at(ends[i]);
    const int bucket = to.args["bucket"];
    CHECK(to.track == "NCCL");
    CHECK(from.rank == to.rank);
    CHECK(from.args["step"] == to.args["step"]);
    CHECK(starts[i]["name"] == fmt::format("bucket {}", bucket));
    if (begun.insert({to.rank, to.args["step"], bucket}).second) {
      CHECK(from.track == "compute");
      const auto& program = run.workload.first_program();
      const auto& filled_by =
          program.tasks[static_cast<std::size_t>(program.units[static_cast<std::size_t>(bucket)].filled_by)];
      if (std::get<Kernel>(filled_by.work).work > Seconds{}) {
        CHECK(from.name == filled_by.name);
        CHECK(from.args["bucket"] == bucket);
      } else {
        CHECK(from.category == "backward");
      }
    } else {
      CHECK(from.track == "NCCL");
      CHECK(from.args["bucket"] == bucket);
    }
  }
  std::size_t reduces = 0;
  for (const auto& slice : trace.slices()) reduces += slice.track == "NCCL" && slice.args.contains("bucket");
  CHECK(starts.size() == reduces);
}

TEST_CASE("phases enclose the slices of their step", "[report][trace]") {
  const auto pictured = GENERATE(from_range(pictured_runs()));
  CAPTURE(pictured.what);
  const auto trace = trace_of(simulate(scenario_of(pictured)));

  std::vector<SeenSlice> tasks;
  std::vector<SeenSlice> phases;
  for (const auto& slice : trace.slices()) {
    if (slice.rank != 0 || slice.track == "CPU launch" || slice.name.starts_with("background copy")) continue;
    (slice.track == "phases" ? phases : tasks).push_back(slice);
  }
  const auto belongs = [](const SeenSlice& task, const SeenSlice& phase) {
    return phase.name == task.category && phase.args["step"] == task.args["step"] &&
           phase.when.first <= task.when.first && task.when.second <= phase.when.second;
  };
  for (const auto& task : tasks) {
    const auto around =
        std::ranges::count_if(phases, [&](const auto& phase) { return belongs(task, phase); });
    if (around != 1) FAIL(task.name << " lies in " << around << " phases");
  }
  for (const auto& phase : phases) {
    Stretch inside{std::numeric_limits<std::int64_t>::max(), 0};
    for (const auto& task : tasks) {
      if (!belongs(task, phase)) continue;
      inside = {std::min(inside.first, task.when.first), std::max(inside.second, task.when.second)};
    }
    CHECK(inside == phase.when);
  }
}

TEST_CASE("a step has one phase of each kind, and micro-steps have their own", "[report][trace]") {
  const auto* micro_steps = GENERATE("1", "3");
  const auto run = simulate(
      scenario_of({"",
                   "article/g6e",
                   {{"job.gpus", "2"}, {"job.accumulate", micro_steps}, {"strategy.bucket_cap", "25 MiB"}}}));
  const auto trace = trace_of(run);

  std::map<std::string, int> phases;
  for (const auto& slice : trace.slices())
    if (slice.rank == 0 && slice.track == "phases") ++phases[slice.name];
  const int steps = run.workload.steps;
  const int each = std::stoi(micro_steps) * steps;
  CHECK(phases == std::map<std::string, int>{{"input", each},
                                             {"forward", each},
                                             {"backward", each},
                                             {"communication", steps},
                                             {"optimizer", steps}});
}

TEST_CASE("steps follow one another from the start of the run", "[report][trace]") {
  const auto run = simulate(scenario_of({"", "article/g6e", {{"steps", "3"}, {"job.gpus", "2"}}}));
  const auto trace = trace_of(run);

  std::vector<std::string> names;
  std::int64_t before = 0;
  for (const auto& slice : trace.slices()) {
    if (slice.track != "steps") continue;
    CHECK(slice.when.first == before);
    before = slice.when.second;
    names.push_back(slice.name);
  }
  CHECK(names == std::vector<std::string>{"step 0", "step 1", "step 2, reported"});
  CHECK(near(run.timeline.makespan(), before));
}

TEST_CASE("with prefetches the counters carry what the steady state carries", "[report][trace]") {
  const auto run = simulate(
      scenario_of({"", "h200-4x/vit_l_32", {{"input.background_copy", "500 MB"}, {"job.gpus", "2"}}}));
  const auto trace = trace_of(run);

  CHECK(trace_problems(trace.json()) == std::vector<std::string>{});
  check_parts(run.measured.metrics, trace);
  std::size_t checked = 0;
  for (const auto& [name, series] : trace.counters()) {
    if (name.find("memory") == std::string::npos) continue;
    const auto first = name.find(" | ") + 3;
    const auto link = name.substr(first, name.find(" memory") + 7 - first);
    const auto bytes = use_of(run, link).bytes.value();
    CHECK(integral(series, trace.reported()) / 100 * capacity_of(run, link) == Approx(bytes).epsilon(1e-3));
    ++checked;
  }
  CHECK(checked > 0);
}
