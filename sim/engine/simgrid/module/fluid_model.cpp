// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/simgrid/module/fluid_model.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>

#include "sim/engine/fluid/fluid_clock.hpp"
#include "sim/engine/schedule/scheduler.hpp"

namespace gradway {

namespace {

/// Tells SimGrid when the next timer or flow is over, and goes there when SimGrid's clock has got there. The
/// dates are the fluid clock's own; SimGrid adds durations and so may be off by a rounding.
class FluidModel final : public simgrid::kernel::resource::Model {
 public:
  FluidModel(FluidClock& clock, Scheduler& scheduler)
      : Model{"fluid"}, clock_{clock}, scheduler_{scheduler} {}

  double next_occurring_event(double now) override {
    const Seconds next = clock_.next();
    return next < Seconds::infinite() ? std::max(0.0, next.value() - now) : -1;
  }

  void update_actions_state(double now, double /*since*/) override {
    if (clock_.next().value() > now + now * same_date) return;
    clock_.advance(clock_.next(), [this](OpId op) { scheduler_.due(op); });
    scheduler_.settle(clock_.now());
  }

 private:
  FluidClock& clock_;
  Scheduler& scheduler_;
};

}  // namespace

Timeline run_fluid_on_simgrid(const Platform& platform, const OpGraph& graph) {
  std::array arguments{const_cast<char*>("gradway"), const_cast<char*>("--log=root.thres:critical"),
                       static_cast<char*>(nullptr)};
  int count = static_cast<int>(arguments.size()) - 1;
  simgrid::s4u::Engine engine{&count, arguments.data()};
  simgrid::s4u::create_empty_zone("gradway")->seal();  // SimGrid wants a platform, if an empty one

  const PathTable paths{platform, graph};
  FluidClock clock{paths, graph.size()};
  Scheduler scheduler{graph, paths, clock};
  scheduler.settle(Seconds{0});
  engine.add_model(std::make_shared<FluidModel>(clock, scheduler));
  engine.run();
  return scheduler.take_timeline();
}

}  // namespace gradway
