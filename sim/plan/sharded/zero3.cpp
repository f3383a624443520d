// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/sharded/zero3.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/nccl/rank_order.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/offload.hpp"
#include "sim/plan/sharded/zero.hpp"

namespace gradway {
namespace {

// Most operations in flight; beyond it the CPU waits. @source partitioned_param_coordinator.py, stage3.py
constexpr std::size_t max_in_flight = 2;

// ZeRO++ quantises at most so many weights with one scale in fp32. @source partition_parameters.py
// (CUDAQuantizer.target_group_size), 0.19
constexpr double quantised_together = 8000;
constexpr double fp16_bytes = 2;

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
      model_{scenario.model},
      ranks_{scenario.data_parallel()},
      width_{is_half(scenario.job.precision) ? 2 : fp32_bytes},
      is_fp16_{scenario.job.precision == Precision::fp16},
      kept_{has_half_states(scenario.job) ? width_ : fp32_bytes},
      reduced_{settings_.communication_dtype ? bytes_of(*settings_.communication_dtype) : width_},
      cast_{time_of_cast(scenario, width_)},
      blocks_{blocks_of(scenario.model)},
      by_block_{scenario.model.profile != nullptr} {
  std::uint32_t slots = 1;
  const auto add_ranks = [&](OtherRanks& others, int size) { others = {size, Slot{slots++}}; };
  if (const auto size = std::min(settings_.zero_hpz_partition_size, ranks_); size > 1) add_ranks(copy_, size);
  const auto nodes = node_count(scenario.platform, scenario.job.gpus);
  if (settings_.zero_quantized_gradients && nodes > 1 && ranks_ % nodes == 0) {
    add_ranks(local_, ranks_ / nodes);
    add_ranks(global_, nodes);
  }
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
  for (auto* others : {&copy_, &local_, &global_})
    if (others->size > 1) others->stream = tasks.add_stream("communicator of fewer ranks");
  // Copies of trained parameters end with the step; the others are there from an earlier one.
  for (auto& model_part : parts_) model_part.has_copy = copy_.size > 1 && model_part.trained == 0;
}

std::vector<Partition> Zero3Sync::groups() const {
  std::vector<Partition> groups;
  if (copy_.size == 1 && global_.size == 1) return groups;
  groups.push_back({"data", [](int) { return 0; }});
  const auto add_neighbours = [&](const char* name, int size) {
    groups.push_back({name, [size](int rank) { return rank / size; }});
  };
  if (copy_.size > 1) add_neighbours("second copy", copy_.size);
  if (global_.size == 1) return groups;
  const auto local = local_.size;
  add_neighbours("node", local);
  groups.push_back({"nodes", [local](int rank) { return rank % local; }});
  return groups;
}

void Zero3Sync::before_micro_step(TaskList& tasks, MicroStep micro) {
  micro_ = micro;
  step_ = 0;
  gate_ = tasks.wait("parameters are there", Phase::communication, {});
}

void Zero3Sync::gather(TaskList& tasks, std::size_t index) {
  auto& model_part = parts_[index];
  if (model_part.gathered || model_part.elements == 0) return;
  limit(tasks, fetching_);
  const auto from = model_part.has_copy ? copy_ : OtherRanks{.size = ranks_};
  if (settings_.offload_param) from_host(tasks, index, Bytes{width_ * model_part.elements / from.size});
  auto last = pack(tasks, index, from.size);
  tasks[last].after.push_back(*gate_);
  const auto all_gather = [&](double bytes, const char* words) {
    last = tasks.call({CollectiveKind::all_gather, Bytes{bytes}, from.slot}, from.stream,
                      fmt::format("part {} {}", index, words), {}, last);
  };
  const bool is_quantised = settings_.zero_quantized_weights;
  if (from.size > 1) all_gather((is_quantised ? 1 : width_) * model_part.elements, "all-gather");
  if (from.size > 1 && is_quantised)
    all_gather(fp32_bytes * model_part.elements / quantised_together, "scales all-gather");
  last = unpack(tasks, index, last).value_or(last);
  model_part.gathered = last;
  live_ += model_part.elements;
  fetching_.push_back(last);
}

/// Several tensors are concatenated; one is sent as it is. Quantisation reads fp16.
/// @source deepspeed/runtime/zero/partition_parameters.py (_all_gather_coalesced, CUDAQuantizer), 0.19
TaskId Zero3Sync::pack(TaskList& tasks, std::size_t index, int ranks) {
  const auto tensors = parts_[index].tensors;
  const int casts = is_fp16_ ? 0 : 1;
  double traffic = tensors > 1 ? 2 * width_ : 0;
  int kernels = tensors > 1 ? 1 : 0;
  if (settings_.zero_quantized_weights) {
    traffic += casts * (width_ + fp16_bytes) + fp16_bytes + 1;
    kernels += casts + 1;
  }
  return tasks.kernel_on(gathers_, fmt::format("part {} together", index),
                         Bytes{traffic * parts_[index].elements / ranks}, kernels,
                         tasks.hook(zero_cpu.gather, tensors));
}

/// Several tensors are copied out of what was gathered, after it is dequantised to fp16, and cast one by one.
std::optional<TaskId> Zero3Sync::unpack(TaskList& tasks, std::size_t index, TaskId gathered) {
  const auto& model_part = parts_[index];
  const bool is_quantised = settings_.zero_quantized_weights;
  const bool copies = model_part.tensors > 1;
  if (!copies && !is_quantised) return std::nullopt;
  const auto copied = is_quantised ? fp16_bytes : width_;
  const int casts = is_quantised && !is_fp16_ ? 1 : 0;
  const auto traffic =
      (copies ? 2 * copied : 0) + (is_quantised ? 1 + fp16_bytes : 0) + casts * (copied + width_);
  const auto kernels = (is_quantised ? 1 : 0) + model_part.tensors * ((copies ? 1 : 0) + casts);
  const auto apart =
      tasks.kernel_on(gathers_, fmt::format("part {} apart", index), Bytes{traffic * model_part.elements},
                      kernels, tasks.gpu().launch_cost * kernels);
  tasks[apart].after.push_back(gathered);
  return apart;
}

/// @source deepspeed/runtime/zero/partition_parameters.py (all_gather_coalesced): shards on the host are
/// copied to the GPU first
void Zero3Sync::from_host(TaskList& tasks, std::size_t index, Bytes shard) {
  auto task = copy_task(fmt::format("part {} from the host", index), Phase::communication, {.bytes = shard},
                        gathers_, tasks.gpu().launch_cost * parts_[index].tensors);
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

/// The first release in a step fills the second copy, for which the CPU waits.
/// @source deepspeed/runtime/zero/partition_parameters.py (_partition_param_sec), stage3.py
/// (invalidate_secondary_tensor), 0.19
void Zero3Sync::release(TaskList& tasks, std::size_t index) {
  auto& model_part = parts_[index];
  if (!model_part.gathered) return;
  model_part.gathered.reset();
  live_ -= model_part.elements;
  if (copy_.size == 1 || model_part.has_copy) return;
  model_part.has_copy = true;
  constexpr double passes = 3;  // zeros are written, then the rank's part is copied
  const int kernels = 2 * model_part.tensors;
  tasks.memory_kernels(fmt::format("part {} second copy", index),
                       Bytes{passes * width_ * model_part.elements / copy_.size}, kernels,
                       tasks.hook(call_in_place, kernels));
  tasks[tasks.wait("second copy is there", Phase::communication, {})].host_waits = true;
}

void Zero3Sync::before_forward(TaskList& tasks, Module module) {
  use(tasks, module);
}

void Zero3Sync::after_forward(TaskList& tasks, Module module) {
  if (const auto index = part_of(module); index && !is_used_soon(*index)) release(tasks, *index);
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
    release(tasks, *index);
    if (parts_[*index].trained > 0) add_gradients(tasks, *index);
  }
  if (module.kind != Module::Kind::model) return;
  flush(tasks);
  const auto id = tasks.wait("reductions are done", Phase::communication, {});
  if (last_reduction_) tasks[id].after.push_back(*last_reduction_);
  tasks[id].host_waits = true;
}

/// The bucket is copied, reordered by rank, divided and reduced, and the rank's own part is copied out. In
/// int4, its gradients are reduced one by one.
void Zero3Sync::flush(TaskList& tasks) {
  if (filled_ == 0) return;
  limit(tasks, reducing_);
  const auto bucket = units_.size();
  const Bytes size{reduced_ * filled_};
  const bool in_int4 = global_.size > 1;
  auto last = tasks.kernel_on(reductions_, fmt::format("bucket {} in order", bucket),
                              in_int4 ? 0_B : 6 * size, in_int4 ? 0 : 3, tasks.hook(zero_cpu.bucket, 0));
  tasks[last].after.push_back(TaskId{static_cast<std::size_t>(open_.filled_by)});
  const auto kind = settings_.reduce_scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  if (in_int4) {
    for (const auto& gradient : open_.gradients) last = reduce_in_int4(tasks, gradient, last);
  } else if (ranks_ > 1) {
    last = tasks.call({kind, size, Slot{0}}, communicator_stream,
                      fmt::format("bucket {} {}", bucket, name_of(kind)), {}, last);
  }
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

/// Two all-to-alls of values and of their scales: those of a node are summed, then those of the nodes.
/// Vectors, and matrices that do not divide, are reduced as they are.
/// @source deepspeed/runtime/comm/coalesced_collectives.py (all_to_all_quant_reduce), 0.19
TaskId Zero3Sync::reduce_in_int4(TaskList& tasks, const Unit::Gradient& gradient, TaskId after) {
  constexpr double int4_bytes = 0.5;
  const auto& shape = model_.layers[static_cast<std::size_t>(gradient.layer)]
                          .parameters[static_cast<std::size_t>(gradient.parameter)]
                          .shape;
  const auto elements = gradient.size.value() / fp32_bytes;
  auto last = after;
  const auto kernels = [&](const char* words, double traffic, int count) {
    const auto id = tasks.kernel_on(reductions_, fmt::format("gradient {}", words), Bytes{traffic}, count,
                                    tasks.gpu().launch_cost * count);
    tasks[id].after.push_back(last);
    last = id;
  };
  if (shape.size() < 2 || std::fmod(elements, 2.0 * ranks_) != 0) {
    kernels("divided", 2 * reduced_ * elements, 1);
    return tasks.call({CollectiveKind::reduce_scatter, Bytes{reduced_ * elements}, Slot{0}},
                      communicator_stream, "gradient reduce-scatter", {}, last);
  }
  const auto exchange = [&](const OtherRanks& others, double values, double scales) {
    for (const auto bytes : {int4_bytes * values, fp32_bytes * scales})
      last = tasks.call({CollectiveKind::all_to_all, Bytes{bytes}, others.slot}, others.stream,
                        "gradient all-to-all", tasks.cpu(ddp_cpu.all_reduce), last);
  };
  const auto scales = std::max({static_cast<double>(shape[0]), static_cast<double>(shape[1]), 1.0 * ranks_});
  const auto of_node = elements / local_.size;
  kernels("in int4", (reduced_ + int4_bytes) * elements, 1);
  exchange(local_, elements, scales);
  kernels("summed over a node", int4_bytes * (elements + of_node), 1);
  exchange(global_, of_node, scales / local_.size);
  // Back to fp16, an addition for each node, a division.
  const auto of_rank = fp16_bytes * elements / ranks_;
  kernels("summed over nodes", (int4_bytes + fp16_bytes) * of_node + (3 * global_.size + 2) * of_rank,
          global_.size + 2);
  return last;
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
  const auto of_copy = [&](double elements) {
    return copy_.size > 1 ? kept_here * elements / copy_.size : 0;
  };
  return {.parameters = Bytes{(kept_here + (master ? kept_ : 0)) * parameters_ / ranks_ +
                              of_copy(parameters_ - stays_)},
          .frozen = Bytes{kept_here * frozen_ / ranks_ + of_copy(frozen_ - frozen_stays_)},
          .optimizer_share = offloads ? 0 : 1.0 / ranks_,
          .gradients = offloads ? 0_B : Bytes{kept_ * parameters_ / ranks_},
          .buckets = Bytes{reduced_ * std::min(settings_.reduce_bucket_size, parameters_)}};
}

/// Gathered parameters grow up to the limit of live parameters or the reuse distance. In int8 they are
/// gathered beside what they become, in fp16 before they are copied apart.
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
  const auto in_int8 =
      settings_.zero_quantized_weights ? std::min(live, largest + settings_.prefetch_bucket_size) : 0;
  const auto in_fp16 = settings_.zero_quantized_weights ? fp16_bytes * largest : 0;
  return HeldMemory{.gradients = Bytes{width_ * gradients},
                    .gathered = Bytes{width_ * (live + stays_ + frozen_stays_) + in_int8 + in_fp16}};
}

}  // namespace gradway
