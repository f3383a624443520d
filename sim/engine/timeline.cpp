// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/timeline.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"

namespace gradway {

namespace {

/// Relative to the makespan: dates that differ by less count as equal, because engines round.
constexpr double date_tolerance = 1e-9;

/// The ops of each queue as one contiguous range in order of id, by a counting sort.
struct QueueMembers {
  std::vector<std::size_t> first;
  std::vector<std::size_t> ops;

  explicit QueueMembers(const OpGraph& graph) : first(graph.queues().size() + 1, 0) {
    for (const Op& op : graph.ops())
      if (op.queue != Op::absent) ++first[op.queue + 1];
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    ops.resize(first.back());
    auto next = first;
    for (std::size_t i = 0; i < graph.size(); ++i)
      if (const auto queue = graph.ops()[i].queue; queue != Op::absent) ops[next[queue]++] = i;
  }
};

void check_queues(const Timeline& timeline, const OpGraph& graph, Seconds slack) {
  QueueMembers members{graph};
  const auto by_date = [&](std::size_t a, std::size_t b) {
    return std::pair{timeline.start[a], timeline.end[a]} < std::pair{timeline.start[b], timeline.end[b]};
  };
  for (std::size_t queue = 0; queue + 1 < members.first.size(); ++queue) {
    const std::span ops =
        std::span{members.ops}.subspan(members.first[queue], members.first[queue + 1] - members.first[queue]);
    // Most queues are served in order of id, which keeps this linear.
    if (!std::is_sorted(ops.begin(), ops.end(), by_date)) std::sort(ops.begin(), ops.end(), by_date);
    Seconds free{};
    for (const std::size_t op : ops) {
      expects(timeline.start[op] + slack >= free, "a queue serves one op at a time");
      free = std::max(free, timeline.end[op]);
    }
  }
}

}  // namespace

Seconds Timeline::makespan() const {
  Seconds last{};
  for (const Seconds date : end) last = std::max(last, date);
  return last;
}

void check(const Timeline& timeline, const OpGraph& graph) {
  expects(timeline.start.size() == graph.size() && timeline.end.size() == graph.size(),
          "a timeline has dates for every op of its graph");
  const Seconds slack = timeline.makespan() * date_tolerance;
  expects(slack < Seconds::infinite(), "every op ends");
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Op& op = graph.ops()[i];
    expects(timeline.start[i] >= Seconds{0}, "no op starts before the run");
    // A neighbour's traffic ends with the others, even if it would only start later.
    const Seconds least = op.kind == OpKind::join || op.is_endless() ? Seconds{0} : op.latency;
    expects(timeline.end[i] - timeline.start[i] + slack >= least, "no op is shorter than its latency");
  }
  for (const auto& [before, after] : graph.edges()) {
    expects(timeline.start[after.index()] + slack >= timeline.end[before.index()],
            "no op starts before its predecessors have ended");
  }
  check_queues(timeline, graph, slack);
}

}  // namespace gradway
