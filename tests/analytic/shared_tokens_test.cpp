// SPDX-License-Identifier: Apache-2.0
// Context and expert parallelism against their closed forms: one layer, whose attention or experts alone take
// time, on a star of ideal links.
#include <catch2/catch.hpp>

#include <algorithm>

#include "sim/engine/engine.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/lower.hpp"
#include "sim/plan/plan.hpp"
#include "sim/workload/decoder.hpp"
#include "sim/workload/eager/eager.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr double rate = 100e9;  // bytes a second, of a link
constexpr double f = 1e-3;      // a step of attention forward, or an expert's products
constexpr double b = 2.5e-3;    // and backward
constexpr int tokens = 1024;
constexpr int batch = 2;

Scenario one_layer(int ranks, Framework framework = Framework::pytorch) {
  PlatformDescription description;
  description.name = "star";
  description.collectives = CollectiveRules::ideal;
  description.hardware = GeneratedPlatform{.topology = GeneratedPlatform::Topology::star,
                                           .bandwidth = BytesPerSecond{rate},
                                           .latency = {},
                                           .uplink_bandwidth = {}};
  Scenario scenario;
  scenario.platform = build_platform(description, ideal_gpu(), ranks);
  scenario.platform.gpu_models.front().compute_capability = 90;  // that has attention in one kernel
  scenario.platform.gpu_models.front().peak.fill(FlopsPerSecond{100e12});
  DecoderShape shape{.layers = 1, .heads = 16, .hidden = 1024, .vocabulary = 512, .sequence = tokens};
  shape.mlp = 2048;
  shape.kv_heads = 8;
  shape.bias = false;
  shape.norm = DecoderShape::Norm::rms_norm;
  shape.positions = DecoderShape::Positions::none;
  shape.activation = DecoderShape::Activation::swiglu;
  shape.experts = Experts{.number = 16, .top_k = 2, .mlp = 512};
  scenario.model.run = decoder(shape);
  scenario.model.tokens_per_sample = tokens;
  scenario.model.experts = {16, 512};
  EagerSettings settings;
  settings.megatron = framework == Framework::megatron;
  Eager eager{settings};
  scenario.model.run(eager);
  scenario.model.layers = eager.take_layers();
  scenario.job.framework = framework;
  scenario.job.gpus = ranks;
  scenario.job.batch_per_gpu = batch;
  scenario.job.precision = Precision::bf16;
  scenario.job.state_dtype = Number::bf16;
  scenario.job.strategy = NoExchange{};
  return scenario;
}

/// Costs in which only layers whose names end in `ending` take time, the same for each part between
/// exchanges.
/// @param last_backward whether the last part of the backward pass takes time, too
double step_of(const Scenario& scenario, const std::string& layer, bool last_backward, const char* engine) {
  auto costs = compute_costs(scenario);
  costs.operation = {};
  costs.optimizer = {};
  const auto set = [&](std::vector<std::vector<ComputeCosts::Piece>>& pass, double time, bool all) {
    for (std::size_t i = 0; i < pass.size(); ++i) {
      const bool takes_time = scenario.model.layers[i].name.ends_with(layer);
      for (auto& piece : pass[i]) {
        const bool counts = takes_time && (all || &piece != &pass[i].back());
        piece.time = Seconds{counts && piece.launches > 0 ? time : 0};
      }
    }
  };
  set(costs.forward_pieces, f, true);
  set(costs.backward_pieces, b, last_backward);
  const auto workload = plan(scenario, costs);
  check(workload);
  const Communicators communicators{workload, scenario};
  const auto lowered = lower(workload, scenario, communicators);
  return choose_engine(engine).engine->run(scenario.platform, lowered.ops).makespan().value();
}

Approx closed(double seconds) {
  return Approx(seconds).epsilon(tolerance::closed_form);
}

/// Keys and values of a rank's tokens, bytes.
double kv(int ranks) {
  return 2.0 * batch * tokens / ranks * 8 * 64 * 2;
}

}  // namespace

TEST_CASE("a ring of context ranks takes the longer of attention and transfer in each step",
          "[analytic][context]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int c = GENERATE(2, 4, 8);
  const bool is_long = GENERATE(false, true);
  auto scenario = one_layer(c, Framework::megatron);
  scenario.job.layout.context = c;
  // So that a transfer takes a third of a step of attention, or twice as long.
  scenario.job.batch_per_gpu = static_cast<int>(batch * (is_long ? 2 : 0.3) * f / (kv(c) / rate));
  const double x = kv(c) / batch * scenario.job.batch_per_gpu / rate;
  CAPTURE(engine, c, x);
  REQUIRE((x > f) == is_long);
  const double forward = f + (c - 1) * std::max(f, x);
  const double backward = 2 * std::max(b, x) + (c - 2) * std::max(b, 2 * x);
  CHECK(step_of(scenario, ".sdpa", false, engine) == closed(forward + backward));
}

TEST_CASE("attention waits for gathered keys and values, and their gradients are scattered",
          "[analytic][context]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int c = GENERATE(2, 4);
  auto scenario = one_layer(c, Framework::megatron);
  scenario.job.layout.context = c;
  scenario.job.layout.context_method = ContextMethod::all_gather;
  const double gather = (c - 1) * kv(c) / rate;
  CHECK(step_of(scenario, ".sdpa", true, engine) == closed(gather + f + gather + b + gather));
}

TEST_CASE("Ulysses exchanges queries, keys, values and outputs all to all", "[analytic][context]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int c = GENERATE(2, 4);
  auto scenario = one_layer(c);
  scenario.job.layout.context = c;
  scenario.job.layout.context_method = ContextMethod::all_to_all;
  const double queries = static_cast<double>(batch) * tokens / c * 16 * 64 * 2;
  CHECK(step_of(scenario, "no layer", true, engine) ==
        closed(2 * (2 * queries + kv(c)) * (c - 1) / c / rate));
}

TEST_CASE("tokens go to their experts and back by all-to-all in both passes", "[analytic][experts]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const int ep = GENERATE(2, 4, 8);
  const double imbalance = GENERATE(1.0, 1.5);
  const auto framework = GENERATE(Framework::pytorch, Framework::megatron);
  auto scenario = one_layer(ep);
  scenario.job.layout.expert = ep;
  scenario.job.layout.expert_imbalance = imbalance;
  scenario.job.framework = framework;
  CAPTURE(engine, ep, imbalance, name_of(framework));
  const double away = (ep - 1.0) / ep / rate;
  const double rows = batch * std::ceil(tokens * 2 * imbalance);
  double exchanged = 4 * rows * 1024 * 2 * away;
  if (framework == Framework::megatron) {
    exchanged += 2 * rows * 4 * away;       // shares of the rows, and their gradients
    exchanged += (ep - 1) * 16 * 8 / rate;  // counts, gathered
  } else {
    exchanged += 16 * 8 * away;  // counts, all to all
  }
  // Two grouped products, each a layer.
  CHECK(step_of(scenario, ".fc1", true, engine) == closed(f + b + exchanged));
  scenario.job.layout.expert_imbalance = 1;
  scenario.job.layout.expert_capacity_factor = 1.25;
  const double padded = batch * tokens * 2 * 1.25;
  const double shares = framework == Framework::megatron ? 2 * padded * 4 * away : 0;
  CHECK(step_of(scenario, ".fc1", true, engine) == closed(f + b + 4 * padded * 1024 * 2 * away + shares));
}
