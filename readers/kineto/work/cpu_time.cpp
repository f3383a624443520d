// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/work/launch_work.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "readers/kineto/read/merged_spans.hpp"
#include "sim/base/quantiles.hpp"
#include "sim/base/text.hpp"

namespace gradway {
namespace {

constexpr std::size_t full_queue = 960;        // The queue has 1,024 entries; some launches take two.
constexpr std::int64_t far_longer = 10;        // Times the median.
constexpr std::int64_t long_call_ns = 50'000;  // Shorter calls are always accepted.

/// Copies that return only when the data has arrived.
bool is_blocking_copy(const std::string& name) {
  return contains(name, "Memcpy") && !contains(name, "Async");
}

/// Synchronisations of threads that also launch; waits of a loader's thread do not matter.
std::vector<Span> synchronisations(const Trace& trace, const std::vector<TracedLaunch>& launches) {
  std::set<std::int64_t> threads;
  for (const auto& launch : launches) threads.insert(launch.call->thread);
  std::vector<Span> result;
  for (const auto& call : trace.calls) {
    if (contains(trace.names.text(call.name), "Synchronize") && threads.contains(call.thread))
      result.push_back(call);
  }
  return result;
}

void mark_waits(const std::vector<Span>& synchronisations, std::vector<TracedLaunch>& launches) {
  for (const auto& wait : synchronisations) {
    const auto after = std::ranges::upper_bound(
        launches, wait.start, {}, [](const TracedLaunch& launch) { return launch.call->start; });
    if (after != launches.begin()) std::prev(after)->host_waits = true;
  }
  if (launches.empty()) return;
  launches.back().host_waits = false;
  launches.back().waits_known = false;
}

/// Number of launches that were queued when a call began.
class Queue {
 public:
  explicit Queue(const std::vector<TracedLaunch>& launches) {
    for (const auto& launch : launches) ends_.push_back(launch.activity->end());
    std::ranges::sort(ends_);
  }
  std::size_t length(std::size_t issued, std::int64_t time) const {
    const auto done = static_cast<std::size_t>(std::ranges::lower_bound(ends_, time) - ends_.begin());
    return issued > done ? issued - done : 0;
  }

 private:
  std::vector<std::int64_t> ends_;
};

/// Start of the first operation, at most `time`.
std::int64_t first_event(const Trace& trace, std::int64_t time) {
  for (const auto& operation : trace.operations) time = std::min(time, operation.start);
  return time;
}

}  // namespace

std::optional<Seconds> time_to_accumulate(const Trace& trace) {
  constexpr std::string_view name = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
  constexpr std::size_t enough = 8;
  std::map<std::int64_t, std::vector<std::int64_t>> calls;  // Starts of calls by thread.
  for (const auto& call : trace.calls) calls[call.thread].push_back(call.start);
  for (auto& [thread, starts] : calls) std::ranges::sort(starts);
  std::vector<std::int64_t> times;
  for (const auto& operation : trace.operations) {
    if (trace.signatures[operation.signature].name != name) continue;
    const auto& starts = calls[operation.thread];
    const auto next = std::ranges::lower_bound(starts, operation.start);
    if (next == starts.end() || *next >= operation.end()) times.push_back(operation.duration);
  }
  if (times.size() < enough) return std::nullopt;
  return Seconds{static_cast<double>(std::max<std::int64_t>(1, lower_median(times))) / 1e9};
}

void measure_cpu_time(const Trace& trace, std::vector<TracedLaunch>& launches) {
  const auto waits = synchronisations(trace, launches);
  mark_waits(waits, launches);
  auto not_working = trace.overheads;
  not_working.insert(not_working.end(), waits.begin(), waits.end());
  const MergedSpans idle{std::move(not_working)};  // The CPU does nothing for the program.
  const Queue queue{launches};

  const auto own_time = [&](const ApiCall& call) { return call.duration - idle.within(call); };
  std::map<std::uint32_t, std::vector<std::int64_t>> times;
  std::vector<std::int64_t> own_times;
  for (const auto& launch : launches) {
    times[launch.call->name].push_back(own_time(*launch.call));
    if (!is_blocking_copy(trace.names.text(launch.call->name))) own_times.push_back(own_time(*launch.call));
  }
  std::map<std::uint32_t, std::int64_t> usual;
  for (auto& [name, samples] : times) {
    usual[name] = is_blocking_copy(trace.names.text(name)) ? lower_median(own_times) : lower_median(samples);
  }

  const ApiCall* before = nullptr;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    auto& launch = launches[i];
    const auto& call = *launch.call;
    if (&call == before) continue;  // Another kernel of a graph: it has no launch of its own.
    const auto median = usual[call.name];
    const bool copies_and_waits = is_blocking_copy(trace.names.text(call.name));
    auto issue_time = own_time(call);
    if (copies_and_waits || queue.length(i, call.start) >= full_queue ||
        issue_time > std::max(long_call_ns, far_longer * median))
      issue_time = std::min(issue_time, median);
    launch.host_waits = launch.host_waits || copies_and_waits;
    const auto since = before != nullptr ? before->end() : first_event(trace, call.start);
    const auto between = std::max<std::int64_t>(0, call.start - since);
    launch.cpu = issue_time + between - (between > 0 ? idle.within({since, between}) : 0);
    launch.cpu_known = before != nullptr;
    before = &call;
  }
}

}  // namespace gradway
