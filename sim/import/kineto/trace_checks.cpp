// SPDX-License-Identifier: Apache-2.0
#include "sim/import/kineto/trace_checks.hpp"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

namespace gradway {
namespace {

/// How much of two neighbours on a stream may overlap, in nanoseconds. Old profilers cut starts and durations
/// to whole microseconds, which makes up to one; and a kernel that is launched programmatically begins before
/// the one it depends on has quite ended: 0.35 us in the traces of an H200 that we have (cuBLAS's split-k
/// reductions, 194 of 100,000 neighbours). What is damaged, or written twice, overlaps by whole kernels.
constexpr std::int64_t longest_overlap = 2000;

constexpr std::size_t most_overlaps = 5;  // shown: where one is, there are often thousands

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

/// A stream does one thing after the other.
void check_streams(const Trace& trace, const Where& file, std::vector<Problem>& problems) {
  std::map<std::int64_t, std::vector<const TracedActivity*>> streams;
  for (const auto& activity : trace.activities) streams[activity.stream].push_back(&activity);
  std::size_t found = 0;
  for (auto& [stream, activities] : streams) {
    std::ranges::stable_sort(activities, {}, &TracedActivity::start);
    const auto* last = activities.front();
    for (const auto* next : std::span{activities}.subspan(1)) {
      if (std::min(last->end(), next->end()) - next->start > longest_overlap && ++found <= most_overlaps) {
        problems.push_back(
            {place_of(*next, file),
             fmt::format("on stream {}, {} overlaps with {}", stream,
                         text_of(trace, *next, activities.front()->start),
                         text_of(trace, *last, activities.front()->start)),
             {{place_of(*last, file), "the other one is here"}},
             "a stream does one thing after the other: has the trace been damaged, or two merged?"});
      }
      if (next->end() > last->end()) last = next;
    }
  }
}

bool takes_time(const TracedActivity& activity) {
  return activity.kind == TracedActivity::Kind::kernel && activity.duration > 0;
}

}  // namespace

std::vector<Problem> check_trace(const Trace& trace, const Where& file) {
  std::vector<Problem> problems;
  const auto add = [&](std::string what, std::string hint) {
    problems.push_back(Problem{file, std::move(what), {}, std::move(hint)});
  };
  if (trace.operations.empty())
    add("the trace has no operations of the CPU",
        "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (trace.activities.empty())
    add("nothing in the trace ran on a GPU",
        "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  if (!trace.operations.empty() && !trace.has_shapes)
    add("the trace has no shapes of operands", "record with record_shapes=True");
  if (trace.devices.size() > 1)
    add(fmt::format("the trace has {} GPUs", trace.devices.size()), "record a step on one GPU, without DDP");
  if (trace.processes.size() > 1)
    add(fmt::format("the trace has {} processes that use the GPU", trace.processes.size()),
        "record one process that trains on one GPU, without DDP");
  if (!trace.distributed.empty())
    add(fmt::format("the trace is of distributed training: it has {}", trace.distributed),
        "record the same model on one GPU without DDP; gradway adds what DDP does");
  const bool is_of_one = trace.devices.size() <= 1 && trace.processes.size() <= 1;
  if (is_of_one) check_streams(trace, file, problems);
  if (!trace.activities.empty() && std::ranges::none_of(trace.activities, takes_time))
    add("no kernel of the trace takes any time", "record it again");
  return problems;
}

}  // namespace gradway
