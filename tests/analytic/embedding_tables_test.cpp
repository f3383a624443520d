// SPDX-License-Identifier: Apache-2.0
// Embedding tables that ranks divide: what they exchange, when a step waits for it, and what they hold.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/tolerances.hpp"
#include "tests/support/world_communicator.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

constexpr int ranks = 4;
constexpr int batch = 1024;
constexpr int tables = 8;
constexpr int width = 64;
constexpr int lookups = 5;
constexpr double rows = 1000;

/// A bottom layer, the interaction and a top layer with 8 equal tables. No gradients are reduced.
Scenario with_tables(Seconds bottom_forward, Seconds bottom_backward, TableSharding sharding) {
  auto scenario = ring_scenario(ranks,
                                {{"bottom", 1, bottom_forward, bottom_backward, 1000},
                                 {"interaction", 1, 1_ms, 2_ms, 0},
                                 {"top", 1, 1_ms, 2_ms, 1000}},
                                1_MB);
  scenario.model.layers[1].role = LayerRole::interaction;
  scenario.model.tables.width = width;
  scenario.model.tables.tables.assign(tables, {static_cast<std::int64_t>(rows), lookups});
  scenario.job.batch_per_gpu = batch;
  scenario.job.strategy = NoExchange{};
  scenario.job.layout.tables = sharding;
  return scenario;
}

using Calls = std::vector<std::pair<CollectiveKind, double>>;

Calls calls_of(const Scenario& scenario) {
  Calls calls;
  const auto workload = plan(scenario, compute_costs(scenario));
  for (const auto& task : workload.first_program().tasks)
    if (const auto* call = std::get_if<Call>(&task.work)) calls.emplace_back(call->kind, call->bytes.value());
  return calls;
}

}  // namespace

TEST_CASE("whole tables on ranks exchange batch x tables x width numbers in each direction", "[analytic]") {
  using enum CollectiveKind;
  const double indices = 8.0 * batch * tables * lookups;
  const double sums = 4.0 * batch * tables * width;
  CHECK(calls_of(with_tables(1_ms, 2_ms, TableSharding::table_wise)) ==
        Calls{{all_to_all, indices}, {all_to_all, sums}, {all_to_all, sums}});
}

TEST_CASE("rows on ranks add up a part of every sum of all ranks", "[analytic]") {
  using enum CollectiveKind;
  const double indices = 8.0 * batch * tables * lookups;
  const double sums = 4.0 * ranks * batch * tables * width;
  CHECK(calls_of(with_tables(1_ms, 2_ms, TableSharding::row_wise)) ==
        Calls{{all_to_all, indices}, {reduce_scatter, sums}, {all_gather, sums}});
}

TEST_CASE("only the bottom layer hides the exchanges of looked-up rows", "[analytic]") {
  const auto* engine = GENERATE("fluid", "simgrid");
  const auto sharding = GENERATE(TableSharding::table_wise, TableSharding::row_wise);
  const auto [forward, backward] = GENERATE(std::pair{10_us, 10_us}, std::pair{20_ms, 20_ms});
  CAPTURE(engine, name_of(sharding), forward.value());
  const auto scenario = with_tables(forward, backward, sharding);
  const WorldCommunicator lowering{scenario};
  std::vector<double> alone;
  for (const auto& [kind, bytes] : calls_of(scenario))
    alone.push_back(time_alone(*lowering, kind, Bytes{bytes}, scenario.platform, engine).value());
  REQUIRE(alone.size() == 3);
  // The interaction waits for the indices of the next batch, which the same communicator sends first.
  const double expected =
      std::max(alone[0] + alone[1], forward.value()) + 6e-3 + std::max(alone[2], backward.value());
  CHECK(simulate(scenario, engine).measured.metrics.step_time.value() ==
        Approx(expected).epsilon(tolerance::closed_form));
}

TEST_CASE("a rank holds its share of the tables, and a number per row for row-wise Adagrad", "[analytic]") {
  const auto sharding = GENERATE(TableSharding::table_wise, TableSharding::row_wise);
  auto scenario = with_tables(1_ms, 2_ms, sharding);
  const auto memory_of = [&] { return plan(scenario, compute_costs(scenario)).programs.front().memory; };
  scenario.job.optimizer = Optimizer::sgd;
  const double shared = rows * tables / ranks;
  const double dense = 4.0 * 2000;
  CHECK(memory_of().parameters.value() == Approx(dense + 4 * shared * width));
  CHECK(memory_of().optimizer_state.value() == 0);
  scenario.job.optimizer = Optimizer::adamw_fused;
  CHECK(memory_of().optimizer_state.value() == Approx(2 * dense + 4 * shared));
}

TEST_CASE("the rank of the hottest table has the most lookups unless rows are divided", "[analytic]") {
  EmbeddingTables of{{{1000, 1}, {1000, 100}, {1000, 3}, {1000, 2}, {1000, 6}}, 16};
  const auto whole = largest_share(of, TableSharding::table_wise, 2, 64);
  CHECK(whole.lookups == 100);
  CHECK(whole.columns == 4 * 16);  // the other rank has four tables
  CHECK(whole.rows == 4000);
  const auto divided = largest_share(of, TableSharding::row_wise, 2, 64);
  CHECK(divided.lookups == 56);
  CHECK(divided.columns == 5 * 16);
  CHECK(divided.rows == 2500);
  // 64 x 100 lookups of 1,000 rows leave exp(-6.4) of them untouched.
  CHECK(whole.touched == Approx(1000 * (1 - std::exp(-6.4))).epsilon(1e-12));
}
