// SPDX-License-Identifier: Apache-2.0
// The search over the settings of strategies that shard: it finds what trying everything finds, ranks nothing
// that does not fit, and recomputes only where memory asks for it.
#include <algorithm>
#include <limits>

#include <catch2/catch.hpp>

#include "sim/compute/memory_range.hpp"
#include "sim/config/config.hpp"
#include "sim/study/parallel.hpp"
#include "sim/study/search/optimize.hpp"
#include "tests/support/sharded.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

const DataPath data{{GRADWAY_SOURCE_DIR}};

SearchResult search(const SearchSpace& space) {
  return optimize(space, "fluid", in_parallel(2));
}

SearchSpace all_settings(Scenario scenario) {
  SearchSpace space;
  space.settings = strategy_settings(scenario);
  space.jobs = {std::move(scenario)};
  return space;
}

/// A small decoder on one node of 8 GPUs, which hold as much as is said.
Scenario decoder(const std::string& kind, Bytes memory, bool recomputes = false) {
  auto scenario = load_scenario("sharded/llama2_7b",
                                {{"model", "gpt_124m"},
                                 {"job.batch_per_gpu", "16"},
                                 {"strategy", "{kind: " + kind + "}"},
                                 {"job.recompute", recomputes ? "full" : "none"}},
                                data);
  scenario.platform.gpu_models.front().memory = memory;
  return scenario;
}

SearchSpace with_recompute(const std::string& kind, Bytes memory) {
  auto space = all_settings(decoder(kind, memory));
  space.jobs.push_back(decoder(kind, memory, true));
  space.recompute = {{.without = 0, .with = 1}};
  return space;
}

/// Of all combinations of the values of settings, from one of them on.
double least_step(const SearchSpace& space, const Strategy& strategy, std::size_t from = 0) {
  auto scenario = space.jobs.front();
  if (from == space.settings.size()) {
    if (!is_consistent(strategy, scenario.job.gpus)) return std::numeric_limits<double>::infinity();
    scenario.job.strategy = strategy;
    const auto run = simulate(scenario, "fluid");
    return fits(scenario, run.measured.memory) ? run.measured.metrics.step_time.value()
                                               : std::numeric_limits<double>::infinity();
  }
  const auto& setting = space.settings[from];
  auto least = std::numeric_limits<double>::infinity();
  for (const auto& value : setting.values) {
    auto with = strategy;
    setting.assign(with, value.strategy);
    least = std::min(least, least_step(space, with, from + 1));
  }
  return least;
}

}  // namespace

TEST_CASE("the search of sharded settings finds the optimum of an exhaustive search", "[run][optimize]") {
  const auto strategy = GENERATE(Strategy{Fsdp{}}, Strategy{Fsdp1{}}, Strategy{Zero{.stage = 3}});
  const auto rows = GENERATE(20, 2000);  // kernels take longer, or gathers do
  const auto space = all_settings(sharded_ring(4, blocks_of_layers(6, 1_ms, 2_ms, rows), strategy));
  const auto found = search(space);
  REQUIRE(found.optimum);
  CHECK(found.optimum->fastest.metrics.step_time.value() ==
        Approx(least_step(space, strategy)).epsilon(1e-9));
  CHECK(found.left_out.empty());
}

TEST_CASE("the search of sharded settings on one node finds the optimum of an exhaustive search",
          "[run][optimize]") {
  const auto kind = GENERATE("fsdp", "fsdp1", "zero");
  const auto space = all_settings(decoder(kind, GENERATE(80_GB, 20_GB)));
  const auto found = search(space);
  REQUIRE(found.optimum);
  CHECK(found.optimum->fastest.metrics.step_time.value() ==
        Approx(least_step(space, space.jobs.front().job.strategy)).epsilon(1e-9));
}

TEST_CASE("what does not fit is listed with the reason, and never ranked", "[run][optimize]") {
  const auto kind = GENERATE("fsdp", "fsdp1", "zero");
  const auto memory_of = [](const BestOfValue& row) { return row.tried->memory; };
  const auto free = search(all_settings(decoder(kind, 80_GB))).optimum->best_of_values;
  const auto [least, most] = std::ranges::minmax(free, {}, memory_of);
  const auto memory = (memory_of(least) + memory_of(most)) / 2;
  const auto found = search(all_settings(decoder(kind, memory)));
  REQUIRE(found.optimum);
  REQUIRE_FALSE(found.left_out.empty());
  for (const auto& one : found.left_out) {
    CHECK(one.memory > memory);
    CHECK(one.failure_reason.find(" not fit: ") != std::string::npos);
  }
  CHECK(found.optimum->best.memory <= memory);
  CHECK(found.optimum->fastest.memory <= memory);
  for (const auto& row : found.optimum->best_of_values)
    if (row.tried) CHECK(row.tried->memory <= memory);
}

TEST_CASE("blocks are recomputed only where settings do not fit otherwise", "[run][optimize]") {
  const auto plenty = search(with_recompute("fsdp", 80_GB));
  REQUIRE(plenty.optimum);
  CHECK(plenty.optimum->best.scenario == 0);
  CHECK(plenty.simulated == search(all_settings(decoder("fsdp", 80_GB))).simulated);

  const auto needed = decoder("fsdp", 80_GB, true);
  const auto memory = 1.2 * simulate(needed, "fluid").measured.memory.needed();
  CHECK_FALSE(search(all_settings(decoder("fsdp", memory))).optimum);
  const auto tight = search(with_recompute("fsdp", memory));
  REQUIRE(tight.optimum);
  CHECK(tight.optimum->best.scenario == 1);
  CHECK_FALSE(tight.optimum->as_written.failure_reason.empty());
}

TEST_CASE("on a single rank the defaults are the best settings", "[run][optimize]") {
  const auto strategy = GENERATE(Strategy{Fsdp{}}, Strategy{Fsdp1{}});
  const auto found = search(all_settings(sharded_ring(2, blocks_of_layers(4, 1_ms, 2_ms, 0), strategy)));
  REQUIRE(found.optimum);
  CHECK(found.optimum->best.job.strategy == found.optimum->defaults.job.strategy);
  CHECK(found.optimum->reverted.empty());
}

TEST_CASE("of tied sharded settings the one with the fewest changes is recommended", "[run][optimize]") {
  const auto scenario = decoder(GENERATE("fsdp", "fsdp1", "zero"), 80_GB);
  const auto optimum = *search(all_settings(scenario)).optimum;
  const auto choice = [](const Answer& tried) { return tried.sample_choice(); };
  CHECK(are_tied(choice(optimum.best), choice(optimum.fastest)));
  for (const auto& [key, without] : optimum.reverted) {
    CAPTURE(key);
    // Ties are not transitive: what is tied with the best may still be slower than the fastest for sure.
    CHECK_FALSE(are_tied(choice(without), choice(optimum.fastest)));
  }
  for (const auto& row : optimum.best_of_values) {
    CAPTURE(row.setting, row.value);
    REQUIRE(row.tried);
    CHECK(row.tried->metrics.step_time >= optimum.fastest.metrics.step_time);
  }
}
