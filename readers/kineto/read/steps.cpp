// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/read/steps.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace gradway {
namespace {

std::int64_t call_start(const TracedLaunch& launch) {
  return launch.call->start;
}

std::span<TracedLaunch> between(std::vector<TracedLaunch>& launches, std::int64_t begin, std::int64_t end) {
  const auto first = std::ranges::lower_bound(launches, begin, {}, call_start);
  const auto last = std::ranges::lower_bound(launches, std::max(begin, end), {}, call_start);
  return {first, last};
}

bool has_backward(std::span<const TracedLaunch> launches) {
  return std::ranges::any_of(launches, &TracedLaunch::in_backward);
}

/// The optimizer's steps in order. Several optimizers that follow one backward pass count as one. With a
/// closure, as Lightning passes one, the passes are inside of the optimizer's step.
std::vector<Span> optimizer_steps(const Trace& trace, std::vector<TracedLaunch>& launches) {
  std::vector<Span> steps(trace.optimizer_steps.begin(), trace.optimizer_steps.end());
  std::ranges::sort(steps, {}, &Span::start);
  std::vector<Span> merged;
  for (const auto& step : steps) {
    if (!merged.empty() && !has_backward(between(launches, merged.back().end(), step.end()))) {
      merged.back().duration = std::max(merged.back().end(), step.end()) - merged.back().start;
    } else {
      merged.push_back(step);
    }
  }
  return merged;
}

std::ptrdiff_t count_within(const std::vector<Span>& spans, const Span& step) {
  return std::ranges::count_if(
      spans, [&](const Span& span) { return span.start >= step.start && span.end() <= step.end(); });
}

/// The steps as spans of time: those that the profiler marked, unless they are not those of the optimizer.
std::vector<Span> cut(const Trace& trace, std::vector<TracedLaunch>& launches,
                      const std::vector<Span>& optimizers) {
  std::vector<Span> marked(trace.profiler_steps.begin(), trace.profiler_steps.end());
  std::ranges::sort(marked, {}, &Span::start);
  const auto holds = [&](const Span& step) { return count_within(optimizers, step); };
  // The trace may begin or end in a step; others without a step of the optimizer are micro-steps.
  const auto is_micro_step = [&](const Span& step) {
    const bool is_at_end = &step == &marked.front() || &step == &marked.back();
    return !is_at_end && holds(step) == 0 && has_backward(between(launches, step.start, step.end()));
  };
  if (std::ranges::any_of(marked, [&](const Span& step) { return holds(step) == 1; }) &&
      std::ranges::none_of(marked, [&](const Span& step) { return holds(step) > 1 || is_micro_step(step); }))
    return marked;
  std::vector<Span> steps;
  auto begin = std::numeric_limits<std::int64_t>::min() / 2;
  for (const auto& optimizer : optimizers) {
    steps.push_back({begin, optimizer.end() - begin});
    begin = optimizer.end();
  }
  return steps;
}

/// Assigns each launch its phase. @return when each backward pass ends: kernels of the main thread separate
/// them
std::vector<std::int64_t> assign_phases(const TracedStep& step) {
  std::int64_t backward_end = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> ends;
  bool is_new_pass = true;
  for (auto& launch : step.launches) {
    if (launch.in_backward) {
      launch.phase = ProfiledPhase::backward;
      backward_end = launch.call->end();
      if (is_new_pass) ends.emplace_back();
      ends.back() = backward_end;
      is_new_pass = false;
    } else if (launch.is_main_thread && launch.activity->kind == TracedActivity::Kind::kernel) {
      is_new_pass = true;
    }
  }
  for (auto& launch : step.launches) {
    if (launch.in_backward) continue;
    launch.phase = launch.call->start >= backward_end ? ProfiledPhase::optimizer : ProfiledPhase::forward;
  }
  return ends;
}

/// When a backward pass whose last launch ended at `from` has accumulated its gradients, at most `until`.
std::int64_t end_of_gradients(const Trace& trace, std::int64_t from, std::int64_t until) {
  auto end = from;
  for (const auto& operation : trace.operations) {
    if (operation.start < from || operation.start >= until) continue;
    if (trace.signatures[operation.signature].name.find("AccumulateGrad") != std::string::npos)
      end = std::max(end, std::min(until, operation.end()));
  }
  return end;
}

bool has_phase(const TracedStep& step, ProfiledPhase phase) {
  return std::ranges::find(step.launches, phase, &TracedLaunch::phase) != step.launches.end();
}

void add(std::vector<Problem>& problems, const Where& file, std::string message, std::string hint) {
  problems.push_back(Problem{file, std::move(message), {}, std::move(hint)});
}

}  // namespace

std::vector<TracedStep> find_steps(const Trace& trace, std::vector<TracedLaunch>& launches, const Where& file,
                                   std::vector<Problem>& problems) {
  const auto optimizers = optimizer_steps(trace, launches);
  if (optimizers.empty()) {
    add(problems, file, "the trace has no step of an optimizer ('Optimizer.step#...')",
        "record whole training steps: forward, backward and optimizer.step()");
    return {};
  }
  if (!has_backward(launches)) {
    add(problems, file, "the trace has no backward pass: autograd launched no kernel",
        "record whole training steps: forward, backward and optimizer.step()");
    return {};
  }
  std::vector<TracedStep> steps;
  for (const auto& span : cut(trace, launches, optimizers)) {
    TracedStep step{span.start, span.end(), between(launches, span.start, span.end())};
    step.passes = static_cast<int>(assign_phases(step).size());
    step.is_complete = count_within(optimizers, span) == 1 && has_phase(step, ProfiledPhase::forward) &&
                       has_backward(step.launches);
    steps.push_back(step);
  }
  if (std::ranges::none_of(steps, &TracedStep::is_complete))
    add(problems, file, "the trace has no complete training step",
        "record at least two whole steps: forward, backward and optimizer.step()");
  return steps;
}

std::vector<TracedStep> micro_steps(const Trace& trace, std::vector<TracedStep> steps, const Where& file,
                                    std::vector<Problem>& problems) {
  std::vector<TracedStep> divided;
  int different = 0;
  for (auto& step : steps) {
    const auto first = divided.size();
    const auto ends = assign_phases(step);
    auto begin = step.begin;
    for (std::size_t pass = 0; pass + 1 < ends.size(); ++pass) {
      const auto rest = std::ranges::lower_bound(step.launches, ends[pass], {}, call_start);
      const auto count = static_cast<std::size_t>(rest - step.launches.begin());
      const auto end = end_of_gradients(trace, ends[pass], rest->call->start);
      divided.push_back({begin, end, step.launches.first(count), false, 0});
      step.launches = step.launches.subspan(count);
      begin = end;
    }
    step.begin = begin;
    divided.push_back(step);
    const auto forward_launches = [](const TracedStep& part) {
      return std::ranges::count(part.launches, ProfiledPhase::forward, &TracedLaunch::phase);
    };
    for (auto i = first; i < divided.size(); ++i) assign_phases(divided[i]);
    // The first micro-step of a trace may be cut, and that of a step prepares more than the others.
    if (ends.size() < 2) continue;
    const auto last = static_cast<double>(forward_launches(divided.back()));
    const auto before = static_cast<double>(forward_launches(divided[divided.size() - 2]));
    constexpr double alike = 1.25;
    if (step.is_complete && (last > alike * before || before > alike * last)) different = step.passes;
  }
  if (different > 0)
    add(problems, file,
        fmt::format("{} backward passes of different forward passes come before one step of the optimizer",
                    different),
        "capture the program instead, which needs no trace: docs/my-program.md");
  return divided;
}

}  // namespace gradway
