// SPDX-License-Identifier: Apache-2.0
#include "sim/run/simulate.hpp"

#include "sim/engine/engine.hpp"
#include "sim/lower/lower.hpp"
#include "sim/metrics/measure.hpp"
#include "sim/plan/plan.hpp"
#include "sim/run/trust.hpp"

namespace gradway {

Run simulate(const Scenario& scenario, std::string_view engine_name) {
  const auto costs = compute_costs(scenario);
  auto workload = plan(scenario, costs);
  const CollectiveLowering collectives{scenario};
  auto ops = lower(workload, scenario, collectives);
  const auto chosen = choose_engine(engine_name, ops);
  auto timeline = chosen.engine->run(scenario.platform, ops);
  check(timeline, ops);
  auto measured = measure(scenario, workload, ops, timeline);
  auto trust = what_it_rests_on(scenario, costs, collectives);
  return {scenario,
          std::string{chosen.name},
          std::move(workload),
          std::move(ops),
          std::move(timeline),
          std::move(measured),
          std::move(trust.basis),
          std::move(trust.warnings)};
}

}  // namespace gradway
