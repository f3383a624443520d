// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_tasks.hpp"

#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/plan/task_list.hpp"

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

/// @param slower than the host that the optimizers' launches were measured on
Task optimizer_of(const Scenario& scenario, Seconds work, double slower = 1) {
  const bool ideal = scenario.platform.gpu_models.front().ideal;
  const auto launch =
      ideal ? Seconds{}
            : slower * optimizer_launch_time(scenario.job.optimizer, scenario.model.parameter_tensors());
  return kernel("optimizer", Phase::optimizer, work, launch);
}

ModelTasks from_layers(const Scenario& scenario, const ComputeCosts& costs) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto& layers = scenario.model.layers;
  const auto launch = scenario.model.run ? eager_operation * costs.launch_scale : gpu.launch_cost;
  ModelTasks program;
  const auto add = [&](std::vector<ModelTask>& tasks, std::size_t layer, Phase phase, Seconds work,
                       int kernels, std::size_t gradients) {
    auto task = kernel(layers[layer].name, phase, work, launch * kernels);
    task.layer = static_cast<std::int32_t>(layer);
    task.launches = kernels;
    tasks.push_back({std::move(task), gradients});
  };
  const auto bytes = scenario.model.input_per_sample * scenario.job.batch_per_gpu;
  if (bytes > 0_B) program.forward.push_back({input_copy(bytes, scenario.job.input, gpu.launch_cost)});
  for (std::size_t i = 0; i < layers.size(); ++i)
    add(program.forward, i, Phase::forward, costs.forward[i], costs.forward_launches[i], 0);
  for (auto i = layers.size(); i-- > 0;) {
    add(program.backward, i, Phase::backward, costs.backward[i], costs.backward_launches[i],
        layers[i].parameters.size());
  }
  program.optimizer.push_back(
      {optimizer_of(scenario, costs.optimizer, scenario.model.run ? usual_host * costs.launch_scale : 1)});
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

Task launched(const Scenario& scenario, const ProfileCosts& costs, Seconds pause, std::size_t index) {
  const auto& profile = *scenario.model.profile;
  const auto& launch = profile.launches[index];
  const auto cpu = launch.cpu * costs.cpu_scale;
  if (launch.kind == KernelClass::copy_in) {
    const double samples = launch.grows ? static_cast<double>(scenario.job.batch_per_gpu) / profile.batch : 1;
    auto task = input_copy(launch.bytes * samples, scenario.job.input, cpu);
    task.host_waits = task.host_waits || launch.host_waits;
    return task;
  }
  auto task = kernel(launch.name, phase_of(launch.phase), costs.gpu[index], cpu);
  auto& work = std::get<Kernel>(task.work);
  work.pause = pause;
  work.footprint = Footprint{launch.kind, launch.precision, launch.blocks, launch.blocks_per_sm};
  task.host_waits = launch.host_waits;
  return task;
}

ModelTasks from_profile(const Scenario& scenario, const ComputeCosts& costs, Seconds pause) {
  const auto& profile = *scenario.model.profile;
  const bool same_optimizer = scenario.job.optimizer == profile.optimizer;
  ModelTasks program;
  std::size_t ready = 0;
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    const auto phase = profile.launches[i].phase;
    if (phase == ProfiledPhase::optimizer && !same_optimizer) continue;
    auto& tasks = phase == ProfiledPhase::forward    ? program.forward
                  : phase == ProfiledPhase::backward ? program.backward
                                                     : program.optimizer;
    tasks.push_back({launched(scenario, *costs.profile, pause, i)});
    if (phase != ProfiledPhase::backward) continue;
    const auto before = ready;
    while (ready < profile.gradients.size() && profile.gradients[ready].after <= i + 1) ++ready;
    tasks.back().gradients = ready - before;
  }
  // Gradients that the trace shows after the last launch of the backward pass.
  if (!program.backward.empty()) program.backward.back().gradients += profile.gradients.size() - ready;
  if (!same_optimizer) program.optimizer.push_back({optimizer_of(scenario, costs.optimizer)});
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

ModelTasks model_tasks(const Scenario& scenario, const ComputeCosts& costs, std::optional<Seconds> pause) {
  return costs.profile ? from_profile(scenario, costs, pause.value_or(costs.profile->pause))
                       : from_layers(scenario, costs);
}

}  // namespace gradway
