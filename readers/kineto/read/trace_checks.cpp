// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/read_trace.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_set>

#include <fmt/format.h>

namespace gradway {
namespace {

/// Overlap of neighbours on a stream that is accepted as rounding, in nanoseconds: profilers that round
/// starts and durations to whole microseconds cause up to 1.5 us.
constexpr std::int64_t longest_rounding = 2000;

constexpr std::size_t most_overlaps = 5;  // Overlaps shown: there are often thousands.

Where place_of(const TracedActivity& activity, Where file) {
  file.line = activity.at.line;
  file.column = activity.at.column;
  return file;
}

std::string text_of(const Trace& trace, const TracedActivity& activity, std::int64_t zero) {
  return fmt::format("'{}' from {:.3f} to {:.3f} us", trace.names.text(activity.name),
                     static_cast<double>(activity.start - zero) * 1e-3,
                     static_cast<double>(activity.end() - zero) * 1e-3);
}

/// Decides which kernels may begin before their predecessor on the stream ends. CUDA starts such a secondary
/// kernel as soon as all blocks of the primary one have begun and triggered it or ended, if it was launched
/// with the attribute of programmatic stream serialization, which only the extensible launches take; or if
/// both are nodes of one graph, whose branches run concurrently (@source CUDA C++ programming guide 13.0,
/// "Programmatic dependent launch and synchronization", cudaLaunchAttributeProgrammaticStreamSerialization).
/// cuBLAS's split-k reductions and cuDNN's set-up of workspaces are launched in this way: all 471 overlaps of
/// 110,000 neighbours in our traces of H100 and H200, of 0.1 to 2.1 us.
class AllowedOverlaps {
 public:
  explicit AllowedOverlaps(const Trace& trace) {
    for (const auto& call : trace.calls) {
      const auto& name = trace.names.text(call.name);
      launched_.insert(call.correlation);
      if (name.find("LaunchKernelEx") == std::string::npos) ordinary_.insert(call.correlation);
      if (name.find("GraphLaunch") != std::string::npos) graphs_.insert(call.correlation);
    }
  }

  bool allow(const TracedActivity& last, const TracedActivity& next) const {
    if (next.kind != TracedActivity::Kind::kernel || last.kind != TracedActivity::Kind::kernel) return false;
    const bool is_twice = next.start == last.start && next.name == last.name;
    if (next.correlation == last.correlation) return !is_twice && graphs_.contains(next.correlation);
    const bool waits = ordinary_.contains(next.correlation) && launched_.contains(last.correlation);
    return next.start > last.start && !waits;
  }

 private:
  /// Correlations of calls. A kernel whose launch precedes the trace may have had any, and is not used.
  std::unordered_set<std::int64_t> ordinary_;
  std::unordered_set<std::int64_t> launched_;
  std::unordered_set<std::int64_t> graphs_;
};

using Streams = std::map<std::int64_t, std::vector<TracedActivity*>>;

/// The activities of each stream, sorted by start.
Streams streams_of(Trace& trace) {
  Streams streams;
  for (auto& activity : trace.activities) streams[activity.stream].push_back(&activity);
  for (auto& [stream, activities] : streams) std::ranges::stable_sort(activities, {}, &TracedActivity::start);
  return streams;
}

void check_streams(const Trace& trace, const Streams& streams, const Where& file,
                   std::vector<Problem>& problems) {
  const AllowedOverlaps overlaps{trace};
  std::size_t overlap_count = 0;
  for (const auto& [stream, activities] : streams) {
    const auto* last = activities.front();
    for (const auto* next : std::span{activities}.subspan(1)) {
      const auto overlap = std::min(last->end(), next->end()) - next->start;
      if (overlap > longest_rounding && !overlaps.allow(*last, *next) && ++overlap_count <= most_overlaps) {
        problems.push_back(
            {place_of(*next, file),
             fmt::format("on stream {}, {} overlaps with {}", stream,
                         text_of(trace, *next, activities.front()->start),
                         text_of(trace, *last, activities.front()->start)),
             {{place_of(*last, file), "the other kernel is here"}},
             "only a kernel that is launched programmatically (cudaLaunchKernelEx) can begin before its "
             "predecessor on the stream ends: check whether the trace is damaged or two traces were merged"});
      }
      if (next->end() > last->end()) last = next;
    }
  }
}

}  // namespace

std::vector<Problem> check_trace(Trace& trace, const Where& file) {
  std::vector<Problem> problems;
  const auto add = [&](std::string message, std::string hint) {
    problems.push_back(Problem{file, std::move(message), {}, std::move(hint)});
  };
  if (trace.operations.empty())
    add("the trace has no CPU operations",
        "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (trace.activities.empty())
    add("the trace has no GPU activity",
        "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (trace.devices.size() > 1)
    add(fmt::format("the trace has {} GPUs", trace.devices.size()), "record a step on one GPU, without DDP");
  if (trace.processes.size() > 1)
    add(fmt::format("the trace has {} processes that use the GPU", trace.processes.size()),
        "record one process that trains on one GPU, without DDP");
  if (!trace.distributed.empty())
    add(fmt::format("the trace is of distributed training: it has {}", trace.distributed),
        "record the same model on one GPU, or under DDP or FSDP alone, which gradway takes out; for tensor "
        "and pipeline parallelism describe the model by its shape (gradway import hf) and set 'parallel'");
  const bool is_of_one = trace.devices.size() <= 1 && trace.processes.size() <= 1;
  if (is_of_one) check_streams(trace, streams_of(trace), file, problems);
  if (!trace.activities.empty() && std::ranges::none_of(trace.activities, [](const auto& activity) {
        return activity.kind == TracedActivity::Kind::kernel && activity.duration > 0;
      }))
    add("all kernels of the trace have a duration of zero", "record the trace again");
  return problems;
}

void count_overlaps_once(Trace& trace) {
  for (auto& [stream, activities] : streams_of(trace)) {
    auto busy_until = activities.front()->start;
    for (auto* activity : activities) {
      const auto end = activity->end();
      activity->start = std::max(activity->start, busy_until);
      activity->duration = std::max<std::int64_t>(0, end - activity->start);
      busy_until = std::max(busy_until, end);
    }
  }
}

}  // namespace gradway
