// SPDX-License-Identifier: Apache-2.0
// Steps of layers as large models have them, at the clocks that the power limit leaves: own measurement on
// one H100 of 700 W, 2026-11-22, PyTorch 2.11, parameters in bf16 but for the GPT, median of the second half
// of 10 s. Nothing was fitted to them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/cost/clocks.hpp"
#include "sim/run/simulate.hpp"

using namespace gradway;

namespace {

Run of_layers(const std::string& model, std::vector<Override> more) {
  std::vector<Override> set{{"model", model}, {"optimizer", "adamw_fused"}};
  set.insert(set.end(), more.begin(), more.end());
  const std::string source{GRADWAY_SOURCE_DIR};
  return simulate(load_scenario("unmeasured/h100", set,
                                DataPath{{source + "/tests/validation/data/large-layers", source}}));
}

}  // namespace

TEST_CASE("steps of large layers take as long as measured on a GPU at its power limit", "[validation]") {
  struct Row {
    const char* model;
    const char* batch;
    const char* parameters;
    const char* compile;
    double milliseconds;
  };
  const auto row = GENERATE(
      Row{"gpt_4096_8", "6", "fp32", "false", 277.75}, Row{"llama_4096_8", "2", "bf16", "false", 392.25},
      Row{"llama_4096_8", "2", "bf16", "true", 375.55}, Row{"llama_8192_2", "2", "bf16", "false", 357.16},
      Row{"llama_8192_2", "2", "bf16", "true", 350.70}, Row{"llama_5120_6", "4", "bf16", "false", 387.82});
  CAPTURE(row.model, row.compile);
  const auto run = of_layers(
      row.model,
      {{"job.batch_per_gpu", row.batch}, {"job.state_dtype", row.parameters}, {"job.compile", row.compile}});
  CHECK(run.measured.metrics.step_time.value() * 1e3 == Approx(row.milliseconds).epsilon(0.02));
}

TEST_CASE("a lower power limit makes steps longer, and waiting makes kernels faster") {
  const auto h100 = of_layers("llama_4096_8", {{"job.batch_per_gpu", "2"}, {"job.state_dtype", "bf16"}});
  const auto of_500_w = of_layers(
      "llama_4096_8", {{"platform", "limited"}, {"job.batch_per_gpu", "2"}, {"job.state_dtype", "bf16"}});
  CHECK(of_500_w.measured.metrics.step_time > h100.measured.metrics.step_time * 1.1);
  CHECK_THAT(h100.basis[1].statement, Catch::StartsWith("a power limit of 700 W lowers them"));

  // Two nodes wait long for each other's gradients on a slow network.
  const auto waiting = of_layers("llama_4096_8", {{"job.gpus", "16"},
                                                  {"job.batch_per_gpu", "2"},
                                                  {"strategy", "{kind: ddp}"},
                                                  {"faster.network", "0.055"}});
  const auto alone = of_layers("llama_4096_8", {{"job.batch_per_gpu", "2"}});
  const auto& metrics = waiting.measured.metrics;
  REQUIRE(metrics.exposed_communication / metrics.step_time > 0.1);
  const auto forward = [](const Run& run) {
    Seconds time{};
    for (const auto& task : run.workload.programs.front().tasks)
      if (const auto* kernel = std::get_if<Kernel>(&task.work); kernel && task.phase == Phase::forward)
        time += kernel->work;
    return time;
  };
  // For a moment of each long wait.
  CHECK(forward(waiting) < forward(alone));
  CHECK(forward(waiting) > forward(alone) * 0.95);
}

// Products of 8192 in bf16 on an H100 of 700 W, in bursts with pauses between: own measurement, 2026-11-23,
// PyTorch 2.11; the mean of a burst over that of a loop without pauses. The window, 80 ms, was read from the
// bursts of 0.1 and 0.2 s; the others tell whether it holds.
TEST_CASE("bursts of products take as long as measured, whatever the pauses", "[validation]") {
  struct Row {
    double on, off, of_steady;
  };
  const auto row =
      GENERATE(Row{0.01, 0.01, 0.880}, Row{0.02, 0.02, 0.885}, Row{0.02, 0.0066, 0.899},
               Row{0.05, 0.05, 0.889}, Row{0.05, 0.0165, 0.914}, Row{0.1, 0.1, 0.924}, Row{0.1, 0.033, 0.944},
               Row{0.2, 0.2, 0.963}, Row{0.2, 0.066, 0.961}, Row{0.5, 0.5, 0.969}, Row{0.5, 0.165, 0.961},
               Row{1, 1, 0.989}, Row{1, 0.33, 0.992}, Row{2, 2, 0.996}, Row{2, 0.66, 0.998});
  CAPTURE(row.on, row.off);
  const auto h100 = load_scenario("unmeasured/h100", {{"model", "gpt_124m"}}, DataPath{{GRADWAY_SOURCE_DIR}});
  auto gpu = h100.platform.gpu_models.front();
  gpu.power->tensor_cores = Watts{464};  // these products drew 907 W on this H100, at 0.80 of the peak
  const auto& power = *gpu.power;
  GpuLoad products;
  const auto large = operation("product bf16 nn", {8192, 8192, 8192});
  const auto measured = 1386_us;  // calibration/results/h100-kernels
  for (double on = 0; on < row.on; on += measured.value()) products.add(large, measured, gpu);
  const auto counts = std::min(row.off, longest_effective_wait(power, products).value());
  const auto steady = clock_slowdown(power, products, {});
  const auto with_pauses = clock_slowdown(power, products, {.idle = counts / (row.on * steady)});
  CHECK(with_pauses / steady == Approx(row.of_steady).epsilon(0.03));
}
