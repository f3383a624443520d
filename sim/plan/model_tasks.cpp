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
#include "sim/scenario/shared_by_loaders.hpp"

namespace gradway {
namespace {

Task input_copy(Bytes bytes, const InputSettings& input, Seconds launch) {
  auto task = copy_task("input copy", Phase::input, {.bytes = bytes, .pinned = input.pin_memory},
                        compute_stream, launch);
  task.host_waits = !input.pin_memory;  // a copy from pageable memory blocks the CPU until it has ended
  if (delivers_to_gpu(input)) {
    task.name = "batch is on the GPU";
    task.work = Wait{};
    task.launch = {};
  }
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

/// The CPU steps the parameters and launches nothing meanwhile.
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

/// Tasks of a model that is described by layers.
class LayerTasks {
 public:
  LayerTasks(const RankScenario& scenario, const ComputeCosts& costs, const Blocks* blocks)
      : scenario_{scenario},
        costs_{costs},
        blocks_{blocks},
        layers_{scenario.model.layers},
        launch_{scenario.model.run ? costs.operation : scenario.platform.gpu_models.front().launch_cost},
        splits_{pipeline_of(scenario.job.layout).splits_backward()},
        is_eager_{!has_megatron_modules(scenario.job) && !scenario.job.compiled} {}

  ModelTasks all() {
    ModelTasks program;
    for (auto* tasks : {&program.forward, &program.backward}) tasks->reserve(layers_.size() + 1);
    const auto& gpu = scenario_.platform.gpu_models.front();
    const auto bytes = scenario_.model.input_per_sample * scenario_.job.batch_per_gpu;
    if (bytes > 0_B)
      program.forward.push_back(
          {input_copy(bytes, scenario_.job.input, gpu.launch_cost * costs_.slower_host)});
    for (std::size_t i = 0; i < layers_.size(); ++i) add_forward(program.forward, i);
    for (std::size_t i = 0; i < costs_.recomputed_pieces.size(); ++i)
      add_pieces(program.recomputed, i, Phase::forward, costs_.recomputed_pieces[i], 0);
    for (auto i = layers_.size(); i-- > 0;) add_backward(program.backward, i);
    program.optimizer = optimizer_tasks(scenario_, costs_, costs_.optimizer);
    return program;
  }

 private:
  using Tasks = std::vector<ModelTask>;

  std::int32_t block_of(std::size_t layer) const {
    return blocks_ != nullptr ? blocks_->of_layer[layer] : Blocks::none;
  }
  bool shares_layers() const { return !costs_.forward_pieces.empty(); }

  void add(Tasks& tasks, std::size_t layer, Phase phase, Seconds work, int kernels, double host,
           std::size_t gradients) const {
    auto task = kernel(layers_[layer].name, phase, work, launch_ * host);
    task.layer = static_cast<std::int32_t>(layer);
    task.launches = kernels;
    tasks.push_back({std::move(task), gradients, block_of(layer)});
  }

  void add_forward(Tasks& tasks, std::size_t layer) const {
    if (!costs_.once.empty() && costs_.once[layer].launches > 0) {
      add(tasks, layer, Phase::forward, costs_.once[layer].time, costs_.once[layer].launches,
          costs_.once[layer].host, 0);
      tasks.back().is_once = true;
    }
    if (shares_layers()) return add_pieces(tasks, layer, Phase::forward, costs_.forward_pieces[layer], 0);
    add(tasks, layer, Phase::forward, costs_.forward[layer], costs_.forward_launches[layer],
        costs_.forward_host[layer], 0);
  }

  void add_backward(Tasks& tasks, std::size_t layer) const {
    const auto gradients = layers_[layer].parameters.size();
    if (shares_layers())
      return add_pieces(tasks, layer, Phase::backward, costs_.backward_pieces[layer], gradients);
    const auto of_parameters = splits_ ? costs_.of_parameters[layer] : ComputeCosts::Share{};
    add(tasks, layer, Phase::backward, costs_.backward[layer] - of_parameters.time,
        costs_.backward_launches[layer] - of_parameters.launches,
        costs_.backward_host[layer] - of_parameters.host, splits_ ? 0 : gradients);
    if (!splits_ || (gradients == 0 && of_parameters.time == Seconds{})) return;
    add(tasks, layer, Phase::backward, of_parameters.time, of_parameters.launches, of_parameters.host,
        gradients);
    tasks.back().of_parameters = true;
  }

  void add_pieces(Tasks& tasks, std::size_t layer, Phase phase,
                  const std::vector<ComputeCosts::Piece>& pieces, std::size_t gradients) const {
    if (pieces.empty()) return;
    bool is_first = !costs_.is_dtensor.empty() && costs_.is_dtensor[layer] != 0;
    bool sorts_rows =
        is_eager_ && scenario_.job.layout.expert > 1 && layers_[layer].role == LayerRole::dispatch;
    const auto* last = &pieces.back();
    while (last != &pieces.front() && last->launches == 0) --last;
    bool was_read = false;
    for (const auto& piece : pieces) {
      for (const auto& sent : piece.sends) send(tasks, layer, phase, sent);
      if (piece.launches == 0) continue;
      add(tasks, layer, phase, piece.time, piece.launches, piece.host, &piece == last ? gradients : 0);
      auto& added = tasks.back();
      auto& task = added.task;
      added.waits_for = piece.waits_for;
      added.of_parameters = splits_ && piece.of_parameters;
      task.host_waits = piece.host_waits;
      if (std::exchange(was_read, piece.host_waits)) task.launch += seen_by_host;
      if (std::exchange(sorts_rows, false))
        task.launch +=
            costs_.operation * (phase == Phase::forward ? expert_cpu.rows_forward : expert_cpu.rows_backward);
      if (std::exchange(is_first, false)) task.launch += costs_.operation * dtensor_cpu.module;
    }
  }

  void send(Tasks& tasks, std::size_t layer, Phase phase, const Exchange& sent) const {
    Task task;
    task.name = fmt::format("{} {}", layers_[layer].name, name_of(sent.kind));
    task.work = Call{sent.kind, sent.bytes, Slot{0}};
    task.host_waits = sent.host_waits;
    task.phase = Phase::communication;
    const auto exchange =
        phase == Phase::forward ? expert_cpu.exchange_forward : expert_cpu.exchange_backward;
    task.launch = is_eager_ && sent.over == RankGroup::expert ? costs_.operation * exchange
                                                              : ddp_cpu.all_reduce * costs_.slower_host;
    task.layer = static_cast<std::int32_t>(layer);
    tasks.push_back({.task = std::move(task), .block = block_of(layer), .over = sent.over});
  }

  const RankScenario& scenario_;
  const ComputeCosts& costs_;
  const Blocks* blocks_;
  const std::vector<Layer>& layers_;
  Seconds launch_;  ///< CPU time of the mean operation
  bool splits_;     ///< whether the backward pass is split into gradients of inputs and of parameters
  bool is_eager_;
};

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

/// @param share of the optimizer's step that runs on the rank
Task launched(const RankScenario& scenario, const ProfileCosts& costs, Seconds pause, double share,
              std::size_t index) {
  const auto& profile = *scenario.model.profile;
  const auto& launch = profile.launches[index];
  const auto cpu = launch.cpu * costs.cpu_scale;
  if (launch.kind == KernelClass::copy_in) {
    const double samples = launch.grows ? static_cast<double>(scenario.job.batch_per_gpu) / profile.batch : 1;
    auto task = input_copy(launch.bytes * samples, scenario.job.input, cpu);
    task.host_waits = !delivers_to_gpu(scenario.job.input) && (task.host_waits || launch.host_waits);
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
  // With 16-bit parameters the profile's optimizer steps these; the strategy steps its shard in fp32.
  const bool same_optimizer = scenario.job.optimizer == profile.optimizer &&
                              !has_fp32_masters(scenario.job) && !host_optimizer_time(scenario);
  const auto share = optimizer_share(scenario);
  ModelTasks program;
  const auto launches_of = [&](ProfiledPhase phase) {
    return static_cast<std::size_t>(std::ranges::count(profile.launches, phase, &Launch::phase));
  };
  program.forward.reserve(launches_of(ProfiledPhase::forward));
  program.backward.reserve(launches_of(ProfiledPhase::backward));
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
  // Gradients that become ready after the last launch of the backward pass.
  if (!program.backward.empty()) program.backward.back().gradients += profile.gradients.size() - ready;
  if (!same_optimizer) {
    program.optimizer = optimizer_tasks(scenario, costs, costs.optimizer);
  } else if (const auto hook = optimizer_hook(scenario.job)) {
    const auto wanted =
        costs.launch * (hook->once + hook->each * static_cast<double>(scenario.model.parameter_tensors()));
    Seconds has{};
    for (const auto& model_task : program.optimizer) has += model_task.task.launch;
    for (auto& model_task : program.optimizer)
      model_task.task.launch = model_task.task.launch * std::max(1.0, wanted / has);
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

std::vector<ModelTask> optimizer_tasks(const RankScenario& scenario, const ComputeCosts& costs,
                                       Seconds time) {
  if (const auto on_host = host_optimizer_time(scenario)) return {{host_step(*on_host)}};
  const auto hook = optimizer_hook(scenario.job);
  const int pieces = hook ? 8 : 1;
  const auto tensors = static_cast<double>(scenario.model.parameter_tensors());
  const auto cpu = hook.value_or(cost_of(scenario.job.optimizer).cpu);
  Seconds launch{};
  if (!scenario.platform.gpu_models.front().ideal) launch = costs.launch * (cpu.once + cpu.each * tensors);
  std::vector<ModelTask> tasks;
  for (int i = 0; i < pieces; ++i)
    tasks.push_back({kernel("optimizer", Phase::optimizer, time / pieces, launch / pieces)});
  return tasks;
}

ModelTasks model_tasks(const RankScenario& scenario, const ComputeCosts& costs, std::optional<Seconds> pause,
                       const Blocks* blocks) {
  return costs.profile ? from_profile(scenario, costs, pause.value_or(costs.profile->pause), blocks)
                       : LayerTasks{scenario, costs, blocks}.all();
}

}  // namespace gradway
