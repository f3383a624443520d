// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search/layout_requirements.hpp"

#include <algorithm>
#include <numeric>

#include "sim/compute/memory_range.hpp"
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

/// Kernels of both passes of all micro-batches. @param planned micro-batches in the program
Seconds time_of_kernels(const Program& program, int planned, int micro_batches) {
  const auto kernels = [&](std::size_t first, std::size_t end) {
    Seconds sum{};
    for (auto i = first; i < end; ++i) {
      const auto& task = program.tasks[i];
      const auto* kernel = std::get_if<Kernel>(&task.work);
      if (kernel != nullptr && (task.phase == Phase::forward || task.phase == Phase::backward))
        sum += kernel->work;
    }
    return sum;
  };
  if (program.passes.empty()) return kernels(0, program.tasks.size()) / planned * micro_batches;
  Seconds sum{};
  for (const auto& pass : program.passes) {
    const bool is_like_others = pass.micro_batch > 0 && pass.micro_batch + 1 < planned;
    const auto times = is_like_others ? (micro_batches - 2.0) / (planned - 2.0) : 1;
    sum += kernels(pass.first, pass.end) * times;
  }
  return sum;
}

/// Lower bound of the step time, the larger of two bounds. One is the kernels of the slowest stage and the
/// passes of a micro-batch through the stages before it, at full clocks, which GPUs that often wait have;
/// separate passes for weight gradients fill the bubble. The other is the average of all stages' kernels at
/// the clocks of GPUs that never wait, because waiting costs more than the higher clocks gain.
/// @param planned micro-batches in the programs
/// @param slowdown of passes on a GPU that never waits
Seconds least_time(const std::vector<Program>& programs, const Job& job, int planned, double slowdown) {
  const auto pipeline = pipeline_of(job.layout);
  Seconds least{};
  Seconds arrival{};
  Seconds of_all{};
  for (const auto& program : programs) {
    const auto busy = time_of_kernels(program, planned, job.accumulate);
    of_all += busy;
    least = std::max(least, arrival + busy);
    if (!pipeline.splits_backward()) arrival += busy / job.accumulate / pipeline.chunks;
  }
  return std::max(least, of_all / static_cast<double>(programs.size()) * slowdown);
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
  scenario.job.accumulate = planned_micro_batches(job);
  const auto programs = programs_of_ranks(scenario, passes.at_full_clocks);
  Requirements required{.at_least =
                            std::max(least_time(programs, job, scenario.job.accumulate, passes.slowdown),
                                     passes.launches / job.layout.pipeline * job.accumulate)};
  scenario.job.accumulate = enough_micro_batches(job);
  const auto memory = memory_of_ranks(scenario, passes.at_full_clocks);
  const auto& most = *std::ranges::max_element(memory, {}, &MemoryUse::needed);
  required.needs = most.needed();
  required.surely_fits = surely_fits(scenario, most);
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
