// SPDX-License-Identifier: Apache-2.0
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/base/problem.hpp"
#include "sim/engine/schedule/scheduler.hpp"
#include "sim/engine/simgrid/answer.hpp"

namespace gradway {

namespace {

namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using simgrid::kernel::resource::Action;
using simgrid::kernel::resource::Model;
using simgrid::kernel::resource::StandardLinkImpl;

/// SimGrid's defaults give errors of up to 75 % (sim/decisions/0001-run-two-engines-on-one-scheduler.md
/// explains each).
constexpr std::array settings{
    "gradway",
    "--cfg=network/model:CM02",      // no factors on latency and bandwidth
    "--cfg=network/optim:Full",      // Lazy overloads links when flows start together
    "--cfg=network/crosstraffic:0",  // no traffic of 5 % the other way
    "--cfg=network/TCP-gamma:1e30",  // no cap by a TCP window
    "--cfg=surf/precision:1e-12",    // separates events less than a nanosecond apart
    "--cfg=maxmin/precision:1e-10",  // a flow may get less than 1e-5 of a link
    "--log=root.thres:critical",
};

/// Rate of the link used by flows that share no resource. It exceeds any cap, so that only their caps count.
constexpr double open_rate = 1e30;

constexpr double endless = 1e200;

std::unique_ptr<s4u::Engine> make_engine() {
  int count = static_cast<int>(settings.size());
  std::vector<char*> arguments;
  for (const char* setting : settings) arguments.push_back(const_cast<char*>(setting));
  arguments.push_back(nullptr);
  return std::make_unique<s4u::Engine>(&count, arguments.data());
}

/// A zone whose route between any two hosts is the list of links that was set last. Links may repeat.
/// SimGrid queries the route when a communication starts, so this works from the main thread only.
class LinkSetZone final : public routing::NetZoneImpl {
 public:
  LinkSetZone() : NetZoneImpl{"gradway"} {}
  void set_route(const std::vector<StandardLinkImpl*>& links) { links_ = &links; }

  void get_local_route(const routing::NetPoint*, const routing::NetPoint*, routing::Route* route,
                       double* latency) override {
    route->link_list_ = *links_;
    if (latency != nullptr) *latency = 0;  // latencies are timers: they must not change how links are shared
  }
  void get_graph(const s_xbt_graph_t*, std::map<std::string, xbt_node_t, std::less<>>*,
                 std::map<std::string, xbt_edge_t, std::less<>>*) override {}

 private:
  const std::vector<StandardLinkImpl*>* links_ = nullptr;
};

/// The platform in SimGrid: two hosts, the links that paths use, and a route for each path.
class LinkSets {
 public:
  LinkSets(const PathTable& paths, std::size_t count)
      : zone_{new LinkSetZone} {  // SimGrid's engine owns its zones
    source_ = zone_->create_host("source", {1.0})->seal();
    target_ = zone_->create_host("target", {1.0})->seal();
    StandardLinkImpl* const open = create("open", open_rate);
    std::vector<StandardLinkImpl*> links(paths.capacities().size(), nullptr);
    routes_.resize(count);
    for (std::uint32_t path = 0; path < count; ++path) {
      if (paths.blocked(path)) continue;
      for (const auto& [resource, times] : paths.uses(path)) {
        auto& link = links[resource];
        if (link == nullptr)
          link = create("resource " + std::to_string(resource), paths.capacities()[resource]);
        routes_[path].insert(routes_[path].end(), times, link);
      }
      if (routes_[path].empty()) routes_[path].push_back(open);
    }
    zone_->seal();
  }

  s4u::CommPtr start_communication(std::uint32_t path) {
    zone_->set_route(routes_[path]);
    s4u::CommPtr communication = s4u::Comm::sendto_init();
    communication->set_payload_size(1);  // zero would not start
    communication->set_source(source_);
    communication->set_destination(target_);  // this starts it
    return communication;
  }

 private:
  StandardLinkImpl* create(const std::string& name, double capacity) {
    return zone_->create_link(name, {capacity})->seal()->get_impl();
  }

  LinkSetZone* zone_;
  s4u::Host* source_ = nullptr;
  s4u::Host* target_ = nullptr;
  std::vector<std::vector<StandardLinkImpl*>> routes_;  ///< by path
};

double largest_weight(const OpGraph& graph) {
  double largest = 0;
  for (const Op& op : graph.ops()) largest = std::max(largest, op.weight);
  return largest;
}

/// Timers, and flows as SimGrid communications that its network model shares. This model runs after the
/// network model at every date and collects the flows that have ended.
///
/// Only kernel-level actions support fractional sizes, weights and caps that change. A communication creates
/// its action when it starts; that action is then the newest of the network model and is configured here.
class SimgridBackend final : public Model, public FlowBackend {
 public:
  SimgridBackend(Model& network, LinkSets& links, const OpGraph& graph)
      : Model{"gradway"},
        network_{network},
        links_{links},
        largest_weight_{largest_weight(graph)},
        actions_(graph.size()) {}

  void attach(Scheduler& scheduler) { scheduler_ = &scheduler; }

  void start_timer(OpId op, Seconds date) override {
    timers_.push({date, static_cast<std::uint32_t>(op.index())});
  }

  void start_flow(OpId op, const FlowStart& flow) override {
    const s4u::CommPtr communication = links_.start_communication(flow.path);
    Action& action = network_.get_started_action_set()->back();
    // SimGrid counts down the remaining amount, so an endless flow gets more than any run can move.
    const double amount = std::min(flow.amount, endless);
    action.set_cost(amount);
    action.set_remains(amount);
    // Weights at most 1: SimGrid compares their sums with an absolute precision.
    action.set_sharing_penalty(largest_weight_ / flow.weight);
    actions_[op.index()] = &action;
    flows_.emplace(&action, Flow{op, communication, 0});
    set_cap(op, flow.cap);
  }

  void set_cap(OpId op, double cap) override {
    Flow& flow = flows_.at(actions_[op.index()]);
    if (flow.cap == cap) return;
    flow.cap = cap;
    actions_[op.index()]->set_bound(std::isinf(cap) ? -1 : cap);
  }

  double next_occurring_event(double date) override {
    if (timers_.empty() || timers_.top().first == Seconds::infinite()) return -1;
    return std::max(0.0, timers_.top().first.value() - date);
  }

  void update_actions_state(double date, double /*since*/) override {
    over_.clear();
    for (Action& action : *network_.get_finished_action_set()) note_end(action);
    finish_what_rounding_left(date);
    while (!timers_.empty() && timers_.top().first.value() <= date + date * same_date) {
      scheduler_->due(OpId{timers_.top().second});
      timers_.pop();
    }
    scheduler_->settle(Seconds{date});
    if (scheduler_->all_ended()) drop_endless();
  }

 private:
  struct Flow {
    OpId op;
    s4u::CommPtr communication;  ///< SimGrid crashes if it is released
    double cap;
  };
  using Timer = std::pair<Seconds, std::uint32_t>;

  void note_end(Action& action) {
    const auto flow = flows_.find(&action);
    scheduler_->due(flow->second.op);
    over_.push_back(std::move(flow->second.communication));
    flows_.erase(flow);
  }

  /// Ends endless flows and their timers, which would keep SimGrid running.
  void drop_endless() {
    timers_ = {};
    for (auto& [action, flow] : flows_) {
      const_cast<Action*>(action)->finish(Action::State::FINISHED);
      over_.push_back(std::move(flow.communication));
    }
    flows_.clear();
  }

  /// Ends flows whose remaining amount is a rounding error.
  void finish_what_rounding_left(double date) {
    std::vector<Action*> finished;
    for (Action& action : *network_.get_started_action_set()) {
      if (action.get_remains_no_update() <= action.get_rate() * date * same_date) finished.push_back(&action);
    }
    for (Action* action : finished) {
      action->finish(Action::State::FINISHED);
      note_end(*action);
    }
  }

  Model& network_;
  LinkSets& links_;
  Scheduler* scheduler_ = nullptr;
  double largest_weight_;
  std::vector<Action*> actions_;  ///< by op, for active flows
  std::unordered_map<const Action*, Flow> flows_;
  std::vector<s4u::CommPtr> over_;  ///< ended at this date; SimGrid still reads them
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

Model& network_model(s4u::Engine& engine) {
  const auto& models = engine.get_all_models();
  const auto network = std::find_if(models.begin(), models.end(),
                                    [](const Model* model) { return model->get_name() == "Network_CM02"; });
  expects(network != models.end(), "SimGrid provides its network model CM02");
  return **network;
}

/// Runs the graph on SimGrid's max-min network model (CM02) in this process. SimGrid keeps global state that
/// cannot be cleared, and exits the process on a fault, so this works once per process: call it in a child.
/// @throws SimulationError if the graph cannot complete
Timeline run_on_simgrid(const Platform& platform, const OpGraph& graph) {
  const PathTable paths{platform, graph};
  const auto engine = make_engine();
  LinkSets links{paths, graph.paths().size()};
  const auto backend = std::make_shared<SimgridBackend>(network_model(*engine), links, graph);
  engine->add_model(backend);
  engine->seal_platform();
  Scheduler scheduler{graph, paths, *backend};
  backend->attach(scheduler);
  scheduler.settle(Seconds{0});
  if (!scheduler.all_ended()) engine->run();
  return scheduler.take_timeline();
}

static_assert(sizeof(Seconds) == sizeof(double));

std::string pack(const std::vector<Seconds>& dates) {
  return {reinterpret_cast<const char*>(dates.data()), dates.size() * sizeof(Seconds)};
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void gradway_answer_from_simgrid(const Platform& platform,
                                                                           const OpGraph& graph,
                                                                           std::string& answer) {
  try {
    const Timeline result = run_on_simgrid(platform, graph);
    answer = std::string{timeline} + pack(result.start) + pack(result.end);
  } catch (const SimulationError& error) {
    answer = std::string{cannot_finish} + error.what();
  } catch (const std::exception& error) {
    answer = std::string{fault} + error.what();
  }
}

static_assert(std::is_same_v<decltype(gradway_answer_from_simgrid), AnswerFromSimgrid>);

}  // namespace gradway
