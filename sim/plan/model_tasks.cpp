// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_tasks.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/plan/offload.hpp"
#include "sim/plan/task_list.hpp"
#include "sim/scenario/pipeline/schedule.hpp"

namespace gradway {
namespace {

Task input_copy(Bytes bytes, const InputSettings& input, Seconds launch) {
  Task task;
  task.name = "input copy";
  task.work = Copy{.bytes = bytes, .to = Place::gpu, .pinned = input.pin_memory};
  task.phase = Phase::input;
  task.stream = compute_stream;
  task.launch = launch;
  task.host_waits = !input.pin_memory;  // a copy from pageable memory returns when it is done
  return task;
}

Task kernel(const std::string& name, Phase phase, Seconds work, Seconds launch) {
  Task task;
  task.name = name;
  task.phase = phase;
  task.work = Kernel{.work = work};
  task.stream = compute_stream;
  task.launch = launch;
  return task;
}

/// The CPU steps the parameters itself, so it issues nothing else.
Task host_step(Seconds time) {
  Task task;
  task.name = "optimizer on the CPU";
  task.phase = Phase::optimizer;
  task.work = Wait{};
  task.stream = compute_stream;
  task.launch = time;
  task.launches = 0;
  return task;
}

ModelTasks from_layers(const RankScenario& scenario, const ComputeCosts& costs, const Blocks* blocks) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto& layers = scenario.model.layers;
  const auto launch = scenario.model.run ? costs.operation : gpu.launch_cost;
  const bool splits = pipeline_of(scenario.job.layout).splits_backward();
  const bool is_eager = !has_megatron_modules(scenario.job) && !scenario.job.compiled;
  ModelTasks program;
  const auto add = [&](std::vector<ModelTask>& tasks, std::size_t layer, Phase phase, Seconds work,
                       int kernels, std::size_t gradients) {
    auto task = kernel(layers[layer].name, phase, work, launch * kernels);
    task.layer = static_cast<std::int32_t>(layer);
    task.launches = kernels;
    tasks.push_back({std::move(task), gradients, blocks != nullptr ? blocks->of_layer[layer] : Blocks::none});
  };

  const auto add_pieces = [&](std::vector<ModelTask>& tasks, std::size_t layer, Phase phase,
                              const std::vector<ComputeCosts::Piece>& pieces, std::size_t gradients) {
    if (pieces.empty()) return;
    bool is_first = !costs.is_dtensor.empty() && costs.is_dtensor[layer] != 0;
    bool sorts_rows = is_eager && scenario.job.layout.expert > 1 && layers[layer].name.ends_with(".dispatch");
    const auto* last = &pieces.back();
    while (last != &pieces.front() && last->launches == 0) --last;
    bool was_read = false;
    for (const auto& piece : pieces) {
      for (const auto& sent : piece.sends) {
        Task task;
        task.name = fmt::format("{} {}", layers[layer].name, name_of(sent.kind));
        task.work = Call{sent.kind, sent.bytes, Slot{0}};
        task.host_waits = sent.host_waits;
        task.phase = Phase::communication;
        task.launch = is_eager && sent.over == RankGroup::expert
                          ? costs.operation * (phase == Phase::forward ? expert_cpu.exchange_forward
                                                                       : expert_cpu.exchange_backward)
                          : ddp_cpu.all_reduce;
        task.layer = static_cast<std::int32_t>(layer);
        tasks.push_back({std::move(task), 0, blocks != nullptr ? blocks->of_layer[layer] : Blocks::none});
        tasks.back().over = sent.over;
      }
      if (piece.launches == 0) continue;
      add(tasks, layer, phase, piece.time, piece.launches, &piece == last ? gradients : 0);
      tasks.back().waits_for = piece.waits_for;
      tasks.back().task.host_waits = piece.host_waits;
      if (std::exchange(was_read, piece.host_waits)) tasks.back().task.launch += seen_by_host;
      if (std::exchange(sorts_rows, false))
        tasks.back().task.launch +=
            costs.operation * (phase == Phase::forward ? expert_cpu.rows_forward : expert_cpu.rows_backward);
      if (std::exchange(is_first, false)) tasks.back().task.launch += costs.operation * dtensor_cpu.module;
      tasks.back().of_parameters = splits && piece.of_parameters;
    }
  };
  const auto bytes = scenario.model.input_per_sample * scenario.job.batch_per_gpu;
  if (bytes > 0_B)
    program.forward.push_back({input_copy(bytes, scenario.job.input, gpu.launch_cost * costs.slower_host)});
  const bool shares_layers = !costs.forward_pieces.empty();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!costs.once.empty() && costs.once[i].launches > 0) {
      add(program.forward, i, Phase::forward, costs.once[i].time, costs.once[i].launches, 0);
      program.forward.back().is_once = true;
    }
    if (shares_layers) {
      add_pieces(program.forward, i, Phase::forward, costs.forward_pieces[i], 0);
    } else {
      add(program.forward, i, Phase::forward, costs.forward[i], costs.forward_launches[i], 0);
    }
  }
  for (std::size_t i = 0; i < costs.again_pieces.size(); ++i)
    add_pieces(program.again, i, Phase::forward, costs.again_pieces[i], 0);
  for (auto i = layers.size(); i-- > 0;) {
    if (shares_layers) {
      add_pieces(program.backward, i, Phase::backward, costs.backward_pieces[i], layers[i].parameters.size());
      continue;
    }
    const auto of_parameters = splits ? costs.of_parameters[i] : ComputeCosts::Share{};
    const auto gradients = layers[i].parameters.size();
    add(program.backward, i, Phase::backward, costs.backward[i] - of_parameters.time,
        costs.backward_launches[i] - of_parameters.launches, splits ? 0 : gradients);
    if (!splits || (gradients == 0 && of_parameters.time == Seconds{})) continue;
    add(program.backward, i, Phase::backward, of_parameters.time, of_parameters.launches, gradients);
    program.backward.back().of_parameters = true;
  }
  program.optimizer = optimizer_tasks(scenario, costs);
  return program;
}

Phase phase_of(ProfiledPhase phase) {
  switch (phase) {
    case ProfiledPhase::forward:
      return Phase::forward;
    case ProfiledPhase::backward:
      return Phase::backward;
    case ProfiledPhase::optimizer:
      return Phase::optimizer;
  }
  return Phase::forward;
}

/// @param share of the optimizer's step that the rank does
Task launched(const RankScenario& scenario, const ProfileCosts& costs, Seconds pause, double share,
              std::size_t index) {
  const auto& profile = *scenario.model.profile;
  const auto& launch = profile.launches[index];
  const auto cpu = launch.cpu * costs.cpu_scale;
  if (launch.kind == KernelClass::copy_in) {
    const double samples = launch.grows ? static_cast<double>(scenario.job.batch_per_gpu) / profile.batch : 1;
    auto task = input_copy(launch.bytes * samples, scenario.job.input, cpu);
    task.host_waits = task.host_waits || launch.host_waits;
    return task;
  }
  auto on_gpu = costs.gpu[index];
  if (launch.phase == ProfiledPhase::optimizer && share < 1) {
    const auto fixed = std::min(on_gpu, smallest_kernel);
    on_gpu = fixed + (on_gpu - fixed) * share;
  }
  auto task = kernel(launch.name, phase_of(launch.phase), on_gpu, cpu);
  auto& work = std::get<Kernel>(task.work);
  work.pause = pause;
  work.footprint =
      Footprint{launch.kind, launch.precision, launch.blocks, launch.blocks_per_sm, launch.tiles};
  if (launch.tiles > 0 && launch.grows)
    work.footprint->tiles =
        std::max(launch.blocks, launch.tiles * scenario.job.batch_per_gpu / profile.batch);
  task.host_waits = launch.host_waits;
  return task;
}

ModelTasks from_profile(const RankScenario& scenario, const ComputeCosts& costs, Seconds pause,
                        const Blocks* blocks) {
  const auto& profile = *scenario.model.profile;
  // With parameters of 16 bits the profile's optimizer steps these; the strategy's steps its share in fp32.
  const bool same_optimizer = scenario.job.optimizer == profile.optimizer &&
                              !has_fp32_masters(scenario.job) && !host_optimizer_time(scenario);
  const auto share = optimizer_share(scenario);
  ModelTasks program;
  std::size_t ready = 0;
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    const auto phase = profile.launches[i].phase;
    if (phase == ProfiledPhase::optimizer && !same_optimizer) continue;
    auto& tasks = phase == ProfiledPhase::forward    ? program.forward
                  : phase == ProfiledPhase::backward ? program.backward
                                                     : program.optimizer;
    tasks.push_back({.task = launched(scenario, *costs.profile, pause, share, i),
                     .block = blocks != nullptr ? blocks->of_launch[i] : Blocks::none});
    if (phase != ProfiledPhase::backward) continue;
    const auto before = ready;
    while (ready < profile.gradients.size() && profile.gradients[ready].after <= i + 1) ++ready;
    tasks.back().gradients = ready - before;
  }
  // Gradients that the trace shows after the last launch of the backward pass.
  if (!program.backward.empty()) program.backward.back().gradients += profile.gradients.size() - ready;
  if (!same_optimizer) {
    program.optimizer = optimizer_tasks(scenario, costs);
  } else if (const auto hook = optimizer_hook(scenario.job)) {
    const auto wanted =
        costs.launch * (hook->once + hook->each * static_cast<double>(scenario.model.parameter_tensors()));
    Seconds has{};
    for (const auto& one : program.optimizer) has += one.task.launch;
    for (auto& one : program.optimizer) one.task.launch = one.task.launch * std::max(1.0, wanted / has);
  }
  return program;
}

}  // namespace

std::vector<Unit::Gradient> gradients_in_order(const Model& model) {
  std::vector<Unit::Gradient> gradients;
  for (auto layer = model.layers.size(); layer-- > 0;) {
    const auto& parameters = model.layers[layer].parameters;
    for (auto parameter = parameters.size(); parameter-- > 0;) {
      gradients.push_back({static_cast<std::int32_t>(layer), static_cast<std::int32_t>(parameter),
                           Bytes{4 * static_cast<double>(parameters[parameter].elements())}});
    }
  }
  return gradients;
}

std::vector<ModelTask> optimizer_tasks(const RankScenario& scenario, const ComputeCosts& costs) {
  if (const auto time = host_optimizer_time(scenario)) return {{host_step(*time)}};
  constexpr int pieces = 8;
  const bool ideal = scenario.platform.gpu_models.front().ideal;
  const auto tensors = scenario.model.parameter_tensors();
  const auto hook = optimizer_hook(scenario.job);
  Seconds launch{};
  if (!ideal && hook) launch = costs.launch * (hook->once + hook->each * static_cast<double>(tensors));
  if (!ideal && !hook) launch = costs.slower_host * optimizer_launch_time(scenario.job.optimizer, tensors);
  const int count = hook ? pieces : 1;
  std::vector<ModelTask> tasks;
  for (int i = 0; i < count; ++i)
    tasks.push_back({kernel("optimizer", Phase::optimizer, costs.optimizer / count, launch / count)});
  return tasks;
}

ModelTasks model_tasks(const RankScenario& scenario, const ComputeCosts& costs, std::optional<Seconds> pause,
                       const Blocks* blocks) {
  return costs.profile ? from_profile(scenario, costs, pause.value_or(costs.profile->pause), blocks)
                       : from_layers(scenario, costs, blocks);
}

}  // namespace gradway
