// SPDX-License-Identifier: Apache-2.0
#include "sim/study/explain/overlap.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "sim/metrics/intervals.hpp"
#include "sim/metrics/view.hpp"
#include "sim/nccl/alone_time.hpp"
#include "sim/run/steady_state.hpp"

namespace gradway {
namespace {

/// The graph with a join in place of each collective and of each hold.
OpGraph without_collectives(const OpGraph& graph) {
  OpGraph joined;
  joined.reserve(graph.size(), graph.edges().size());
  for (const auto& path : graph.paths()) joined.add_path(path);
  for (const auto& queue : graph.queues()) joined.add_queue(queue);
  for (const auto& side : graph.contenders()) joined.add_contender(side);
  for (const auto& op : graph.ops()) {
    if (op.origin.activity != Activity::collective && op.kind != OpKind::hold) {
      joined.add(op);
      continue;
    }
    Op join;
    join.origin = op.origin;
    join.origin.activity = Activity::marker;
    joined.add(join);
  }
  for (const auto& edge : graph.edges()) joined.add_edge(edge.before, edge.after);
  return joined;
}

Seconds step_without_collectives(const Run& run, const Communicators& communicators,
                                 std::string_view engine) {
  const auto lowering_plan = make_lowering_plan(run.workload, run.scenario, communicators);
  const auto lowered = [&](const Workload& workload) {
    auto lowering = lower(workload, run.scenario.platform, communicators, lowering_plan);
    lowering.ops = without_collectives(lowering.ops);
    return lowering;
  };
  return run_to_steady_state(run.workload, run.scenario.platform, engine, lowered).window.each();
}

}  // namespace

Overlap overlap_of(const Run& run, std::string_view engine) {
  Overlap overlap;
  const Communicators communicators{run.workload, run.scenario};
  overlap.without_collectives = step_without_collectives(run, communicators, engine);
  Bytes largest{};
  const auto& program = run.workload.programs[run.measured.program.index()];
  const auto actor = std::ranges::find(run.workload.actors, run.measured.program, &Actor::program);
  for (const auto& task : program.tasks) {
    const auto* call = std::get_if<Call>(&task.work);
    if (!call) continue;
    const auto& communicator = communicators.of(actor->groups[call->group.index]);
    auto lowered = communicator.lower(call->kind, call->bytes);
    for (const auto& collective : lowered.provenance) {
      auto from = collectives_from(collective, run.scenario.calibration);
      if (std::ranges::find(overlap.basis, from) == overlap.basis.end())
        overlap.basis.push_back(std::move(from));
    }
    overlap.collectives += time_alone(lowered, run.scenario.platform);
    if (call->bytes >= largest) overlap.limit = lowered.limit;
    largest = std::max(largest, call->bytes);
    lowered.latency = Seconds{};
    for (auto& flow : lowered.flows) flow.cap = std::numeric_limits<double>::infinity();
    overlap.links += time_alone(lowered, run.scenario.platform);
  }
  return overlap;
}

namespace {

constexpr double least_exposed_share = 1e-3;

/// When a task of the step ran, and when the CPU had launched it.
struct Times {
  Seconds start = Seconds::infinite();
  Seconds end{};
  Seconds launched{};
};

/// "block all-gather" of "block 17 all-gather": tasks whose names differ in numbers only are of one kind.
std::string kind_of(const std::string& name) {
  std::string kind;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
      kind += name[i];
    } else if (kind.ends_with(' ')) {
      kind.pop_back();
    }
  }
  return kind;
}

class CallTimes {
 public:
  explicit CallTimes(const Run& run) : run_{run}, program_{run.workload.first_program()} {
    times_.resize(program_.tasks.size());
    const View view{run.workload, run.folding, ActorId{0}};
    const MatchingCalls calls{run.workload};
    for (std::size_t i = 0; i < run.ops.size(); ++i) {
      const auto& origin = run.ops.op(OpId{i}).origin;
      if (origin.step != run.window.step || origin.task == Origin::none || !view.sees(origin)) continue;
      const auto task = static_cast<std::size_t>(view.task_of(origin, calls));
      auto& times = times_[task];
      if (origin.activity == Activity::launch) {
        times.launched = run.timeline.end[i];
        continue;
      }
      // The marker before a call's parts stands for its wait, not for its work.
      const bool is_call = std::holds_alternative<Call>(program_.tasks[task].work);
      if (is_call && origin.activity == Activity::marker) continue;
      times.start = std::min(times.start, run.timeline.start[i]);
      times.end = std::max(times.end, run.timeline.end[i]);
      if (origin.activity == Activity::kernel)
        kernels_.push_back({run.timeline.start[i], run.timeline.end[i], 0});
    }
    std::ranges::stable_sort(kernels_, {}, &Interval::start);
    for (const auto& kernel : kernels_)
      ended_by_.push_back(ended_by_.empty() ? kernel.end : std::max(ended_by_.back(), kernel.end));
  }

  const Times& of(std::size_t task) const { return times_[task]; }

  /// Time of a call that no kernel overlaps.
  Seconds exposed(std::size_t task) const {
    const auto& times = times_[task];
    if (times.end <= times.start) return {};
    const auto first = std::ranges::upper_bound(ended_by_, times.start) - ended_by_.begin();
    const auto last = std::ranges::lower_bound(kernels_, times.end, {}, &Interval::start) - kernels_.begin();
    if (first >= last) return times.end - times.start;
    const std::vector<Interval> beside{kernels_.begin() + first, kernels_.begin() + last};
    return times.end - times.start - covered(beside, times.start, times.end);
  }

  /// The last event that the start of a call waited for.
  CallWait wait_of(std::size_t task) const {
    const auto before = before_on_stream(task);
    const auto latest = latest_of(program_.tasks[task].after);
    if (before && (!latest || times_[*before].end >= times_[*latest].end))
      return {CallWait::For::earlier_call, kind_of(program_.tasks[*before].name)};
    if (!latest) return {CallWait::For::step_start};
    return wait_of_input(*latest);
  }

 private:
  /// @param task that produces the data of a call
  CallWait wait_of_input(std::size_t task) const {
    const auto& times = times_[task];
    const auto& of_task = program_.tasks[task];
    const auto gate = latest_of(of_task.after);
    const auto gate_end = gate ? times_[*gate].end : Seconds{};
    const auto before = before_on_stream(task);
    const auto before_end = before ? times_[*before].end : Seconds{};
    if (times.launched > gate_end && times.launched > before_end) return {CallWait::For::launch};
    if (gate && gate_end >= before_end) {
      const auto& name = program_.tasks[*gate].name;
      if (*gate < task && name == "parameters are there") return {CallWait::For::optimizer};
      return {CallWait::For::memory, kind_of(name)};
    }
    return {CallWait::For::last_input};
  }

  std::optional<std::size_t> before_on_stream(std::size_t task) const {
    for (auto i = task; i-- > 0;)
      if (program_.tasks[i].stream == program_.tasks[task].stream) return i;
    return std::nullopt;
  }

  std::optional<std::size_t> latest_of(const std::vector<TaskId>& tasks) const {
    std::optional<std::size_t> latest;
    for (const auto id : tasks)
      if (!latest || times_[id.index()].end > times_[*latest].end) latest = id.index();
    return latest;
  }

  const Run& run_;
  const Program& program_;
  std::vector<Times> times_;
  std::vector<Interval> kernels_;  ///< in the order in which they start
  std::vector<Seconds> ended_by_;  ///< by kernel: when it and all before it have ended
};

}  // namespace

std::vector<ExposedCalls> exposed_calls(const Run& run) {
  const CallTimes times{run};
  struct Kind {
    ExposedCalls calls;
    std::map<CallWait, Seconds> waits;
  };
  std::map<std::string, Kind> kinds;
  const auto& tasks = run.workload.first_program().tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!std::holds_alternative<Call>(tasks[i].work)) continue;
    const auto exposed = times.exposed(i);
    if (exposed <= Seconds{}) continue;
    auto& [calls, waits] = kinds[kind_of(tasks[i].name)];
    ++calls.calls;
    calls.exposed += exposed;
    waits[times.wait_of(i)] += exposed;
  }
  std::vector<ExposedCalls> reported;
  for (auto& [name, kind] : kinds) {
    if (kind.calls.exposed < run.measured.metrics.step_time * least_exposed_share) continue;
    kind.calls.name = name;
    kind.calls.wait =
        std::ranges::max_element(kind.waits, {}, [](const auto& wait) { return wait.second; })->first;
    reported.push_back(std::move(kind.calls));
  }
  std::ranges::stable_sort(reported, [](const auto& a, const auto& b) { return a.exposed > b.exposed; });
  return reported;
}

}  // namespace gradway
