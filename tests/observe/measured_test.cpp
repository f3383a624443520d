// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "observe/measured/measured_step.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/config.hpp"
#include "sim/study/ask/ask.hpp"

using namespace gradway;
using Catch::Matchers::Contains;

namespace {

Run run_of(const std::vector<Override>& set = {}) {
  return ask(load_scenario("article/g6e", set, DataPath{{GRADWAY_SOURCE_DIR}}));
}

}  // namespace

TEST_CASE("times, rates and lines of logs are a step of the scenario", "[measured]") {
  const auto run = run_of();
  CHECK(read_measured_step("2.31 s", run).time == 2.31_s);
  CHECK(read_measured_step("iter 3: loss 3.0, time 2310.0ms, mfu 41%", run).time.value() == Approx(2.31));
  CHECK(read_measured_step("0.5 it/s", run).time == 2.0_s);
  const auto samples = run.scenario.job.samples();
  CHECK(read_measured_step("128 samples/s", run).time.value() == Approx(samples / 128));
  CHECK_THROWS_WITH(read_measured_step("2.31", run),
                    Contains("'--measured 2.31' has no unit") && Contains("write '2.31 s'"));
  CHECK_THROWS_WITH(read_measured_step("slow", run), Contains("'--measured slow' is no step time"));
}

TEST_CASE("a step is called slow only by kernels of its GPU", "[measured]") {
  auto run = run_of();
  const auto verdict = [&](double factor) {
    return verdict_of({factor * run.measured.metrics.step_time, 1, {}, {}}, run);
  };
  run.step_basis.compute = Basis::measured;
  CHECK(verdict(1.1) == StepVerdict::expected);
  CHECK(verdict(1.18) == StepVerdict::inside);
  CHECK(verdict(3) == StepVerdict::slow);
  CHECK(verdict(0.3) == StepVerdict::fast);
  for (const auto basis : {Basis::moved, Basis::nominal}) {
    run.step_basis.compute = basis;
    CHECK(verdict(3) == StepVerdict::undecided);
  }
}

TEST_CASE("a step that a cause makes longer has this cause first", "[measured]") {
  const auto run = run_of();
  MeasuredStep healthy{run.measured.metrics.step_time, 1, {}};
  find_causes(healthy, run, "auto", 2);
  CHECK(healthy.causes.empty());
  for (const auto& [key, value, name] : {std::tuple{"faster.host_memory", "0.5", "slow_host_memory_0.5"},
                                         std::tuple{"job.slow_gpu", "2", "straggler_2"}}) {
    CAPTURE(name);
    const auto slow = run_of({{key, value}});
    MeasuredStep measured{slow.measured.metrics.step_time, 1, {}};
    find_causes(measured, run, "auto", 2);
    REQUIRE(measured.causes.size() > 2);
    // A slow GPU and slow GPUs give the same step.
    std::vector<std::string> first;
    for (std::size_t i = 0; i < 3; ++i) first.push_back(measured.causes[i].change.name);
    CHECK_THAT(first, Catch::VectorContains(std::string{name}));
  }
}
