// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "sim/metrics/intervals.hpp"
#include "sim/metrics/view.hpp"
#include "sim/study/explain/explain.hpp"

namespace gradway {
namespace {

constexpr double least_share = 1e-3;

/// When a task of the step ran, and when the CPU had launched it.
struct TaskTimes {
  Seconds start = Seconds::infinite();
  Seconds end{};
  Seconds launched{};
};

/// The name under which tasks of all layers are shown together: "block all-gather" for "block 17 all-gather",
/// "h.mlp all-gather" for "h.3.mlp all-gather".
std::string name_without_numbers(const std::string& name) {
  std::string kind;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
      kind += name[i];
    } else if (kind.ends_with(' ') || kind.ends_with('.')) {
      kind.pop_back();
    }
  }
  return kind;
}

/// Whether a task is a place in a stream before the passes of the step: it waits for what was issued there
/// before, which is the optimizer of the step before.
bool waits_for_optimizer(const Program& program, std::size_t task) {
  const auto& waiting = program.tasks[task];
  if (!std::holds_alternative<Wait>(waiting.work) || !waiting.after.empty()) return false;
  return std::none_of(program.tasks.begin(), program.tasks.begin() + static_cast<std::ptrdiff_t>(task),
                      [&](const Task& one) {
                        const bool is_pass = one.phase == Phase::forward || one.phase == Phase::backward;
                        return one.stream == waiting.stream && is_pass;
                      });
}

/// The timeline of the first rank's tasks in the last reported step.
class CallAnalysis {
 public:
  explicit CallAnalysis(const Run& run) : run_{run}, program_{run.workload.first_program()} {
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
      // The marker before the parts of a call is its wait, not its work.
      const bool is_call = std::holds_alternative<Call>(program_.tasks[task].work);
      if (is_call && origin.activity == Activity::marker) continue;
      times.start = std::min(times.start, run.timeline.start[i]);
      times.end = std::max(times.end, run.timeline.end[i]);
      if (origin.activity == Activity::kernel)
        kernels_.push_back({run.timeline.start[i], run.timeline.end[i], 0});
    }
  }

  /// Time of a call during which no kernel runs.
  Seconds exposed(std::size_t task) const {
    const auto& times = times_[task];
    if (times.end <= times.start) return {};
    return times.end - times.start - covered(kernels_, times.start, times.end);
  }

  /// What the start of a call waited for longest.
  ExposureReason why(std::size_t task) const {
    const auto before = before_on_stream(task);
    const auto own = latest_of(program_.tasks[task].after);
    if (before && (!own || times_[*before].end >= times_[*own].end))
      return {ExposureCause::communicator, name_without_numbers(program_.tasks[*before].name)};
    if (!own) return {ExposureCause::step_start};
    return why_input(*own);
  }

 private:
  /// @param task that computes or copies the input of a call
  ExposureReason why_input(std::size_t task) const {
    const auto& times = times_[task];
    const auto gate = latest_of(program_.tasks[task].after);
    const auto gate_end = gate ? times_[*gate].end : Seconds{};
    const auto before = before_on_stream(task);
    const auto before_end = before ? times_[*before].end : Seconds{};
    if (times.launched > gate_end && times.launched > before_end) return {ExposureCause::late_launch};
    if (!gate || gate_end < before_end) return {ExposureCause::late_input};
    if (*gate < task && waits_for_optimizer(program_, *gate)) return {ExposureCause::optimizer};
    return {ExposureCause::dependency, name_without_numbers(program_.tasks[*gate].name)};
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
  std::vector<TaskTimes> times_;
  std::vector<Interval> kernels_;
};

}  // namespace

std::vector<ExposedCalls> exposed_calls(const Run& run) {
  const CallAnalysis analysis{run};
  struct Kind {
    ExposedCalls calls;
    std::map<ExposureReason, Seconds> reasons;
  };
  std::map<std::string, Kind> kinds;
  const auto& tasks = run.workload.first_program().tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!std::holds_alternative<Call>(tasks[i].work)) continue;
    const auto exposed = analysis.exposed(i);
    if (exposed <= Seconds{}) continue;
    auto& [calls, reasons] = kinds[name_without_numbers(tasks[i].name)];
    ++calls.calls;
    calls.exposed += exposed;
    reasons[analysis.why(i)] += exposed;
  }
  std::vector<ExposedCalls> found;
  for (auto& [name, kind] : kinds) {
    if (kind.calls.exposed < run.measured.metrics.step_time * least_share) continue;
    kind.calls.name = name;
    kind.calls.why =
        std::ranges::max_element(kind.reasons, {}, [](const auto& one) { return one.second; })->first;
    found.push_back(std::move(kind.calls));
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.exposed > b.exposed; });
  return found;
}

}  // namespace gradway
