// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

TEST_CASE("the scale scenarios give their closed forms within 0.1 %", "[validation]") {
  struct Row {
    const char* file;
    const char* gpus;
    double ms;
  };
  const auto row = GENERATE(Row{"ddp-24", "8", 78.757}, Row{"ddp-24", "64", 79.762},
                            Row{"ddp-24", "256", 84.932}, Row{"ring-all-reduce", "8", 37.588},
                            Row{"ring-all-reduce", "64", 42.342}, Row{"ring-all-reduce", "256", 43.037});
  CAPTURE(row.file, row.gpus);
  const auto file = std::string{GRADWAY_SOURCE_DIR} + "/scenarios/scale/" + row.file + ".yaml";
  const auto scenario = load_scenario(file, {{"job.gpus", row.gpus}}, {{GRADWAY_SOURCE_DIR}});
  CHECK(simulate(scenario).measured.metrics.step_time.value() * 1e3 == Approx(row.ms).epsilon(1e-3));
}

TEST_CASE("two rings that share an uplink take the time that the share explains", "[validation]") {
  const auto step_ms = [](const char* platform) {
    const auto file = std::string{GRADWAY_SOURCE_DIR} + "/scenarios/scale/pod-1024.yaml";
    const auto scenario = load_scenario(file, {{"platform", platform}}, {{GRADWAY_SOURCE_DIR}});
    return simulate(scenario).measured.metrics.step_time.value() * 1e3;
  };
  // 8 rings of 1,024 GPUs leave each node by its 8 NICs. Each hop carries 2 x 1023/1024 of an eighth of 1200
  // MB: at 50 GB/s with full uplinks, at 25 GB/s where two rings share one of 50 GB/s.
  const double hop_mb = 2.0 * 1023 / 1024 * 1200 / 8;
  CHECK(step_ms("synthetic-pod-1024") - step_ms("synthetic-pod-1024-full") ==
        Approx(hop_mb / 25 - hop_mb / 50).epsilon(1e-6));
}
