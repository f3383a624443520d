// SPDX-License-Identifier: Apache-2.0
#include "sim/run/simulate.hpp"

#include "sim/engine/engine.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/measure.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/step_range.hpp"
#include "sim/run/trust.hpp"

namespace gradway {

Run simulate(Scenario scenario, std::string_view engine_name, FoldRanks fold, const Watch& watch) {
  tell(watch, "planning the step");
  const auto costs = compute_costs(scenario);
  auto workload = plan(scenario, costs);
  tell(watch, "laying collectives over the links");
  const CollectiveLowering collectives{scenario};
  tell(watch, "looking for ranks that do the same");
  auto lowered = lower(workload, scenario, collectives, fold);
  const auto chosen = choose_engine(engine_name, lowered.ops);
  tell(watch, "simulating");
  auto timeline = chosen.engine->watched_run(scenario.platform, lowered.ops, watch);
  tell(watch, "checking and measuring");
  check(timeline, lowered.ops);
  check_amounts(timeline, lowered.ops, scenario.platform);
  auto measured = measure(scenario, workload, lowered, timeline);
  auto trust = what_it_rests_on(scenario, costs, collectives, measured.memory);
  const auto range = step_range(measured.metrics, trust.grounds);
  return {.scenario = std::move(scenario),
          .engine = std::string{chosen.name},
          .workload = std::move(workload),
          .ops = std::move(lowered.ops),
          .folding = std::move(lowered.folding),
          .timeline = std::move(timeline),
          .measured = std::move(measured),
          .range = range,
          .basis = std::move(trust.basis),
          .warnings = std::move(trust.warnings)};
}

}  // namespace gradway
