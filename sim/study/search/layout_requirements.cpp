// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/layout_requirements.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/compute/memory_range.hpp"
#include "sim/lower/communicators.hpp"
#include "sim/lower/step_collectives.hpp"
#include "sim/nccl/alone_time.hpp"
#include "sim/plan/plan.hpp"
#include "sim/scenario/pipeline/schedule.hpp"
#include "sim/scenario/pipeline/stages.hpp"
#include "sim/workload/blocks.hpp"

namespace gradway {
namespace {

// Of a step only the first micro-batch and the last one differ from the others.
constexpr int different_micro_batches = 3;

/// The fewest micro-batches whose programs have one of each kind.
int planned_micro_batches(const Job& job) {
  const auto& layout = job.layout;
  auto least = different_micro_batches;
  if (layout.schedule == Schedule::dual_pipe_v) least = 2 * layout.pipeline;
  if (layout.schedule == Schedule::interleaved)
    least = (least + layout.pipeline - 1) / layout.pipeline * layout.pipeline;
  return std::min(job.accumulate, least);
}

/// Tasks of a program in a row, of one direction of a micro-batch.
struct TasksOfPass {
  std::size_t first = 0;
  std::size_t end = 0;
  int micro_batch = 0;
};

bool is_kernel_of_pass(const Task& task) {
  return (task.phase == Phase::forward || task.phase == Phase::backward) &&
         std::holds_alternative<Kernel>(task.work);
}

/// Those that a pipeline names; else the kernels of a micro-batch's passes with what is issued between them.
std::vector<TasksOfPass> passes_of(const Program& program) {
  std::vector<TasksOfPass> passes;
  for (const auto& pass : program.passes) passes.push_back({pass.first, pass.end, pass.micro_batch});
  if (!passes.empty()) return passes;
  int micro_batches = 0;
  auto last = Phase::optimizer;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const auto& task = program.tasks[i];
    if (!is_kernel_of_pass(task)) continue;
    if (task.phase == Phase::forward && last != Phase::forward) ++micro_batches;
    if (task.phase != last) passes.push_back({.first = i, .micro_batch = micro_batches - 1});
    passes.back().end = i + 1;
    last = task.phase;
  }
  return passes;
}

/// Time that each call of a program takes at least: that of the same call if nothing else runs. Messages
/// between stages are left out.
using TimesAlone = std::map<std::tuple<Slot, CollectiveKind, Bytes>, Seconds>;

/// Both passes of all micro-batches on a rank that waits for no other.
struct BusyTimes {
  Seconds kernels{};
  Seconds passes{};  ///< with the communication that their kernels wait for
};

/// Time from the first kernel of a pass to its last one, as far as its own tasks take it. Tasks that depend
/// on none of its kernels may have ended before the pass.
Seconds time_of_pass(const Program& program, const TasksOfPass& pass, const TimesAlone& times_alone) {
  std::vector<Seconds> stream_ends(program.streams.size());
  std::vector<Seconds> ends;
  Seconds compute{};
  for (auto i = pass.first; i < pass.end; ++i) {
    const auto& task = program.tasks[i];
    auto end = stream_ends[task.stream.index()];
    for (const auto before : task.after)
      if (before.index() >= pass.first) end = std::max(end, ends[before.index() - pass.first]);
    if (const auto* kernel = std::get_if<Kernel>(&task.work)) {
      end += kernel->work;
    } else if (const auto* call = std::get_if<Call>(&task.work); call != nullptr && end > Seconds{}) {
      const auto known = times_alone.find({call->group, call->kind, call->bytes});
      if (known != times_alone.end()) end += known->second;
    }
    ends.push_back(end);
    if (program.lane(task) != Lane::unordered) stream_ends[task.stream.index()] = end;
    if (is_kernel_of_pass(task)) compute = std::max(compute, end);
  }
  return compute;
}

/// @param planned micro-batches in the program
BusyTimes busy_times(const Program& program, int planned, int micro_batches, const TimesAlone& times_alone) {
  BusyTimes sum;
  for (const auto& pass : passes_of(program)) {
    const bool is_like_others = pass.micro_batch > 0 && pass.micro_batch + 1 < planned;
    const auto times = is_like_others ? (micro_batches - 2.0) / (planned - 2.0) : 1;
    for (auto i = pass.first; i < pass.end; ++i) {
      const auto& task = program.tasks[i];
      if (is_kernel_of_pass(task)) sum.kernels += std::get<Kernel>(task.work).work * times;
    }
    sum.passes += time_of_pass(program, pass, times_alone) * times;
  }
  return sum;
}

/// Lower bound of the step time, the larger of two bounds. One is the passes of the slowest stage and those
/// of a micro-batch through the stages before it, at full clocks, which GPUs that often wait have;
/// separate passes for weight gradients fill the bubble. The other is the average of all stages' kernels at
/// the clocks of GPUs that never wait, because waiting costs more than the higher clocks gain.
/// @param planned micro-batches in the programs
/// @param times_alone by program
/// @param slowdown of passes on a GPU that never waits
Seconds least_time(std::span<const Program> programs, const std::vector<TimesAlone>& times_alone,
                   const Job& job, int planned, double slowdown) {
  const auto pipeline = pipeline_of(job.layout);
  Seconds least{};
  Seconds arrival{};
  Seconds of_all{};
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const auto busy = busy_times(programs[i], planned, job.accumulate, times_alone[i]);
    of_all += busy.kernels;
    least = std::max(least, arrival + busy.passes);
    if (!pipeline.splits_backward()) arrival += busy.passes / job.accumulate / pipeline.chunks;
  }
  return std::max(least, of_all / static_cast<double>(programs.size()) * slowdown);
}

/// By program of the ranks. None are known where NCCL refuses the layout, which its simulation reports.
std::vector<TimesAlone> times_alone_of(const Workload& workload, const Scenario& scenario) {
  std::vector<TimesAlone> by_program(workload.programs_of_ranks());
  try {
    const Communicators communicators{workload, scenario};
    std::vector<bool> is_known(by_program.size());
    for (const auto& actor : workload.actors) {
      const auto program = actor.program.index();
      if (program >= by_program.size() || is_known[program]) continue;
      is_known[program] = true;
      for (const auto& [slot, calls] : calls_of(workload.programs[program])) {
        const auto group = actor.groups[slot.index];
        if (workload.groups[group.index()].purpose == Purpose::pipeline) continue;
        for (const auto& [kind, bytes] : calls)
          by_program[program][{slot, kind, bytes}] =
              time_alone(communicators.of(group).lower(kind, bytes), scenario.platform);
      }
    }
  } catch (const ConfigError&) {
    by_program.assign(by_program.size(), {});
  }
  return by_program;
}

Seconds time_of_passes(const ComputeCosts& costs) {
  return total(costs.forward) + total(costs.backward);
}

Seconds launch_time_of_passes(const Scenario& scenario, const ComputeCosts& costs) {
  const auto& gpu = scenario.platform.gpu_models.front();
  if (gpu.ideal) return {};
  const auto operations = std::accumulate(costs.forward_host.begin(), costs.forward_host.end(), 0.0) +
                          std::accumulate(costs.backward_host.begin(), costs.backward_host.end(), 0.0);
  return operations * (scenario.model.run ? costs.operation : gpu.launch_cost);
}

}  // namespace

int enough_micro_batches(const Job& job) {
  const auto& layout = job.layout;
  const bool keeps_all = layout.schedule == Schedule::gpipe || layout.schedule == Schedule::looped_bfs;
  return keeps_all ? job.accumulate : std::min(job.accumulate, 2 * layout.pipeline);
}

const RequirementEstimator::Passes& RequirementEstimator::passes_of(const Job& job) {
  scenario_.job = job;
  auto [entry, is_new] = costs_.try_emplace(key_of(job));
  auto& [costs, slowdown, launches] = entry->second;
  if (is_new) {
    costs = compute_costs(scenario_, WaitRatio::always());
    if (const auto least = time_of_passes(costs); least > Seconds{})
      slowdown = time_of_passes(compute_costs(scenario_)) / least;
    if (job.cuda_graphs == CudaGraphs::none) launches = launch_time_of_passes(scenario_, costs);
  }
  return entry->second;
}

Requirements RequirementEstimator::estimate(const Job& job) const {
  const auto& passes = costs_.at(key_of(job));
  auto scenario = scenario_;
  scenario.job = job;
  scenario.job.accumulate = enough_micro_batches(job);
  const auto memory = memory_of_ranks(scenario, passes.at_full_clocks);
  const auto& most = *std::ranges::max_element(memory, {}, &MemoryUse::needed);
  Requirements required{
      .needs = most.needed(), .fits = fits(scenario, most), .surely_fits = surely_fits(scenario, most)};
  if (!required.fits) return required;
  scenario.job.accumulate = planned_micro_batches(job);
  const auto workload = plan(scenario, passes.at_full_clocks);
  const std::span ranks{workload.programs.data(), workload.programs_of_ranks()};
  required.at_least = std::max(
      least_time(ranks, times_alone_of(workload, scenario), job, scenario.job.accumulate, passes.slowdown),
      passes.launches / job.layout.pipeline * job.accumulate);
  return required;
}

Seconds RequirementEstimator::least_time_of(const Job& job) {
  const auto& [costs, slowdown, launches] = passes_of(job);
  const auto pipeline = pipeline_of(job.layout);
  Seconds recomputed{};
  for (std::size_t i = 0; job.recompute == Recompute::full && i < costs.forward.size(); ++i)
    if (!block_name(scenario_.model.layers[i].name).empty())  // not the output layer and the loss
      recomputed += costs.forward[i] / job.recompute_every;
  const auto of_micro_batch = (time_of_passes(costs) + recomputed) / job.layout.pipeline;
  const auto before = pipeline.splits_backward() ? 0.0 : (job.layout.pipeline - 1.0) / pipeline.chunks;
  return std::max({of_micro_batch * (job.accumulate + before), of_micro_batch * job.accumulate * slowdown,
                   launches / job.layout.pipeline * job.accumulate});
}

}  // namespace gradway
