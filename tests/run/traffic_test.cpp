// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

Scenario ring_of_two_nodes(const std::string& traffic) {
  return load_scenario("published/all-reduce",
                       {{"platform", "azure-nd96isr-h100-v5"},
                        {"job.gpus", "16"},
                        {"nccl.NCCL_ALGO", "Ring"},
                        {"strategy.size", "16 GiB"},
                        {"traffic", traffic}},
                       data);
}

double step(const std::string& traffic, const char* engine = "fluid", FoldRanks fold = FoldRanks::yes) {
  return simulate(ring_of_two_nodes(traffic), engine, fold).measured.metrics.step_time.value();
}

}  // namespace

TEST_CASE("a neighbour on one NIC slows the ring through it, by its load and weight", "[run]") {
  const auto with = [](const std::string& how) {
    return step("[{ from: node0.ib0, to: node1.ib0, " + how + " }]");
  };
  // Rings of 8 NICs end together: the slowest decides. Latencies are a thousandth of the step.
  const auto halved = with("load: 1");
  CHECK(with("load: 1, weight: 3") == Approx(2 * halved).epsilon(0.01));
  CHECK(with("load: 0.25") == Approx(0.5 / 0.75 * halved).epsilon(0.01));
  CHECK(with("rate: 9.3 GB/s") == Approx(0.5 / 0.8 * halved).epsilon(0.01));  // of 46.5 GB/s
  CHECK(step("[]") < 0.55 * halved);  // NCCL's channels take a little less than the wire has
}

TEST_CASE("traffic is the same in both engines, and with ranks that stand for others", "[run]") {
  const auto* traffic = "[{ from: node0.ib3, to: node1.ib3, load: 0.7, weight: 2 }]";
  const auto time = step(traffic);
  CHECK(step(traffic, "simgrid") == Approx(time).epsilon(1e-9));
  CHECK(step(traffic, "fluid", FoldRanks::no) == Approx(time).epsilon(1e-9));
}

TEST_CASE("a link that a neighbour shares is the bottleneck", "[run]") {
  const auto run = simulate(ring_of_two_nodes("[{ from: node0.ib0, to: node1.ib0, load: 1 }]"));
  const auto limit = std::get<bottleneck::Communication>(run.measured.bottleneck).limit;
  CHECK(std::get<bottleneck::FullLink>(limit) == bottleneck::FullLink{"node0.ib0 -> fabric", true});
}

TEST_CASE("traffic that starts after the first steps that are simulated costs its share, too", "[run]") {
  const auto with = [](const std::string& when) {
    return step("[{ from: node0.ib0, to: node1.ib0, load: 1, period: 20 s, " + when + " }]");
  };
  CHECK(with("start: 5 s, end: 8 s") == Approx(with("end: 3 s")).epsilon(1e-3));
}

TEST_CASE("traffic that comes and goes costs its share of the time", "[run]") {
  const std::string where = "[{ from: node0.ib0, to: node1.ib0, load: 1";
  const auto free = step("[]");
  const auto halved = step(where + " }]");
  const auto with = [&](double on, double period, const char* engine = "fluid") {
    const auto ms = [](double time) { return std::to_string(time * 1e3) + " ms"; };
    return step(where + ", end: " + ms(on) + ", period: " + ms(period) + " }]", engine);
  };
  // Rates add up over time: a step moves the same bytes at the mean rate.
  const auto mean = [&](double share) { return 1 / (share / halved + (1 - share) / free); };
  for (const auto share : {0.1, 0.25, 0.6}) {
    CAPTURE(share);
    CHECK(with(share * free / 20, free / 20) == Approx(mean(share)).epsilon(0.01));  // shorter than a step
    CHECK(with(share * free * 40, free * 40) == Approx(mean(share)).epsilon(0.01));  // many steps
  }
  const auto time = with(free * 5, free * 20);
  CHECK(with(free * 5, free * 20, "simgrid") == Approx(time).epsilon(1e-9));
}

TEST_CASE("a period that no run covers is refused after the first steps", "[run]") {
  int simulated = 0;
  const auto count = [&](std::string_view what, std::optional<double> done) {
    if (what == "simulating" && !done) ++simulated;
  };
  auto scenario = ring_of_two_nodes(
      "[{ from: node0.ib0, to: node1.ib0, load: 1, start: 1 ms, end: 3 ms, period: 1000 s }]");
  CHECK_THROWS_WITH(
      simulate(std::move(scenario), "auto", FoldRanks::yes, count),
      Catch::Contains("steps, the most that are simulated, do not cover two periods of 1000 s of a "
                      "neighbour's traffic evenly; set a shorter traffic.period"));
  CHECK(simulated <= 3);
}

TEST_CASE("traffic between parts that are not there is the user's error", "[run]") {
  const auto message = [](const std::string& traffic) {
    try {
      ring_of_two_nodes(traffic);
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{"no error"};
  };
  CHECK_THAT(message("[{ from: ib0, to: node1.ib0, load: 1 }]"),
             Catch::Contains("the platform 'azure-nd96isr-h100-v5' has no device 'ib0'") &&
                 Catch::Contains("did you mean 'node0.ib0'?"));
  CHECK_THAT(message("[{ from: fabric, to: fabric, load: 1 }]"),
             Catch::Contains("no path leads from 'fabric' to 'fabric'") &&
                 Catch::Contains("name two different devices"));
}
