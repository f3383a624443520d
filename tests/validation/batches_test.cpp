// SPDX-License-Identifier: Apache-2.0
// Steps of vit_l_32 on one GPU at batches that no anchor has, and what their intervals promise. Own
// measurement, 2026-11-21, PyTorch 2.11: medians of five means of 20 steps of torchvision's model with plain
// SGD.
#include <catch2/catch.hpp>

#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

Run one_gpu(const char* platform, int batch, bool only_smallest_anchor) {
  auto scenario = load_scenario("article/p4d",
                                {{"platform", platform},
                                 {"job.gpus", "1"},
                                 {"job.batch_per_gpu", std::to_string(batch)},
                                 {"strategy.kind", "none"}},
                                data);
  if (only_smallest_anchor)
    std::erase_if(scenario.model.anchors, [](const Anchor& one) { return one.batch != 32; });
  return simulate(scenario);
}

struct Row {
  const char* platform;
  int batch;
  Seconds measured;
};

}  // namespace

TEST_CASE("steps at two and four times the batch of their anchor are inside their interval", "[validation]") {
  const auto row = GENERATE(values<Row>({{"aws-p5en.48xlarge", 64, 157.15_ms},
                                         {"aws-p5en.48xlarge", 128, 294.65_ms},
                                         {"aws-p5.48xlarge", 64, 159.57_ms},
                                         {"aws-p5.48xlarge", 128, 300.02_ms}}));
  CAPTURE(row.platform, row.batch);
  const auto run = one_gpu(row.platform, row.batch, true);
  CHECK(run.range.low < row.measured);
  CHECK(run.range.high > row.measured);
  // ... which is not just wide.
  CHECK(run.range.high / run.range.low < 1.3);
  const auto error = run.measured.metrics.step_time / row.measured - 1;
  CHECK(error < 0.13);
  // With an anchor of its own batch it is met.
  CHECK(one_gpu(row.platform, row.batch, false).measured.metrics.step_time / row.measured ==
        Approx(1).epsilon(0.002));
}

TEST_CASE("the farther from the anchor's batch, the wider the interval", "[validation]") {
  double before = 0;
  for (const int batch : {32, 64, 128, 256}) {
    const auto run = one_gpu("aws-p5.48xlarge", batch, true);
    const auto width = run.range.high / run.measured.metrics.step_time - 1;
    CHECK(width > before);
    before = width;
  }
}
