// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/problem.hpp"
#include "sim/engine/schedule/scheduler.hpp"

namespace gradway {

namespace {

/// A longer chain is shortened to its first and last ops.
constexpr std::size_t most_named = 12;

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

/// What an op that has not ended waits for: another op, or an event that never comes.
struct Obstacle {
  std::uint32_t op = Op::absent;
  std::string text;
};

/// Follows ops that have not ended to what they wait for.
class WaitChain {
 public:
  WaitChain(const OpGraph& graph, const std::vector<Progress>& progress,
            const std::vector<std::uint32_t>& holders)
      : graph_{graph}, progress_{progress}, holders_{holders}, predecessor_(graph.size(), Op::absent) {
    for (const auto& [before, after] : graph.edges()) {
      auto& first = predecessor_[after.index()];
      if (progress[before.index()] != Progress::ended)
        first = std::min(first, static_cast<std::uint32_t>(before.index()));
    }
    const auto unended =
        std::ranges::find_if(progress, [](Progress state) { return state != Progress::ended; });
    std::vector<bool> seen(graph.size(), false);
    auto op = static_cast<std::uint32_t>(unended - progress.begin());
    for (; op != Op::absent && !seen[op]; op = obstacle(op).op) {
      seen[op] = true;
      ops_.push_back(op);
    }
    is_cycle_ = op != Op::absent;
    if (is_cycle_) ops_.erase(ops_.begin(), std::ranges::find(ops_, op));
  }

  std::string text() const {
    std::string text =
        is_cycle_ && ops_.size() > 1 ? fmt::format("{} ops wait for each other: ", ops_.size()) : "";
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (ops_.size() > most_named && i == most_named / 2) {
        i = ops_.size() - most_named / 2;
        text += fmt::format("; {} more; ", ops_.size() - most_named);
      } else if (i > 0) {
        text += "; ";
      }
      text += fmt::format("{} {}", op_name(graph_, ops_[i]), obstacle(ops_[i]).text);
    }
    return text;
  }

 private:
  Obstacle obstacle(std::uint32_t op) const {
    switch (progress_[op]) {
      case Progress::waits:
        return {predecessor_[op], fmt::format("waits for op {}", predecessor_[op])};
      case Progress::queued: {
        const auto queue = graph_.ops()[op].queue;
        return {holders_[queue],
                fmt::format("waits in queue '{}' for op {}", graph_.queues()[queue], holders_[queue])};
      }
      case Progress::held:
        return {Op::absent, "waits for a kernel that never ends"};
      case Progress::in_latency:
        return {Op::absent, "has an infinite latency"};
      case Progress::in_flow:
        return {Op::absent, "moves at rate 0"};
      case Progress::ended:
        break;
    }
    return {};
  }

  const OpGraph& graph_;
  const std::vector<Progress>& progress_;
  const std::vector<std::uint32_t>& holders_;
  std::vector<std::uint32_t> predecessor_;  ///< by op: the first predecessor that has not ended
  std::vector<std::uint32_t> ops_;
  bool is_cycle_ = false;
};

}  // namespace

void throw_stuck(const OpGraph& graph, const std::vector<Progress>& progress,
                 const std::vector<std::uint32_t>& holders) {
  const auto remaining =
      std::ranges::count_if(progress, [](Progress state) { return state != Progress::ended; });
  throw SimulationError{fmt::format("the run cannot complete: {} of {} ops never end: {}", remaining,
                                    graph.size(), WaitChain{graph, progress, holders}.text())};
}

}  // namespace gradway
