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

struct Cut {
  std::vector<Span> steps;
  bool by_profiler = false;
};

Cut cut(const Trace& trace, const std::vector<Span>& optimizers) {
  std::vector<Span> marked(trace.profiler_steps.begin(), trace.profiler_steps.end());
  std::ranges::sort(marked, {}, &Span::start);
  const auto holds = [&](const Span& step) { return count_within(optimizers, step); };
  if (std::ranges::any_of(marked, [&](const Span& step) { return holds(step) == 1; }) &&
      std::ranges::none_of(marked, [&](const Span& step) { return holds(step) > 1; }))
    return {std::move(marked), true};
  Cut result;
  auto begin = std::numeric_limits<std::int64_t>::min() / 2;
  for (const auto& optimizer : optimizers) {
    result.steps.push_back({begin, optimizer.end() - begin});
    begin = optimizer.end();
  }
  return result;
}

/// Assigns each launch its phase. @return the number of backward passes: kernels of the main thread separate
/// them.
int assign_phases(const TracedStep& step) {
  std::int64_t backward_end = std::numeric_limits<std::int64_t>::max();
  int passes = 0;
  bool is_new_pass = true;
  for (auto& launch : step.launches) {
    if (launch.in_backward) {
      launch.phase = ProfiledPhase::backward;
      backward_end = launch.call->end();
      if (is_new_pass) ++passes;
      is_new_pass = false;
    } else if (launch.is_main_thread && launch.activity->kind == TracedActivity::Kind::kernel) {
      is_new_pass = true;
    }
  }
  for (auto& launch : step.launches) {
    if (launch.in_backward) continue;
    launch.phase = launch.call->start >= backward_end ? ProfiledPhase::optimizer : ProfiledPhase::forward;
  }
  return passes;
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
  const auto [spans, by_profiler] = cut(trace, optimizers);
  std::vector<TracedStep> steps;
  int most_passes = 0;
  bool lacks_optimizer = false;
  for (const auto& span : spans) {
    TracedStep step{span.start, span.end(), between(launches, span.start, span.end())};
    most_passes = std::max(most_passes, assign_phases(step));
    const bool has_optimizer = count_within(optimizers, span) == 1;
    lacks_optimizer = lacks_optimizer || (!has_optimizer && has_backward(step.launches));
    step.is_complete =
        has_optimizer && has_phase(step, ProfiledPhase::forward) && has_backward(step.launches);
    steps.push_back(step);
  }
  if (most_passes > 1 || (by_profiler && lacks_optimizer)) {
    add(problems, file,
        most_passes > 1
            ? fmt::format("{} forward and backward passes come before one step of the optimizer", most_passes)
            : "some steps have a backward pass but no step of the optimizer",
        "record the model without gradient accumulation; 'job.accumulate' of a scenario adds it");
  } else if (std::ranges::none_of(steps, &TracedStep::is_complete)) {
    add(problems, file, "the trace has no complete training step",
        "record at least two whole steps: forward, backward and optimizer.step()");
  }
  return steps;
}

}  // namespace gradway
