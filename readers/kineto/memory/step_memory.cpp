// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto/memory/step_memory.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace gradway {
namespace {

/// Memory of a moment: what grows with the batch, and what does not.
struct Point {
  double grows;
  double fixed;
  std::size_t moment;
};

/// The points of which one is the largest for some batch size: the upper right hull.
std::vector<Point> upper_right_hull(std::vector<Point> points) {
  std::ranges::sort(points, [](const Point& a, const Point& b) {
    return std::tuple{a.grows, a.fixed, b.moment} > std::tuple{b.grows, b.fixed, a.moment};
  });
  std::vector<Point> hull;
  const auto is_under = [](const Point& low, const Point& left, const Point& right) {
    return (right.grows - left.grows) * (low.fixed - left.fixed) <=
           (low.grows - left.grows) * (right.fixed - left.fixed);
  };
  for (const auto& point : points) {
    if (!hull.empty() && point.fixed <= hull.back().fixed) continue;
    while (hull.size() > 1 && is_under(hull.back(), point, hull[hull.size() - 2])) hull.pop_back();
    hull.push_back(point);
  }
  return hull;
}

}  // namespace

TracedMemory memory_of_step(const Trace& trace, const std::vector<TracedStep>& steps, std::size_t step,
                            const Profile& profile) {
  if (trace.allocations.empty()) return kept_tensors(trace, steps[step], profile);
  TracedMemory memory{.from = MemorySource::recorded,
                      .moments = recorded_memory(trace, steps, step, profile),
                      .unknown_operations = {}};
  if (memory.moments.empty()) memory.from = MemorySource::none;
  return memory;
}

std::optional<bool> keeps_gradients(const Trace& trace, const std::vector<TracedStep>& steps) {
  if (trace.zero_grads.empty()) return std::nullopt;
  const auto frees = [&](const TracedStep& step, const Span& call) {
    const auto is_launched_in_it = [&](const TracedLaunch& launch) {
      return launch.call->start >= call.start && launch.call->start < call.end();
    };
    const auto first = std::ranges::find_if(step.launches, [](const TracedLaunch& launch) {
      return launch.phase == ProfiledPhase::forward && launch.activity->kind == TracedActivity::Kind::kernel;
    });
    const auto updated = std::ranges::any_of(trace.optimizer_steps, [&](const Annotation& update) {
      return update.start >= step.begin && update.end() <= call.start;
    });
    const bool is_early = updated || (first != step.launches.end() && call.start < first->call->start);
    return call.start >= step.begin && call.start < step.end && is_early &&
           std::ranges::none_of(step.launches, is_launched_in_it);
  };
  return std::ranges::none_of(steps, [&](const TracedStep& step) {
    return std::ranges::any_of(trace.zero_grads, [&](const Span& call) { return frees(step, call); });
  });
}

std::vector<Span> backward_spans(const Trace& trace, std::span<const TracedStep> steps) {
  std::vector<Span> functions;
  for (const auto& operation : trace.operations) {
    if (trace.signatures[operation.signature].name.starts_with("autograd::engine::evaluate_function"))
      functions.push_back(operation);
  }
  std::ranges::sort(functions, {}, &Span::start);
  std::vector<Span> spans;
  for (const auto& step : steps) {
    const auto first = std::ranges::lower_bound(functions, step.begin, {}, &Span::start);
    const auto last = std::ranges::lower_bound(functions, step.end, {}, &Span::start);
    auto& passes = spans.emplace_back(Span{step.end, 0});
    if (first >= last) continue;
    passes.start = first->start;
    for (auto function = first; function != last; ++function)
      passes.duration = std::max(passes.duration, function->end() - passes.start);
  }
  return spans;
}

std::vector<ProfiledMoment> possible_peaks(const std::vector<ProfiledMoment>& moments) {
  std::set<std::size_t> kept;
  for (const auto phase : {ProfiledPhase::forward, ProfiledPhase::backward}) {
    for (const bool with_output : {false, true}) {
      for (const bool with_gradients : {false, true}) {
        std::vector<Point> points;
        for (std::size_t i = 0; i < moments.size(); ++i) {
          const auto& moment = moments[i];
          if (moment.phase != phase) continue;
          points.push_back({(moment.grows + (with_output ? moment.output : 0_B)).value(),
                            (moment.fixed + (with_gradients ? moment.gradients : 0_B)).value(), i});
        }
        for (const auto& point : upper_right_hull(std::move(points))) kept.insert(point.moment);
      }
    }
  }
  std::vector<ProfiledMoment> result;
  for (const auto index : kept) result.push_back(moments[index]);
  return result;
}

}  // namespace gradway
