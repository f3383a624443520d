// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "readers/kineto/read/trace.hpp"

namespace gradway {

/// Spans joined where they overlap.
class MergedSpans {
 public:
  MergedSpans() = default;
  explicit MergedSpans(std::vector<Span> spans) {
    std::ranges::sort(spans, {}, &Span::start);
    for (const auto& span : spans) {
      if (spans_.empty() || span.start > spans_.back().end()) {
        spans_.push_back(span);
      } else {
        spans_.back().duration = std::max(spans_.back().end(), span.end()) - spans_.back().start;
      }
    }
  }

  /// Nanoseconds of a span that they cover.
  std::int64_t within(const Span& span) const {
    std::int64_t sum = 0;
    auto part = std::ranges::lower_bound(spans_, span.start, {}, &Span::end);
    for (; part != spans_.end() && part->start < span.end(); ++part)
      sum += std::max<std::int64_t>(0, std::min(span.end(), part->end()) - std::max(span.start, part->start));
    return sum;
  }
  /// Whether a time lies in one of them, its ends included.
  bool contains(std::int64_t time) const {
    const auto part = std::ranges::lower_bound(spans_, time, {}, &Span::end);
    return part != spans_.end() && part->start <= time;
  }
  /// Whether they cover more than half of a span.
  bool cover(const Span& span) const { return 2 * within(span) > span.duration; }

  auto begin() const { return spans_.begin(); }
  auto end() const { return spans_.end(); }

 private:
  std::vector<Span> spans_;
};

/// Those of the operations of each thread whose name `is_meant`.
template <class IsMeant>
std::map<std::int64_t, MergedSpans> spans_by_thread(const Trace& trace, IsMeant is_meant) {
  std::map<std::int64_t, std::vector<Span>> spans;
  for (const auto& operation : trace.operations) {
    if (is_meant(trace.signatures[operation.signature].name)) spans[operation.thread].push_back(operation);
  }
  std::map<std::int64_t, MergedSpans> merged;
  for (auto& [thread, of_thread] : spans) merged.emplace(thread, std::move(of_thread));
  return merged;
}

}  // namespace gradway
