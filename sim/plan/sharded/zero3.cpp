// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/sharded/zero3.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/offload.hpp"
#include "sim/plan/sharded/zero.hpp"

namespace gradway {
namespace {

// Most operations in flight; beyond it the CPU waits. @source partitioned_param_coordinator.py, stage3.py
constexpr std::size_t max_in_flight = 2;

/// The CPU waits for the oldest operation if too many are in flight.
void limit(TaskList& tasks, std::deque<TaskId>& in_flight) {
  if (in_flight.size() <= max_in_flight) return;
  const auto id = tasks.wait("CPU waits for what is under way", Phase::communication, {});
  tasks[id].stream = side_stream;
  tasks[id].after.push_back(in_flight.front());
  tasks[id].host_waits = true;
  in_flight.pop_front();
}

}  // namespace

Zero3Sync::Zero3Sync(const RankScenario& scenario)
    : settings_{std::get<Zero>(scenario.job.strategy)},
      ranks_{scenario.data_parallel()},
      width_{is_half(scenario.job.precision) ? 2 : fp32_bytes},
      kept_{has_half_states(scenario.job) ? width_ : fp32_bytes},
      reduced_{settings_.communication_dtype ? bytes_of(*settings_.communication_dtype) : width_},
      cast_{time_of_cast(scenario, width_)},
      blocks_{blocks_of(scenario.model)},
      by_block_{scenario.model.profile != nullptr} {
  const auto& layers = scenario.model.layers;
  part_of_layer_.assign(by_block_ ? static_cast<std::size_t>(blocks_.count) + 1 : layers.size(), -1);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    if (layers[layer].parameters.empty() && layers[layer].frozen.empty()) continue;
    const auto block = blocks_.of_layer[layer];
    const auto key = !by_block_              ? layer
                     : block == Blocks::none ? part_of_layer_.size() - 1
                                             : static_cast<std::size_t>(block);
    if (part_of_layer_[key] < 0) {
      part_of_layer_[key] = static_cast<std::int32_t>(parts_.size());
      parts_.emplace_back();
    }
    auto& model_part = parts_[static_cast<std::size_t>(part_of_layer_[key])];
    for (std::size_t i = 0; i < layers[layer].parameters.size(); ++i) {
      const auto elements = static_cast<double>(layers[layer].parameters[i].elements());
      model_part.gradients.gradients.push_back(
          {static_cast<std::int32_t>(layer), static_cast<std::int32_t>(i), Bytes{fp32_bytes * elements}});
      model_part.trained += elements;
      add_tensor(model_part, elements, parameters_, stays_);
    }
    for (const auto& tensor : layers[layer].frozen)
      add_tensor(model_part, tensor.size().value() / width_, frozen_, frozen_stays_);
  }
  find_trace(scenario);
}

void Zero3Sync::add_tensor(Part& model_part, double elements, double& of_kind, double& of_kind_stays) {
  model_part.all += elements;
  of_kind += elements;
  if (elements <= settings_.param_persistence_threshold) {
    of_kind_stays += elements;
  } else {
    model_part.elements += elements;
    ++model_part.tensors;
  }
}

/// The forward pass, then the backward pass, with recomputed blocks before theirs. The root of a profile, its
/// first part, begins both.
void Zero3Sync::find_trace(const RankScenario& scenario) {
  const auto add_layer = [&](std::size_t layer) {
    if (part_of_layer_[layer] >= 0) trace_.push_back(static_cast<std::size_t>(part_of_layer_[layer]));
  };
  if (by_block_) {
    const auto add_root = [&] { add_layer(part_of_layer_.size() - 1); };
    const auto blocks = part_of_layer_.size() - 1;
    add_root();
    for (std::size_t block = 0; block < blocks; ++block) add_layer(block);
    add_root();
    for (auto block = blocks; block-- > 0;) add_layer(block);
    return;
  }
  const auto layers = part_of_layer_.size();
  for (std::size_t layer = 0; layer < layers; ++layer) add_layer(layer);
  const auto& job = scenario.job;
  for (auto end = layers; end > 0;) {
    const auto block = blocks_.of_layer[end - 1];
    auto begin = end - 1;
    if (block != Blocks::none)
      while (begin > 0 && blocks_.of_layer[begin - 1] == block) --begin;
    if (block != Blocks::none && runs_blocks_again(job.recompute) && (block + 1) % job.recompute_every == 0)
      for (auto layer = begin; layer < end; ++layer) add_layer(layer);
    for (; end > begin; --end) add_layer(end - 1);
  }
}

std::optional<std::size_t> Zero3Sync::part_of(Module module) const {
  std::int32_t index = -1;
  if (by_block_ && module.kind == Module::Kind::block)
    index = part_of_layer_[static_cast<std::size_t>(module.index)];
  if (by_block_ && module.kind == Module::Kind::model) index = part_of_layer_.back();
  if (!by_block_ && module.kind == Module::Kind::layer)
    index = part_of_layer_[static_cast<std::size_t>(module.index)];
  return index < 0 ? std::nullopt : std::optional{static_cast<std::size_t>(index)};
}

void Zero3Sync::before_step(TaskList& tasks) {
  gathers_ = tasks.add_stream("gather copies");
  // Without overlap_comm DeepSpeed reduces on the stream of the passes. It gathers there, too, but ahead of
  // the kernels of the module before. @source DeepSpeed, zero/stage3.py (reduce_and_partition_stream), read
  // on 2026-11-29
  reductions_ = settings_.overlaps() ? tasks.add_stream("reduction copies") : compute_stream;
}

void Zero3Sync::before_micro_step(TaskList& tasks, MicroStep micro) {
  micro_ = micro;
  step_ = 0;
  gate_ = tasks.wait("parameters are there", Phase::communication, {});
}

/// Several tensors are concatenated before the all-gather and split after it; a single one is gathered in
/// place.
void Zero3Sync::gather(TaskList& tasks, std::size_t index) {
  auto& model_part = parts_[index];
  if (model_part.gathered || model_part.elements == 0) return;
  limit(tasks, fetching_);
  const auto tensors = model_part.tensors;
  const Bytes size{width_ * model_part.elements};
  const bool copies = tensors > 1;
  if (settings_.offload_param) from_host(tasks, index, size / ranks_);
  auto last =
      tasks.kernel_on(gathers_, fmt::format("part {} together", index), copies ? 2 * size / ranks_ : 0_B,
                      copies ? 1 : 0, tasks.hook(zero_cpu.gather, tensors));
  tasks[last].after.push_back(*gate_);
  if (ranks_ > 1)
    last = tasks.call({CollectiveKind::all_gather, size, Slot{0}}, communicator_stream,
                      fmt::format("part {} all-gather", index), {}, last);
  if (copies) {
    const auto apart = tasks.kernel_on(gathers_, fmt::format("part {} apart", index), 2 * size, tensors,
                                       tasks.gpu().launch_cost * tensors);
    tasks[apart].after.push_back(last);
    last = apart;
  }
  model_part.gathered = last;
  live_ += model_part.elements;
  fetching_.push_back(last);
}

/// @source deepspeed/runtime/zero/partition_parameters.py (all_gather_coalesced): shards on the host are
/// copied to the GPU first
void Zero3Sync::from_host(TaskList& tasks, std::size_t index, Bytes shard) {
  Task task;
  task.name = fmt::format("part {} from the host", index);
  task.work = Copy{.bytes = shard};
  task.phase = Phase::communication;
  task.stream = gathers_;
  task.launch = tasks.gpu().launch_cost * parts_[index].tensors;
  task.after.push_back(*gate_);
  tasks.add(std::move(task));
}

void Zero3Sync::use(TaskList& tasks, Module module) {
  const auto index = part_of(module);
  if (!index) return;
  gather(tasks, *index);
  const auto& model_part = parts_[*index];
  const auto id = tasks.wait(fmt::format("part {} gathered", *index), Phase::communication,
                             tasks.hook(zero_cpu.module, 0));
  if (model_part.gathered) tasks[id].after.push_back(*model_part.gathered);
  const auto position = std::find(trace_.begin() + static_cast<std::ptrdiff_t>(step_), trace_.end(), *index);
  if (position != trace_.end()) step_ = static_cast<std::size_t>(position - trace_.begin()) + 1;
  prefetch(tasks);
}

/// Gathers the parts that come next in the trace.
void Zero3Sync::prefetch(TaskList& tasks) {
  const auto most = std::min(settings_.max_live_parameters - live_, settings_.prefetch_bucket_size);
  double asked = 0;
  for (auto step = step_; step < trace_.size() && asked < most; ++step) {
    const auto& next = parts_[trace_[step]];
    if (next.gathered || next.elements == 0) continue;
    asked += next.elements;
    gather(tasks, trace_[step]);
  }
}

/// Whether a part stays gathered because it is used again within the reuse distance.
bool Zero3Sync::is_used_soon(std::size_t index) const {
  double between = 0;
  for (auto step = step_; step < trace_.size() && between < settings_.max_reuse_distance; ++step) {
    if (trace_[step] == index) return true;
    between += parts_[trace_[step]].all;
  }
  return false;
}

void Zero3Sync::release(std::size_t index) {
  auto& model_part = parts_[index];
  if (!model_part.gathered) return;
  model_part.gathered.reset();
  live_ -= model_part.elements;
}

void Zero3Sync::before_forward(TaskList& tasks, Module module) {
  use(tasks, module);
}

void Zero3Sync::after_forward(TaskList&, Module module) {
  if (const auto index = part_of(module); index && !is_used_soon(*index)) release(*index);
}

void Zero3Sync::before_recompute(TaskList& tasks, Module module) {
  use(tasks, module);
}

void Zero3Sync::after_recompute(TaskList& tasks, Module module) {
  after_forward(tasks, module);
}

void Zero3Sync::before_backward(TaskList& tasks, Module module) {
  use(tasks, module);
}

void Zero3Sync::add_gradients(TaskList& tasks, std::size_t index) {
  const auto& model_part = parts_[index];
  if (filled_ > 0 && filled_ + model_part.trained > settings_.reduce_bucket_size) flush(tasks);
  const auto& gradients = model_part.gradients.gradients;
  const auto id = tasks.wait(fmt::format("part {} gradients", index), Phase::communication,
                             tasks.hook(zero_cpu.gradient, static_cast<int>(gradients.size())));
  open_.filled_by = static_cast<std::int32_t>(id.index());
  open_.gradients.insert(open_.gradients.end(), gradients.begin(), gradients.end());
  filled_ += model_part.trained;
}

void Zero3Sync::after_backward(TaskList& tasks, Module module) {
  if (const auto index = part_of(module)) {
    release(*index);
    if (parts_[*index].trained > 0) add_gradients(tasks, *index);
  }
  if (module.kind != Module::Kind::model) return;
  flush(tasks);
  const auto id = tasks.wait("reductions are done", Phase::communication, {});
  if (last_reduction_) tasks[id].after.push_back(*last_reduction_);
  tasks[id].host_waits = true;
}

/// The bucket is copied, reordered by rank, divided and reduced, and the rank's own part is copied out.
void Zero3Sync::flush(TaskList& tasks) {
  if (filled_ == 0) return;
  limit(tasks, reducing_);
  const auto bucket = units_.size();
  const Bytes size{reduced_ * filled_};
  auto last = tasks.kernel_on(reductions_, fmt::format("bucket {} in order", bucket), 6 * size, 3,
                              tasks.hook(zero_cpu.bucket, 0));
  tasks[last].after.push_back(TaskId{static_cast<std::size_t>(open_.filled_by)});
  const auto kind = settings_.reduce_scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  if (ranks_ > 1)
    last = tasks.call({kind, size, Slot{0}}, communicator_stream,
                      fmt::format("bucket {} {}", bucket, name_of(kind)), {}, last);
  auto own_part = tasks.kernel_on(reductions_, fmt::format("bucket {} own part", bucket), 2 * size / ranks_,
                                  1, tasks.gpu().launch_cost);
  tasks[own_part].after.push_back(last);
  if (settings_.offload_optimizer && micro_.is_last)
    own_part = own_to_host(tasks, reductions_, Bytes{width_ * filled_ / ranks_}, own_part,
                           static_cast<std::int32_t>(bucket));
  last_reduction_ = own_part;
  reducing_.push_back(own_part);
  open_.size = size;
  units_.push_back(std::exchange(open_, {}));
  filled_ = 0;
}

void Zero3Sync::before_optimizer(TaskList& tasks) {
  reduce_norm(tasks, Bytes{kept_ * parameters_ / ranks_}, ranks_);
}

void Zero3Sync::after_optimizer(TaskList& tasks) {
  const auto cast =
      settings_.offload_param ? tasks.wait("parameters are cast on the CPU", Phase::optimizer, cast_)
      : settings_.offload_optimizer
          ? own_from_host(tasks, parameters_ / ranks_, width_, cast_)
          : tasks.memory_kernels("shares into parameters", Bytes{(kept_ + width_) * parameters_ / ranks_}, 1,
                                 tasks.gpu().launch_cost);
  if (ranks_ == 1 || stays_ == 0) return;
  const auto gathered =
      tasks.call({CollectiveKind::all_gather, Bytes{width_ * stays_}, Slot{0}}, communicator_stream,
                 "small parameters all-gather", tasks.cpu(ddp_cpu.all_reduce), cast);
  const auto id = tasks.wait("small parameters are there", Phase::communication, {});
  tasks[id].after.push_back(gathered);
}

SyncMemory Zero3Sync::memory() const {
  const bool offloads = settings_.offload_optimizer;
  const bool master = width_ != kept_ && !offloads;
  const auto kept_here = settings_.offload_param ? 0 : width_;
  return {.parameters = Bytes{(kept_here + (master ? kept_ : 0)) * parameters_ / ranks_},
          .frozen = Bytes{kept_here * frozen_ / ranks_},
          .optimizer_share = offloads ? 0 : 1.0 / ranks_,
          .gradients = offloads ? 0_B : Bytes{kept_ * parameters_ / ranks_},
          .buckets = Bytes{reduced_ * std::min(settings_.reduce_bucket_size, parameters_)}};
}

/// Gathered parameters grow up to the limit of live parameters or the reuse distance.
std::optional<HeldMemory> Zero3Sync::held(const StepMoment& moment) const {
  double largest = 0;
  double largest_trained = 0;
  for (const auto& model_part : parts_) {
    largest = std::max(largest, model_part.elements);
    largest_trained = std::max(largest_trained, std::min(model_part.elements, model_part.trained));
  }
  const auto all_elements = parameters_ + frozen_;
  const auto kept = std::min(all_elements, settings_.max_reuse_distance / 2);
  const auto live = std::min({all_elements, settings_.max_live_parameters,
                              std::max(kept, largest + settings_.prefetch_bucket_size)});
  const auto gradients = parameters_ / ranks_ + (moment.ready > 0 ? largest_trained : 0);
  return HeldMemory{.gradients = Bytes{width_ * gradients},
                    .gathered = Bytes{width_ * (live + stays_ + frozen_stays_)}};
}

}  // namespace gradway
