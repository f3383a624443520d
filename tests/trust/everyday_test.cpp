// SPDX-License-Identifier: Apache-2.0
// What is assumed of machines and programs that a scenario does not describe whole is said, and widens the
// interval.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

bool warns(const Run& run, std::string_view code) {
  return std::any_of(run.warnings.begin(), run.warnings.end(),
                     [&](const Warning& warning) { return warning.code == code; });
}

double width(const TimeRange& range) {
  return range.high / range.low;
}

}  // namespace

TEST_CASE("the rate of a TCP connection is assumed where the fabric does not give it", "[trust]") {
  const auto on = [](const char* platform, const char* gpus) {
    return load_scenario(
        "unmeasured/h100",
        {{"platform", platform}, {"job.gpus", gpus}, {"job.batch_per_gpu", "1"}, {"strategy.kind", "ddp"}},
        {{GRADWAY_SOURCE_DIR}});
  };
  auto scenario = on("gcp-a2-highgpu-8g", "16");
  scenario.platform.network->streams = 1;
  CHECK(scenario.platform.network->stream_rate->value() == 1.25e9);
  const auto assumed = simulate(scenario);
  CHECK(warns(assumed, "tcp-rate-assumed"));
  scenario.platform.network->assumes_stream_rate = false;
  scenario.platform.network->stream_rate = 12.5_GBps;
  const auto fast = simulate(scenario);
  CHECK_FALSE(warns(fast, "tcp-rate-assumed"));
  CHECK(fast.measured.metrics.step_time < 0.9 * assumed.measured.metrics.step_time);
  // One node has no network, and RDMA no connections of TCP.
  CHECK_FALSE(warns(simulate(on("gcp-a2-highgpu-8g", "8")), "tcp-rate-assumed"));
  CHECK_FALSE(on("aws-p5.48xlarge", "16").platform.network->stream_rate);
}

TEST_CASE("attention of transformers that the job does not name widens the interval", "[trust]") {
  const auto with = [](const char* attention, const char* implementation) {
    return simulate(load_scenario("unmeasured/h100",
                                  {{"model", "llama3_8b"},
                                   {"job.gpus", "1"},
                                   {"job.batch_per_gpu", "1"},
                                   {"job.sequence", "8192"},
                                   {"job.implementation", implementation},
                                   {"job.attention", attention}},
                                  {{GRADWAY_SOURCE_DIR}}));
  };
  const auto unnamed = with("auto", "huggingface");
  const auto named = with("flash", "huggingface");
  CHECK(warns(unnamed, "attention-not-named"));
  CHECK_FALSE(warns(named, "attention-not-named"));
  CHECK_FALSE(warns(with("auto", "auto"), "attention-not-named"));
  CHECK(unnamed.step_basis.attention_ratio > 1.5);
  CHECK(width(unnamed.range) > 1.2 * width(named.range));
  // It holds what the other implementation takes.
  CHECK(unnamed.range.high > with("composed", "huggingface").measured.metrics.step_time);
}
