// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/page_parts.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/metrics/view.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

// Limits the size of the page: of more passes only the earliest are shown.
constexpr std::size_t most_boxes = 20'000;

/// Start and end of a pass, in seconds since the start of the run.
struct PassSpan {
  std::size_t stage = 0;
  const StagePass* pass = nullptr;
  Seconds start = Seconds::infinite();
  Seconds end{};
};

/// The pass of each task of a program.
std::vector<std::size_t> passes_of_tasks(const Program& program) {
  std::vector<std::size_t> of(program.tasks.size(), program.passes.size());
  for (std::size_t i = 0; i < program.passes.size(); ++i)
    for (auto task = program.passes[i].first; task < program.passes[i].end; ++task) of[task] = i;
  return of;
}

std::vector<PassSpan> pass_spans(const Run& run) {
  const auto& programs = run.workload.programs;
  std::vector<std::vector<PassSpan>> by_program(programs.size());
  std::vector<std::vector<std::size_t>> pass_of;
  std::vector<View> views;
  for (std::size_t stage = 0; stage < programs.size(); ++stage) {
    pass_of.push_back(passes_of_tasks(programs[stage]));
    views.emplace_back(run.workload, run.folding, ProgramId{stage});
    for (const auto& pass : programs[stage].passes) by_program[stage].push_back({stage, &pass});
  }
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const auto& origin = run.ops.op(OpId{i}).origin;
    if (origin.step != run.window.step || origin.activity != Activity::kernel) continue;
    if (!views[origin.program].sees(origin)) continue;
    const auto pass = pass_of[origin.program][static_cast<std::size_t>(origin.task)];
    if (pass == programs[origin.program].passes.size()) continue;
    auto& box = by_program[origin.program][pass];
    box.start = std::min(box.start, run.timeline.start[i]);
    box.end = std::max(box.end, run.timeline.end[i]);
  }
  std::vector<PassSpan> boxes;
  for (const auto& of_stage : by_program)
    std::ranges::copy_if(of_stage, std::back_inserter(boxes),
                         [](const PassSpan& box) { return box.end > box.start; });
  std::ranges::stable_sort(boxes, {}, &PassSpan::start);
  return boxes;
}

/// Micro-batches of the step that are not drawn, since a period stands for them.
int micro_batches_left_out(const Run& run, const std::vector<PassSpan>& boxes) {
  if (run.window.repeated.left_out == 0) return 0;
  int drawn = 0;
  for (const auto& box : boxes) drawn = std::max(drawn, box.pass->micro_batch + 1);
  return run.scenario.job.accumulate - drawn;
}

double microseconds(Seconds time) {
  return time.value() * 1e6;
}

}  // namespace

Json pipeline_json(const Run& run) {
  if (run.workload.first_program().passes.empty()) return nullptr;
  auto boxes = pass_spans(run);
  Json until;
  if (boxes.size() > most_boxes) {
    until = microseconds(boxes[most_boxes].start - run.window.from);
    boxes.resize(most_boxes);
  }
  const auto left_out = micro_batches_left_out(run, boxes);
  Json stages = Json::array();
  for (const auto& program : run.workload.programs) stages.push_back(program.name);
  Json passes = Json::array();
  for (const auto& box : boxes) {
    const bool is_after = left_out > 0 && box.start >= run.window.repeated.to;
    passes.push_back({box.stage, microseconds(box.start - run.window.from), microseconds(box.end - box.start),
                      static_cast<int>(box.pass->pass), box.pass->micro_batch + (is_after ? left_out : 0),
                      box.pass->chunk});
  }
  return {{"to_us", microseconds(run.window.to - run.window.from)},
          {"until_us", std::move(until)},
          {"stages", std::move(stages)},
          {"chunks", run.scenario.job.layout.chunks},
          {"passes", std::move(passes)}};
}

}  // namespace gradway::report
