// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers against our own measurement on one H100: 2026-11-22, PyTorch 2.11, no other kernels
// beside them.
#include <catch2/catch.hpp>

#include <string>

#include "sim/compute/optimizer_time.hpp"
#include "sim/config/config.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

Scenario gpt_on_h100(const std::string& optimizer, const std::string& dtype) {
  return load_scenario("h200-2x/gpt_1b3",
                       {{"model", "gpt_1b3"},
                        {"platform", "hgx-8x-h100"},
                        {"job.gpus", "1"},
                        {"job.precision", "bf16"},
                        {"job.state_dtype", dtype},
                        {"strategy", "{kind: none}"},
                        {"optimizer", optimizer}},
                       DataPath{{GRADWAY_SOURCE_DIR}});
}

/// Of the GPT that was measured; the shipped one has twice as many positions.
constexpr double measured_parameters = 1416744960;

/// A model of one weight, which it repeats in no blocks.
Model one_matrix(std::int64_t rows, std::int64_t columns) {
  Model model;
  Layer layer;
  layer.name = "fc";
  layer.parameters.push_back({"fc.weight", {rows, columns}});
  model.layers.push_back(layer);
  return model;
}

}  // namespace

TEST_CASE("steps of optimizers take as long as measured", "[validation]") {
  struct Row {
    const char* optimizer;
    const char* dtype;
    double milliseconds;
  };
  const auto row = GENERATE(
      Row{"sgd", "fp32", 6.466}, Row{"sgd_momentum", "fp32", 17.13}, Row{"adamw", "fp32", 42.68},
      Row{"adamw_fused", "fp32", 15.43}, Row{"lion", "fp32", 40.66}, Row{"sgd", "bf16", 3.372},
      Row{"sgd_momentum", "bf16", 9.161}, Row{"adamw", "bf16", 23.81}, Row{"adamw_fused", "bf16", 9.075});
  const auto scenario = gpt_on_h100(row.optimizer, row.dtype);
  const auto more = static_cast<double>(scenario.model.parameter_count()) / measured_parameters;
  CAPTURE(row.optimizer, row.dtype);
  CHECK(optimizer_time(scenario).value() * 1e3 == Approx(row.milliseconds * more).epsilon(0.06));
}

TEST_CASE("Muon's step of a matrix takes as long as measured", "[validation]") {
  struct Row {
    std::int64_t rows;
    std::int64_t columns;
    double milliseconds;
  };
  // Smaller ones took the CPU longer than the GPU.
  const auto row = GENERATE(Row{6144, 2048, 1.371}, Row{8192, 2048, 1.754}, Row{2048, 8192, 1.580},
                            Row{4096, 4096, 3.367}, Row{16384, 4096, 11.02}, Row{50304, 2048, 9.494});
  const auto scenario = gpt_on_h100("muon", "fp32");
  const auto model = one_matrix(row.rows, row.columns);
  CAPTURE(row.rows, row.columns);
  CHECK(optimizer_time(RankScenario{scenario, model}, Optimizer::muon, 1).value() * 1e3 ==
        Approx(row.milliseconds).epsilon(0.15));
}

TEST_CASE("optimizers keep as much as measured, and hold as much more during their step", "[validation]") {
  const auto model = gpt_on_h100("sgd", "fp32").model;
  const auto stepped = Bytes{4.0 * static_cast<double>(model.parameter_count())};
  const auto memory = [&](Optimizer optimizer) { return optimizer_memory(model, optimizer, stepped, 1); };
  const auto all = static_cast<double>(model.parameter_count());
  const auto more = all / measured_parameters;
  CHECK(memory(Optimizer::sgd).state == 0_B);
  CHECK(memory(Optimizer::sgd_momentum).state.value() == Approx(5666979840 * more));
  CHECK(memory(Optimizer::lion).state.value() == Approx(5666979840 * more));
  CHECK(memory(Optimizer::adamw).state.value() == Approx(11333960852 * more).epsilon(1e-6));
  CHECK(memory(Optimizer::adamw).transient.value() == Approx(5669076992 * more).epsilon(1e-3));
  CHECK(memory(Optimizer::adamw_fused).transient == 0_B);
  CHECK(memory(Optimizer::adamw_8bit).state.value() == Approx(2.03 * all));
  // Managed memory is not PyTorch's. Adafactor holds two fp32 tensors of the size of the largest parameter.
  CHECK(memory(Optimizer::paged_adamw_8bit).state == 0_B);
  CHECK(memory(Optimizer::adafactor).transient == Bytes{8.0 * 50304 * 2048});
  // Muon's momentum for the blocks, AdamW's two moments for two embeddings, the head and all vectors.
  const auto blocks = 24.0 * 12 * 2048 * 2048;
  CHECK(memory(Optimizer::muon).state.value() == Approx(4 * blocks + 8 * (all - blocks)));
}
