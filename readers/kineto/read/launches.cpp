// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/steps.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "readers/kineto/read/merged_spans.hpp"

namespace gradway {
namespace {

/// Finds the operation that contains a time, for the few launches that name none.
class Nesting {
 public:
  explicit Nesting(const Trace& trace) : trace_{trace} {}

  /// The innermost operation of a thread that contains the time.
  const TracedOperation* innermost_at(std::int64_t thread, std::int64_t time) {
    if (by_start_.empty()) prepare();
    auto& operations = by_start_[thread];
    auto after = std::ranges::upper_bound(operations, time, {}, &TracedOperation::start);
    // Operations of a thread nest: the last one to begin that has not ended is the innermost.
    constexpr int max_operations_searched = 10000;
    for (int searched = 0; after != operations.begin() && searched < max_operations_searched; ++searched) {
      --after;
      if ((*after)->end() >= time) return *after;
    }
    return nullptr;
  }

 private:
  void prepare() {
    for (const auto& operation : trace_.operations) by_start_[operation.thread].push_back(&operation);
    for (auto& [thread, operations] : by_start_) std::ranges::sort(operations, {}, &TracedOperation::start);
  }

  const Trace& trace_;
  std::map<std::int64_t, std::vector<const TracedOperation*>> by_start_;
};

const TracedOperation* with_id(const Trace& trace, std::int64_t external) {
  const auto match = std::ranges::lower_bound(trace.operations, external, {}, &TracedOperation::external);
  return external != 0 && match != trace.operations.end() && match->external == external ? &*match : nullptr;
}

}  // namespace

JoinedLaunches join_launches(Trace& trace) {
  std::ranges::sort(trace.operations, {}, &TracedOperation::external);
  std::vector<const ApiCall*> calls;
  for (const auto& call : trace.calls) calls.push_back(&call);
  std::ranges::sort(calls, {}, &ApiCall::correlation);
  // Autograd's own operations.
  const auto autograd = spans_by_thread(
      trace, [](const std::string& name) { return name.starts_with("autograd::engine::evaluate_function"); });
  Nesting nesting{trace};
  const auto main_thread = trace.optimizer_steps.empty() ? 0 : trace.optimizer_steps.front().thread;

  JoinedLaunches joined;
  for (const auto& activity : trace.activities) {
    const auto call = std::ranges::lower_bound(calls, activity.correlation, {}, &ApiCall::correlation);
    if (call == calls.end() || (*call)->correlation != activity.correlation) {
      ++joined.orphans;
      continue;
    }
    TracedLaunch launch{.call = *call, .activity = &activity};
    const auto thread = launch.call->thread;
    launch.operation = with_id(trace, activity.external);
    if (launch.operation == nullptr) launch.operation = nesting.innermost_at(thread, launch.call->start);
    launch.is_main_thread = thread == main_thread;
    const auto of_thread = autograd.find(thread);
    launch.in_backward = of_thread != autograd.end() &&
                         (!launch.is_main_thread || of_thread->second.contains(launch.call->start));
    joined.launches.push_back(launch);
  }
  std::ranges::sort(joined.launches, {}, [](const TracedLaunch& launch) {
    return std::tuple{launch.call->start, launch.activity->start, launch.activity->correlation};
  });
  return joined;
}

}  // namespace gradway
