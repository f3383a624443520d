// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/intervals.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace gradway {
namespace {

struct Change {
  Seconds when{};
  int kind = 0;
  int delta = 0;
};

/// In order of time. Intervals of one kind are mostly sorted, which keeps this linear.
std::vector<Change> changes_of(const std::vector<Interval>& intervals, int kinds, Seconds from, Seconds to) {
  std::vector<std::size_t> count(static_cast<std::size_t>(kinds), 0);
  for (const auto& interval : intervals) ++count[static_cast<std::size_t>(interval.kind)];
  std::vector<std::vector<Change>> by_kind(count.size());
  for (std::size_t kind = 0; kind < count.size(); ++kind) by_kind[kind].reserve(2 * count[kind]);
  for (const auto& interval : intervals) {
    const auto start = std::max(interval.start, from);
    const auto end = std::min(interval.end, to);
    if (start >= end) continue;
    auto& changes = by_kind[static_cast<std::size_t>(interval.kind)];
    changes.push_back({start, interval.kind, 1});
    changes.push_back({end, interval.kind, -1});
  }
  std::vector<Change> ordered;
  for (auto& changes : by_kind) {
    if (!std::ranges::is_sorted(changes, {}, &Change::when)) std::ranges::sort(changes, {}, &Change::when);
    if (ordered.empty()) ordered.swap(changes);
    if (changes.empty()) continue;
    std::vector<Change> merged;
    merged.reserve(ordered.size() + changes.size());
    std::ranges::merge(ordered, changes, std::back_inserter(merged), {}, &Change::when, &Change::when);
    ordered = std::move(merged);
  }
  return ordered;
}

}  // namespace

std::vector<Seconds> split_time(const std::vector<Interval>& intervals, int kinds, Seconds from, Seconds to) {
  std::vector<Seconds> time(static_cast<std::size_t>(kinds) + 1);
  std::vector<int> running(static_cast<std::size_t>(kinds), 0);
  auto reached = from;
  auto first = running.size();  // the first kind that runs, or none
  const auto spend = [&](Seconds until) {
    time[first] += until - reached;
    reached = until;
  };
  for (const auto& change : changes_of(intervals, kinds, from, to)) {
    spend(change.when);
    const auto kind = static_cast<std::size_t>(change.kind);
    running[kind] += change.delta;
    if (running[kind] > 0) first = std::min(first, kind);
    while (first < running.size() && running[first] <= 0) ++first;
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
