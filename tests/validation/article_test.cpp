// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <map>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};
const std::string folder = std::string{GRADWAY_SOURCE_DIR} + "/scenarios/article/";

Metrics step(const std::string& machine, const std::vector<Override>& set) {
  return simulate(load_scenario(folder + machine + ".yaml", set, data)).measured.metrics;
}

double ms(const std::string& machine, const std::vector<Override>& set) {
  return step(machine, set).step_time.value() * 1e3;
}

const Override view{"strategy.gradient_as_bucket_view", "true"};
const Override bf16{"strategy.comm_hook", "bf16"};
const Override powersgd{"strategy.comm_hook", "powersgd"};
Override cap(const char* size) {
  return {"strategy.bucket_cap", size};
}

}  // namespace

TEST_CASE("every figure that the article states is met within 5 %, and within 3 % on average",
          "[validation]") {
  const auto cases = load_cases(folder + "cases.yaml", data);
  REQUIRE(cases.cases.size() == 14);
  double sum = 0;
  for (const auto& row : cases.cases) {
    const auto predicted =
        simulate(load_scenario(row.scenario_file, row.set, data)).measured.metrics.step_time;
    const auto error = predicted / row.measured - 1;
    CAPTURE(row.name, predicted.value(), row.measured.value());
    CHECK(std::abs(error) < 0.05);
    sum += std::abs(error);
  }
  CHECK(sum / static_cast<double>(cases.cases.size()) < 0.03);
}

TEST_CASE("on the g6e bf16 helps and PowerSGD helps most", "[validation]") {
  const auto plain = ms("g6e", {view});
  const auto half = ms("g6e", {view, bf16});
  const auto low_rank = ms("g6e", {view, powersgd});
  CHECK(half < 0.7 * plain);
  CHECK(low_rank < 0.5 * half);
}

TEST_CASE("PowerSGD is better with one bucket than with several", "[validation]") {
  const auto one = ms("g6e", {view, powersgd});
  for (const auto* size : {"25 MiB", "100 MiB", "500 MiB"})
    CHECK(ms("g6e", {view, powersgd, cap(size)}) > one);
}

TEST_CASE("on the p4d bf16 costs more in casts than it saves on the links", "[validation]") {
  CHECK(ms("p4d", {view, bf16}) > ms("p4d", {view}));
}

TEST_CASE("100 MB buckets give 11 all-reduces", "[validation]") {
  CHECK(step("p4d", {cap("100 MiB")}).collectives == 11);
}

TEST_CASE("the L40S wins on one GPU and loses on eight", "[validation]") {
  const std::vector<Override> one{{"job.gpus", "1"}, {"strategy.kind", "none"}};
  CHECK(ms("p4d", one) / ms("g6e", one) == Approx(1.72).epsilon(0.01));
  CHECK(ms("g6e", {}) > 3 * ms("p4d", {}));
}

TEST_CASE("both engines predict the article alike", "[validation]") {
  const auto scenario =
      load_scenario(folder + GENERATE("g6e.yaml", "p4d.yaml"), {view, bf16, cap("100 MiB")}, data);
  const auto fluid = simulate(scenario, "fluid").measured.metrics.step_time;
  const auto simgrid = simulate(scenario, "simgrid").measured.metrics.step_time;
  CHECK(fluid.value() == Approx(simgrid.value()).epsilon(1e-9));
}
