// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/halved_work.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/metrics/ops_of_steps.hpp"

namespace gradway {
namespace {

using Dates = std::array<double, work_kinds>;

std::optional<WorkKind> work_of(const Origin& origin) {
  switch (origin.activity) {
    case Activity::kernel:
      return WorkKind::kernels;
    case Activity::launch:
      return WorkKind::launches;
    case Activity::collective:
      return WorkKind::collectives;
    case Activity::copy:
      return origin.phase == Phase::communication ? WorkKind::collectives : WorkKind::copies;
    case Activity::load:
    case Activity::marker:
      break;
  }
  return std::nullopt;
}

/// By op: the next one of its queue, in the order in which the queue served them; `absent` for the last.
std::vector<std::uint32_t> followers_in_queues(const OpGraph& graph, const Timeline& timeline) {
  std::vector<std::uint32_t> queued;
  for (std::uint32_t i = 0; i < graph.size(); ++i)
    if (graph.ops()[i].queue != Op::absent) queued.push_back(i);
  std::ranges::sort(queued, {}, [&](std::uint32_t i) {
    return std::tuple{graph.ops()[i].queue, timeline.start[i], timeline.end[i], i};
  });
  std::vector<std::uint32_t> follower(graph.size(), Op::absent);
  for (std::size_t i = 0; i + 1 < queued.size(); ++i)
    if (graph.ops()[queued[i]].queue == graph.ops()[queued[i + 1]].queue) follower[queued[i]] = queued[i + 1];
  return follower;
}

/// Dates of ops with half of one kind of work, for all kinds at once.
class HalvedDates {
 public:
  HalvedDates(const OpGraph& graph, const Timeline& timeline)
      : graph_{graph},
        timeline_{timeline},
        successors_{graph},
        followers_{followers_in_queues(graph, timeline)},
        holds_(graph.size()),
        dates_(graph.size(), Dates{}) {
    auto waits = successors_.take_predecessor_counts();
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      if (followers_[i] != Op::absent) ++waits[followers_[i]];
      if (graph.ops()[i].kind != OpKind::hold) continue;
      ++waits[i];
      holds_[graph.ops()[i].until].push_back(i);
    }
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < graph.size(); ++i)
      if (waits[i] == 0) ready.push_back(i);
    const auto release = [&](std::uint32_t after, const Dates& end) {
      for (std::size_t kind = 0; kind < work_kinds; ++kind)
        dates_[after][kind] = std::max(dates_[after][kind], end[kind]);
      if (--waits[after] == 0) ready.push_back(after);
    };
    while (!ready.empty()) {
      const auto op = ready.back();
      ready.pop_back();
      finish(op);
      for (const auto after : successors_.of(OpId{op}))
        release(static_cast<std::uint32_t>(after.index()), dates_[op]);
      if (followers_[op] != Op::absent) release(followers_[op], dates_[op]);
      for (const auto hold : holds_[op]) release(hold, dates_[op]);
    }
  }

  /// The end of the last op of a step.
  Dates end_of(int step) const {
    Dates end{};
    const auto last = first_op_of(step + 1, graph_);
    for (auto i = first_op_of(step, graph_); i < last; ++i)
      for (std::size_t kind = 0; kind < work_kinds; ++kind) end[kind] = std::max(end[kind], dates_[i][kind]);
    return end;
  }

  /// The end of the last op that ends by this date if nothing is halved.
  Dates end_by(Seconds date) const {
    Dates end{};
    for (std::uint32_t i = 0; i < graph_.size(); ++i)
      if (timeline_.end[i] <= date)
        for (std::size_t kind = 0; kind < work_kinds; ++kind)
          end[kind] = std::max(end[kind], dates_[i][kind]);
    return end;
  }

 private:
  /// Turns the start of an op into its end.
  void finish(std::uint32_t i) {
    const auto& op = graph_.ops()[i];
    if (op.kind == OpKind::hold || op.is_endless()) return;
    const auto took = timeline_.duration(OpId{i}).value();
    const auto kind = work_of(op.origin);
    // The latency of a launch is its work; other latencies are not shortened by faster hardware.
    const auto fixed = kind == WorkKind::launches ? 0.0 : std::min(op.latency.value(), took);
    const auto rival = kind == WorkKind::kernels ? WorkKind::collectives : WorkKind::kernels;
    for (std::size_t work = 0; work < work_kinds; ++work) {
      const auto halved = static_cast<WorkKind>(work);
      dates_[i][work] += kind == halved    ? fixed + (took - fixed) / 2
                         : rival == halved ? took - contention(op, took) / 2
                                           : took;
    }
  }

  /// Time by which contention made an op longer, at most.
  double contention(const Op& op, double took) const {
    if (op.kind != OpKind::flow || op.contender == Op::absent) return 0;
    const auto alone = op.amount / op.cap;
    const auto most = alone * (graph_.contenders()[op.contender].slowdown - 1);
    return std::clamp(took - op.latency.value() - alone, 0.0, most);
  }

  const OpGraph& graph_;
  const Timeline& timeline_;
  Successors successors_;
  std::vector<std::uint32_t> followers_;
  std::vector<std::vector<std::uint32_t>> holds_;  ///< by the op with which they end
  std::vector<Dates> dates_;                       ///< by op: its start until it is finished, then its end
};

}  // namespace

SavedShares shares_saved_by_half(const OpGraph& graph, const Timeline& timeline, const StepWindow& window) {
  const HalvedDates halved{graph, timeline};
  const auto end_dates = halved.end_of(window.step);
  const auto before = window.step - window.steps;
  const auto start_dates = before >= 0 ? halved.end_of(before) : Dates{};
  // Periods that were left out are as long as the one that stands for them, halved or not.
  const auto& repeated = window.repeated;
  const bool repeats = repeated.left_out > 0;
  const auto period_to = repeats ? halved.end_by(repeated.to) : Dates{};
  const auto period_from = repeats ? halved.end_by(repeated.from) : Dates{};
  const auto length = (window.each() * window.steps).value();
  SavedShares shares{};
  for (std::size_t kind = 0; length > 0 && kind < work_kinds; ++kind) {
    const auto left_out = (period_to[kind] - period_from[kind]) * repeated.left_out;
    shares[kind] = 1 - (end_dates[kind] - start_dates[kind] + left_out) / length;
  }
  return shares;
}

}  // namespace gradway
