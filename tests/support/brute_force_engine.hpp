// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tests/support/brute_force_rates.hpp"

namespace gradway::testing {

/// Reference engine, written for clarity instead of speed: at every event, it visits all ops and recomputes
/// all rates. Shares no code with the real engines.
class BruteForceEngine final : public Engine {
 public:
  Timeline run(const Platform& platform, const OpGraph& graph) const override {
    return Run{platform, graph}.all();
  }

 private:
  enum class State { waits, queued, held, in_latency, in_flow, ended };

  struct Run {
    const Platform& platform;
    const OpGraph& graph;
    std::vector<State> state = std::vector<State>(graph.size(), State::waits);
    std::vector<double> ready = std::vector<double>(graph.size()), start = ready, end = ready, left = ready,
                        over = ready,  ///< when the latency ends, or the flow at its current rate
        since = ready;                 ///< when the flow began
    std::vector<std::vector<std::size_t>> holders{
        graph.size()};  ///< by blocked collective: the kernels that it waits for
    double now = 0;

    Timeline all() {
      settle();
      while (std::any_of(state.begin(), state.end(), [](State s) { return s != State::ended; })) step();
      Timeline timeline;
      for (const double date : start) timeline.start.emplace_back(date);
      for (const double date : end) timeline.end.emplace_back(date);
      return timeline;
    }

    /// Advances to the next event time. Times with a relative difference below 1e-12 are equal.
    void step() {
      const std::vector<double> rate = rates();
      double next = std::numeric_limits<double>::infinity();
      for (std::size_t op = 0; op < graph.size(); ++op) {
        if (state[op] == State::in_flow) over[op] = now + left[op] / rate[op];
        if (state[op] == State::in_flow || state[op] == State::in_latency) next = std::min(next, over[op]);
      }
      if (std::isinf(next)) throw std::runtime_error{"some ops never end"};
      for (std::size_t op = 0; op < graph.size(); ++op) {
        if (state[op] == State::in_flow) left[op] = std::max(0.0, left[op] - rate[op] * (next - now));
      }
      now = next;
      for (std::size_t op = 0; op < graph.size(); ++op) {
        const bool under_way = state[op] == State::in_flow || state[op] == State::in_latency;
        if (under_way && over[op] <= now * (1 + 1e-12)) go_on(op);
      }
      settle();
    }

    void settle() {
      for (bool changed = true; changed;) {
        while (release_what_waits() || release_what_is_held() || end_holds()) {
        }
        changed = serve_queues();
      }
    }

    bool release_what_waits() {
      bool changed = false;
      for (std::size_t op = 0; op < graph.size(); ++op) {
        if (state[op] != State::waits || !all_before_ended(op)) continue;
        changed = true;
        ready[op] = now;
        state[op] = State::queued;
        if (graph.ops()[op].queue == Op::absent) let_in(op);
      }
      return changed;
    }

    bool release_what_is_held() {
      bool changed = false;
      for (std::size_t op = 0; op < graph.size(); ++op) {
        const auto ended = [&](std::size_t kernel) { return state[kernel] == State::ended; };
        if (state[op] != State::held || !std::all_of(holders[op].begin(), holders[op].end(), ended)) continue;
        changed = true;
        begin(op);
      }
      return changed;
    }

    bool end_holds() {
      bool changed = false;
      for (std::size_t op = 0; op < graph.size(); ++op) {
        const Op& it = graph.ops()[op];
        if (it.kind != OpKind::hold || state[op] != State::in_flow || state[it.until] != State::ended)
          continue;
        changed = true;
        state[op] = State::ended;
        end[op] = now;
      }
      return changed;
    }

    bool all_before_ended(std::size_t op) const {
      return std::all_of(graph.edges().begin(), graph.edges().end(), [&](const OpGraph::Edge& edge) {
        return edge.after.index() != op || state[edge.before.index()] == State::ended;
      });
    }

    /// Starts one op in each idle queue. Ops that end at once free their queue for the next round.
    bool serve_queues() {
      std::vector<std::size_t> chosen;
      for (std::uint32_t queue = 0; queue < graph.queues().size(); ++queue) {
        std::size_t first = graph.size();
        bool busy = false;
        for (std::size_t op = 0; op < graph.size(); ++op) {
          if (graph.ops()[op].queue != queue) continue;
          busy = busy || state[op] == State::held || state[op] == State::in_latency ||
                 state[op] == State::in_flow;
          if (state[op] == State::queued && (first == graph.size() || ready[op] < ready[first])) first = op;
        }
        if (!busy && first < graph.size()) chosen.push_back(first);
      }
      for (const std::size_t op : chosen) let_in(op);
      return !chosen.empty();
    }

    void let_in(std::size_t op) {
      for (std::size_t other = 0; other < graph.size(); ++other) {
        if (state[other] == State::in_flow && since[other] < now && meets(op, other) &&
            side_of(other).blocks_collectives)
          holders[op].push_back(other);
      }
      state[op] = State::held;
      if (holders[op].empty()) begin(op);
    }

    void begin(std::size_t op) {
      const Op& it = graph.ops()[op];
      start[op] = now;
      state[op] = State::in_latency;
      over[op] = now + it.latency.value();
      if (it.kind == OpKind::join || it.latency == Seconds{0}) go_on(op);
    }

    /// Handles the end of a latency or of a flow.
    void go_on(std::size_t op) {
      const Op& it = graph.ops()[op];
      const bool moves = it.kind == OpKind::flow && it.amount > 0 && state[op] == State::in_latency;
      if (it.kind == OpKind::hold) {
        state[op] = State::in_flow;
        since[op] = now;
        left[op] = std::numeric_limits<double>::infinity();
      } else if (moves && (std::isfinite(it.cap) || has_limit(graph.path(it.path)))) {
        state[op] = State::in_flow;
        since[op] = now;
        left[op] = it.amount;
      } else {
        state[op] = State::ended;
        end[op] = now;
      }
    }

    bool has_limit(const std::vector<ResourceId>& path) const {
      return std::any_of(path.begin(), path.end(), [&](ResourceId resource) {
        return std::isfinite(platform.resources[resource.index()].capacity);
      });
    }

    std::vector<double> rates() const {
      std::vector<double> capacities;
      for (const Resource& resource : platform.resources) capacities.push_back(resource.capacity);
      std::vector<BruteForceFlow> flows;
      for (std::size_t op = 0; op < graph.size(); ++op) {
        if (state[op] != State::in_flow || graph.ops()[op].kind == OpKind::hold) continue;
        flows.push_back({graph.path(graph.ops()[op].path), graph.ops()[op].weight, effective_cap(op)});
      }
      const auto of_flows = brute_force_rates(capacities, flows);
      std::vector<double> of_ops(graph.size(), 1);  // a hold has infinitely much left
      std::size_t flow = 0;
      for (std::size_t op = 0; op < graph.size(); ++op)
        if (state[op] == State::in_flow && graph.ops()[op].kind != OpKind::hold)
          of_ops[op] = of_flows[flow++];
      return of_ops;
    }

    const Contender& side_of(std::size_t op) const { return graph.contenders()[graph.ops()[op].contender]; }

    /// Whether two ops are of different kinds and share a GPU.
    bool meets(std::size_t one, std::size_t other) const {
      if (graph.ops()[one].contender == Op::absent || graph.ops()[other].contender == Op::absent)
        return false;
      const auto& gpus = side_of(other).gpus;
      return side_of(one).kind != side_of(other).kind &&
             std::any_of(side_of(one).gpus.begin(), side_of(one).gpus.end(),
                         [&](std::uint32_t gpu) { return std::count(gpus.begin(), gpus.end(), gpu) > 0; });
    }

    double effective_cap(std::size_t op) const {
      const double cap = graph.ops()[op].cap;
      for (std::size_t other = 0; other < graph.size(); ++other)
        if (state[other] == State::in_flow && meets(op, other)) return cap / side_of(op).slowdown;
      return cap;
    }
  };
};

}  // namespace gradway::testing
