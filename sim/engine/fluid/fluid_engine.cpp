// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/fluid/fluid_engine.hpp"

#include "sim/engine/fluid/fluid_clock.hpp"
#include "sim/engine/schedule/path_table.hpp"
#include "sim/engine/schedule/scheduler.hpp"

namespace gradway {

Timeline FluidEngine::run_with_progress(const Platform& platform, const OpGraph& graph,
                                        const ProgressCallback& on_progress) const {
  const PathTable paths{platform, graph};
  FluidClock clock{paths, graph.size()};
  Scheduler scheduler{graph, paths, clock};
  scheduler.settle(Seconds{0});
  for (auto date = clock.next(); date < Seconds::infinite() && !scheduler.all_ended(); date = clock.next()) {
    clock.advance(date, [&](OpId op) { scheduler.due(op); });
    scheduler.settle(clock.now());
    if (on_progress) report_progress(on_progress, "simulating", scheduler.share_ended());
  }
  return scheduler.take_timeline();
}

}  // namespace gradway
