// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "sim/config/config.hpp"
#include "tests/report/made_up_run.hpp"
#include "writers/kineto/kineto_trace.hpp"

using namespace gradway;
using namespace gradway::testing;
using Json = nlohmann::json;

namespace {

Json trace_of_rank(const Run& run, std::size_t rank) {
  std::ostringstream out;
  report::write_kineto_trace(out, run, report::Slices{run, {rank}}, rank);
  return Json::parse(out.str());
}

std::int64_t nanoseconds_of(const Json& event, const char* key) {
  return std::llround(event.at(key).get<double>() * 1e3);
}

}  // namespace

TEST_CASE("a Kineto trace has the events of a rank by category", "[report][trace]") {
  const auto trace = trace_of_rank(made_up_run(), 1);
  CHECK(trace.at("distributedInfo") == Json{{"backend", "nccl"}, {"rank", 1}, {"world_size", 2}});
  using Stretch = std::pair<std::int64_t, std::int64_t>;
  std::map<std::string, Stretch> found;
  for (const auto& event : trace.at("traceEvents")) {
    CHECK(event.at("ph") == "X");
    found[event.at("cat").get<std::string>() + ": " + event.at("name").get<std::string>()] = {
        nanoseconds_of(event, "ts"), nanoseconds_of(event, "ts") + nanoseconds_of(event, "dur")};
  }
  constexpr std::int64_t ms = 1'000'000;
  const std::map<std::string, Stretch> expected{{"user_annotation: ProfilerStep#0", {0, 10 * ms}},
                                                {"cpu_op: input copy", {0, 5000}},
                                                {"cuda_runtime: cudaMemcpyAsync", {0, 5000}},
                                                {"cpu_op: layer \"one\"", {5000, 5000}},
                                                {"cpu_op: bucket 0 all-reduce", {5000, 5000}},
                                                {"cpu_op: optimizer", {5000, 5000}},
                                                {"cuda_runtime: cudaLaunchKernel", {5000, 5000}},
                                                {"gpu_memcpy: Memcpy HtoD (Pinned -> Device)", {0, ms}},
                                                {"kernel: layer \"one\"", {ms, 6 * ms}},
                                                {"kernel: ncclKernel_AllReduce", {4 * ms, 9 * ms}},
                                                {"kernel: optimizer", {9 * ms, 10 * ms}}};
  CHECK(found == expected);
}

// Holistic Trace Analysis: events with a stream ran on the GPU; names with "ncclKernel" are communication,
// with "Memcpy" memory, all others compute; correlation ids link launches to kernels.
TEST_CASE("a Kineto trace has what Holistic Trace Analysis reads", "[report][trace]") {
  const std::filesystem::path source{GRADWAY_SOURCE_DIR};
  const auto run = simulate(load_scenario((source / "scenarios/article/g6e.yaml").string(),
                                          {{"strategy.bucket_cap", "100 MiB"}}, {{source}}),
                            "fluid");
  const auto trace = trace_of_rank(run, 3);
  std::map<std::int64_t, Json> launches;
  std::set<std::int64_t> launched;
  double reduced = 0;
  std::int64_t communication = 0;
  std::int64_t steps = 0;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("cat") == "cuda_runtime") launches[event.at("args").at("correlation")] = event;
    if (event.at("cat") == "user_annotation") ++steps;
  }
  for (const auto& event : trace.at("traceEvents")) {
    const auto& args = event.at("args");
    const bool on_gpu = event.at("cat") == "kernel" || event.at("cat") == "gpu_memcpy";
    CHECK(args.contains("stream") == on_gpu);
    if (!on_gpu) continue;
    CHECK(args.at("device") == 0);
    CHECK(launched.insert(args.at("correlation").get<std::int64_t>()).second);
    const auto launch = launches.find(args.at("correlation"));
    REQUIRE(launch != launches.end());
    CHECK(nanoseconds_of(launch->second, "ts") <= nanoseconds_of(event, "ts"));
    if (event.at("name").get<std::string>().find("ncclKernel") == std::string::npos) continue;
    communication += nanoseconds_of(event, "dur");
    CHECK(args.at("Collective name") == "allreduce");
    CHECK(args.at("Group size") == 8);
    CHECK(args.at("In msg nelems") == args.at("Out msg nelems"));
    reduced += args.at("In msg nelems").get<double>();
  }
  CHECK(launches.size() > 100);
  CHECK(steps == run.workload.steps);
  double bytes = 0;
  for (const auto& task : run.workload.first_program().tasks)
    if (const auto* call = std::get_if<Call>(&task.work)) bytes += call->bytes.value();
  CHECK(reduced == bytes * static_cast<double>(steps));
  CHECK(static_cast<double>(communication) ==
        Approx(run.measured.metrics.communication.value() * 1e9 * static_cast<double>(steps)).epsilon(1e-3));
}
