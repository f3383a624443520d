// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/model_tasks.hpp"

#include <algorithm>

#include "sim/cost/framework_cost.hpp"
#include "sim/cost/kernel_cost.hpp"
#include "sim/plan/offload.hpp"
#include "sim/plan/optimizer_share.hpp"
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

/// The optimizer's step. Of sharded tensors each of its kernels is launched when many tensors were looked at:
/// in pieces. @param slower than the host that the optimizers' launches were measured on
void add_optimizer(std::vector<ModelTask>& tasks, const Scenario& scenario, const ComputeCosts& costs,
                   double slower = 1) {
  if (const auto time = host_optimizer_time(scenario)) {
    tasks.push_back({host_step(*time)});
    return;
  }
  constexpr int pieces = 8;
  const bool ideal = scenario.platform.gpu_models.front().ideal;
  const auto tensors = scenario.model.parameter_tensors();
  const auto hook = optimizer_hook(scenario.job);
  Seconds launch{};
  if (!ideal && hook) launch = costs.launch * (hook->once + hook->each * static_cast<double>(tensors));
  if (!ideal && !hook) launch = slower * optimizer_launch_time(scenario.job.optimizer, tensors);
  const int count = hook ? pieces : 1;
  for (int i = 0; i < count; ++i)
    tasks.push_back({kernel("optimizer", Phase::optimizer, costs.optimizer / count, launch / count)});
}

ModelTasks from_layers(const Scenario& scenario, const ComputeCosts& costs, const Blocks* blocks) {
  const auto& gpu = scenario.platform.gpu_models.front();
  const auto& layers = scenario.model.layers;
  const auto launch = scenario.model.run ? eager_operation * costs.launch_scale : gpu.launch_cost;
  ModelTasks program;
  const auto add = [&](std::vector<ModelTask>& tasks, std::size_t layer, Phase phase, Seconds work,
                       int kernels, std::size_t gradients) {
    auto task = kernel(layers[layer].name, phase, work, launch * kernels);
    task.layer = static_cast<std::int32_t>(layer);
    task.launches = kernels;
    tasks.push_back({std::move(task), gradients, blocks != nullptr ? blocks->of_layer[layer] : Blocks::none});
  };
  const auto bytes = scenario.model.input_per_sample * scenario.job.batch_per_gpu;
  if (bytes > 0_B) program.forward.push_back({input_copy(bytes, scenario.job.input, gpu.launch_cost)});
  for (std::size_t i = 0; i < layers.size(); ++i)
    add(program.forward, i, Phase::forward, costs.forward[i], costs.forward_launches[i], 0);
  for (auto i = layers.size(); i-- > 0;) {
    add(program.backward, i, Phase::backward, costs.backward[i], costs.backward_launches[i],
        layers[i].parameters.size());
  }
  add_optimizer(program.optimizer, scenario, costs, scenario.model.run ? usual_host * costs.launch_scale : 1);
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
  auto on_gpu = costs.gpu[index];
  if (const auto share = optimizer_share(scenario); launch.phase == ProfiledPhase::optimizer && share < 1) {
    const auto fixed = std::min(on_gpu, smallest_kernel);
    on_gpu = fixed + (on_gpu - fixed) * share;
  }
  auto task = kernel(launch.name, phase_of(launch.phase), on_gpu, cpu);
  auto& work = std::get<Kernel>(task.work);
  work.pause = pause;
  work.footprint = Footprint{launch.kind, launch.precision, launch.blocks, launch.blocks_per_sm};
  task.host_waits = launch.host_waits;
  return task;
}

ModelTasks from_profile(const Scenario& scenario, const ComputeCosts& costs, Seconds pause,
                        const Blocks* blocks) {
  const auto& profile = *scenario.model.profile;
  // With parameters of 16 bits the profile's optimizer steps these; the strategy's steps its share in fp32.
  const bool same_optimizer = scenario.job.optimizer == profile.optimizer &&
                              !half_parameters(scenario.job.strategy) && !host_optimizer_time(scenario);
  ModelTasks program;
  std::size_t ready = 0;
  for (std::size_t i = 0; i < profile.launches.size(); ++i) {
    const auto phase = profile.launches[i].phase;
    if (phase == ProfiledPhase::optimizer && !same_optimizer) continue;
    auto& tasks = phase == ProfiledPhase::forward    ? program.forward
                  : phase == ProfiledPhase::backward ? program.backward
                                                     : program.optimizer;
    tasks.push_back({.task = launched(scenario, *costs.profile, pause, i),
                     .block = blocks != nullptr ? blocks->of_launch[i] : Blocks::none});
    if (phase != ProfiledPhase::backward) continue;
    const auto before = ready;
    while (ready < profile.gradients.size() && profile.gradients[ready].after <= i + 1) ++ready;
    tasks.back().gradients = ready - before;
  }
  // Gradients that the trace shows after the last launch of the backward pass.
  if (!program.backward.empty()) program.backward.back().gradients += profile.gradients.size() - ready;
  if (!same_optimizer) {
    add_optimizer(program.optimizer, scenario, costs);
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

ModelTasks model_tasks(const Scenario& scenario, const ComputeCosts& costs, std::optional<Seconds> pause,
                       const Blocks* blocks) {
  return costs.profile ? from_profile(scenario, costs, pause.value_or(costs.profile->pause), blocks)
                       : from_layers(scenario, costs, blocks);
}

}  // namespace gradway
