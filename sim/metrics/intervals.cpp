// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/intervals.hpp"

#include <algorithm>
#include <cstddef>

namespace gradway {
namespace {

struct Change {
  Seconds when{};
  int kind = 0;
  int by = 0;
};

}  // namespace

std::vector<Seconds> split_time(const std::vector<Interval>& intervals, int kinds, Seconds from, Seconds to) {
  std::vector<Change> changes;
  changes.reserve(2 * intervals.size());
  for (const auto& interval : intervals) {
    const auto start = std::max(interval.start, from);
    const auto end = std::min(interval.end, to);
    if (start >= end) continue;
    changes.push_back({start, interval.kind, 1});
    changes.push_back({end, interval.kind, -1});
  }
  std::ranges::sort(changes, {}, &Change::when);
  std::vector<Seconds> time(static_cast<std::size_t>(kinds) + 1);
  std::vector<int> running(static_cast<std::size_t>(kinds), 0);
  auto at = from;
  const auto spend = [&](Seconds until) {
    const auto first = std::ranges::find_if(running, [](int count) { return count > 0; });
    time[static_cast<std::size_t>(first - running.begin())] += until - at;
    at = until;
  };
  for (const auto& change : changes) {
    spend(change.when);
    running[static_cast<std::size_t>(change.kind)] += change.by;
  }
  spend(to);
  return time;
}

Seconds covered(const std::vector<Interval>& intervals, Seconds from, Seconds to) {
  auto flat = intervals;
  for (auto& interval : flat) interval.kind = 0;
  return split_time(flat, 1, from, to).front();
}

}  // namespace gradway
