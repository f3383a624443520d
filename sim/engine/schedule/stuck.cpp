// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/schedule/stuck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/problem.hpp"

namespace gradway {

namespace {

constexpr std::size_t most_named = 5;

std::string activity_name(Activity activity) {
  switch (activity) {
    case Activity::marker:
      return "marker";
    case Activity::launch:
      return "launch";
    case Activity::kernel:
      return "kernel";
    case Activity::copy:
      return "copy";
    case Activity::collective:
      return "collective";
    case Activity::load:
      return "load";
  }
  return "unknown";
}

std::string op_name(const OpGraph& graph, std::uint32_t op) {
  const Origin& origin = graph.ops()[op].origin;
  const std::string rank = origin.actor != Origin::none   ? fmt::format("rank {}", origin.actor)
                           : origin.group != Origin::none ? fmt::format("group {}", origin.group)
                                                          : "all ranks";
  return fmt::format("op {} ({}, {}, step {})", op, activity_name(origin.activity), rank, origin.step);
}

/// What an op that has not ended waits for: another op, or nothing that will ever come.
struct Obstacle {
  std::uint32_t op = Op::absent;
  std::string what;
};

class Stuck {
 public:
  Stuck(const OpGraph& graph, const std::vector<Progress>& progress,
        const std::vector<std::uint32_t>& holders)
      : graph_{graph}, progress_{progress}, holders_{holders}, first_obstacle_(graph.size(), Op::absent) {
    for (const auto& [before, after] : graph.edges()) {
      auto& first = first_obstacle_[after.index()];
      if (progress[before.index()] != Progress::ended) {
        first = std::min(first, static_cast<std::uint32_t>(before.index()));
      }
    }
  }

  Obstacle obstacle(std::uint32_t op) const {
    const Op& it = graph_.ops()[op];
    switch (progress_[op]) {
      case Progress::waits: {
        const auto before = first_obstacle_[op];
        return {before, fmt::format("waits for op {}", before)};
      }
      case Progress::queued: {
        const auto holder = holders_[it.queue];
        return {holder, fmt::format("waits in queue '{}' for op {}", graph_.queues()[it.queue], holder)};
      }
      case Progress::held:
        return {Op::absent, "waits for a kernel that never ends"};
      case Progress::in_latency:
        return {Op::absent, "has a latency without end"};
      case Progress::in_flow:
        return {Op::absent, "moves at rate 0"};
      case Progress::ended:
        break;
    }
    return {};
  }

  /// From the first op that is left to the one that stands still, or once around a cycle; at most the last
  /// few.
  std::vector<std::uint32_t> chain() const {
    const auto left =
        std::find_if(progress_.begin(), progress_.end(), [](Progress p) { return p != Progress::ended; });
    std::vector<std::uint32_t> chain;
    std::vector<bool> seen(graph_.size(), false);
    auto op = static_cast<std::uint32_t>(left - progress_.begin());
    for (; op != Op::absent && !seen[op]; op = obstacle(op).op) {
      seen[op] = true;
      chain.push_back(op);
    }
    if (op != Op::absent) chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), op));
    if (chain.size() > most_named) chain.erase(chain.begin(), chain.end() - most_named);
    return chain;
  }

 private:
  const OpGraph& graph_;
  const std::vector<Progress>& progress_;
  const std::vector<std::uint32_t>& holders_;
  std::vector<std::uint32_t> first_obstacle_;  ///< by op: the lowest op it waits for that has not ended
};

}  // namespace

void throw_stuck(const OpGraph& graph, const std::vector<Progress>& progress,
                 const std::vector<std::uint32_t>& holders) {
  const Stuck stuck{graph, progress, holders};
  const auto left =
      std::count_if(progress.begin(), progress.end(), [](Progress p) { return p != Progress::ended; });
  std::string message = fmt::format("the run cannot finish: {} of {} ops never end", left, graph.size());
  const char* separator = ": ";
  for (const std::uint32_t op : stuck.chain()) {
    message += fmt::format("{}{} {}", separator, op_name(graph, op), stuck.obstacle(op).what);
    separator = "; ";
  }
  throw SimulationError{message};
}

}  // namespace gradway
