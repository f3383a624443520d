// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/sharded/distributed_optimizer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/sharded/zero.hpp"

namespace gradway {
namespace {

/// Number of elements at which a bucket closes. @source distributed_data_parallel.py
double bucket_size(const DistributedOptimizer& settings, int ranks) {
  if (!settings.overlap_grad_reduce) return std::numeric_limits<double>::infinity();
  return settings.bucket_size.value_or(std::max(40e6, 1e6 * ranks));
}

}  // namespace

DistributedOptimizerSync::DistributedOptimizerSync(const RankScenario& scenario)
    : model_{scenario.model},
      settings_{std::get<DistributedOptimizer>(scenario.job.strategy)},
      ranks_{scenario.data_parallel()},
      shards_{ranks_ / settings_.instances},
      share_{optimizer_share(scenario)},
      width_{is_half(scenario.job.precision) ? 2 : fp32_bytes},
      kept_{has_half_states(scenario.job) ? width_ : fp32_bytes},
      reduced_{has_half_states(scenario.job) ? width_ : bytes_of(settings_.grad_reduce_dtype)},
      parameters_{static_cast<double>(scenario.model.parameter_count())},
      blocks_{blocks_of(scenario.model)},
      by_block_{scenario.model.profile != nullptr} {
  buckets_of_.resize(by_block_ ? static_cast<std::size_t>(blocks_.count) + 1 : scenario.model.layers.size());
  const auto size = bucket_size(settings_, ranks_);
  double filled = 0;
  for (const auto& gradient : gradients_in_order(scenario.model)) {
    if (units_.empty() || filled >= size) {
      units_.emplace_back();
      in_fp8_.push_back(0);
      filled = 0;
    }
    const auto elements = gradient.size.value() / fp32_bytes;
    filled += elements;
    units_.back().gradients.push_back(gradient);
    units_.back().size += Bytes{reduced_ * elements};
    const auto layer = static_cast<std::size_t>(gradient.layer);
    const auto& of_layer = scenario.model.layers[layer];
    const auto& shape = of_layer.parameters[static_cast<std::size_t>(gradient.parameter)].shape;
    if (settings_.fp8_param_gather && of_layer.takes_fp8 && shape.size() > 1) in_fp8_.back() += elements;
    const auto block = blocks_.of_layer[layer];
    auto& block_buckets = buckets_of_[!by_block_              ? layer
                                      : block == Blocks::none ? buckets_of_.size() - 1
                                                              : static_cast<std::size_t>(block)];
    const auto bucket = units_.size() - 1;
    if (block_buckets.empty() || block_buckets.back() != bucket) block_buckets.push_back(bucket);
  }
  state_.resize(units_.size());
}

/// The gradient buffers are set to zero.
void DistributedOptimizerSync::before_step(TaskList& tasks) {
  begins_ =
      tasks.memory_kernels("gradients to zero", Bytes{reduced_ * parameters_}, 1, tasks.gpu().launch_cost);
}

void DistributedOptimizerSync::gather(TaskList& tasks, std::size_t bucket) {
  auto& state = state_[bucket];
  if (state.gathered) return;
  state.gathered =
      tasks.call({CollectiveKind::all_gather, parameters_of(bucket), Slot{0}}, communicator_stream,
                 fmt::format("bucket {} all-gather", bucket), tasks.cpu(ddp_cpu.all_reduce), *begins_);
  tasks[*state.gathered].unit = static_cast<std::int32_t>(bucket);
}

void DistributedOptimizerSync::before_forward(TaskList& tasks, Module module) {
  if (!settings_.overlap_param_gather || !gathers()) return;
  std::size_t key = buckets_of_.size();
  if (by_block_ && module.kind == Module::Kind::block) key = static_cast<std::size_t>(module.index);
  if (by_block_ && module.kind == Module::Kind::model) key = buckets_of_.size() - 1;
  if (!by_block_ && module.kind == Module::Kind::layer) key = static_cast<std::size_t>(module.index);
  if (key == buckets_of_.size()) return;
  // The last bucket holds the parameters of the first layers.
  for (const auto bucket : buckets_of_[key]) {
    if (state_[bucket].is_used) continue;
    gather(tasks, bucket);
    const auto id = tasks.wait(fmt::format("bucket {} gathered", bucket), Phase::communication, {});
    tasks[id].after.push_back(*state_[bucket].gathered);
    state_[bucket].is_used = true;
    if (bucket > 0) gather(tasks, bucket - 1);
  }
}

void DistributedOptimizerSync::gradients_ready(TaskList& tasks, std::size_t count, const Task&,
                                               bool is_last) {
  if (!is_last) return;
  for (; count > 0; --count) {
    if (++filled_ < units_[open_].gradients.size()) continue;
    units_[open_].filled_by = static_cast<std::int32_t>(tasks.last().index());
    reduce(tasks, open_++);
    filled_ = 0;
  }
}

void DistributedOptimizerSync::reduce(TaskList& tasks, std::size_t bucket) {
  const auto unit = static_cast<std::int32_t>(bucket);
  const auto size = units_[bucket].size;
  const auto scaled = tasks.memory_kernels(fmt::format("bucket {} divided", bucket), 2 * size, 1,
                                           tasks.hook(zero_cpu.bucket, 0));
  tasks[scaled].unit = unit;
  if (ranks_ == 1) return;
  const bool scatters = settings_.shards && !settings_.tensor_owners;
  const auto call = [&](CollectiveKind kind, Bytes bytes, Slot slot, TaskId after) {
    const auto id =
        tasks.call({kind, bytes, slot}, communicator_stream,
                   fmt::format("bucket {} {}", bucket, name_of(kind)), tasks.cpu(ddp_cpu.all_reduce), after);
    tasks[id].unit = unit;
    return id;
  };
  auto last = scaled;
  if (shards_ > 1)
    last = call(scatters ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, size, Slot{0}, last);
  // The shards of the instances are added up. @source Megatron-Core, param_and_grad_buffer.py
  // (start_grad_sync)
  if (settings_.instances > 1) last = call(CollectiveKind::all_reduce, size / shards_, Slot{1}, last);
  pending_.push_back(last);
}

void DistributedOptimizerSync::before_optimizer(TaskList& tasks) {
  const auto id = tasks.wait("reductions are done", Phase::communication, {});
  tasks[id].after = pending_;
  reduce_norm(tasks, Bytes{reduced_ * parameters_ * share_}, settings_.shards ? shards_ : 1);
}

void DistributedOptimizerSync::after_optimizer(TaskList& tasks) {
  const auto cast =
      tasks.memory_kernels("slice into parameters", share_ * (Bytes{kept_ * parameters_} + all_parameters()),
                           1, tasks.gpu().launch_cost);
  if (settings_.tensor_owners) broadcast_tensors(tasks, cast);
  if (settings_.overlap_param_gather || !gathers()) return;
  begins_ = cast;
  for (auto bucket = units_.size(); bucket-- > 0;) gather(tasks, bucket);
  const auto id = tasks.wait("parameters are there", Phase::communication, {});
  for (const auto& state : state_) tasks[id].after.push_back(*state.gathered);
}

/// Each owner sends its tensors as one, one owner after the other, and all wait.
/// @source github.com/InternLM/InternLM v0.1.0, hybrid_zero_optim.py, broadcast_params
void DistributedOptimizerSync::broadcast_tensors(TaskList& tasks, TaskId stepped) {
  const auto owners = *settings_.tensor_owners;
  if (owners == 1) return;
  std::vector<TaskId> sent;
  for (const auto& tensors : tensors_of_ranks(model_, owners)) {
    const auto size = std::accumulate(tensors.begin(), tensors.end(), Bytes{}) * (width_ / fp32_bytes);
    if (size == 0_B) continue;
    sent.push_back(tasks.call({CollectiveKind::broadcast, size, Slot{owners == ranks_ ? 0u : 1u}},
                              communicator_stream, "tensors of an owner broadcast",
                              tasks.cpu(ddp_cpu.all_reduce), stepped));
  }
  const auto id = tasks.wait("parameters are there", Phase::communication, {});
  tasks[id].after = std::move(sent);
}

/// All ranks, or those of an instance and those with the same shard; where fewer than all own tensors, those
/// that share a copy of the optimizer's states.
std::vector<Partition> DistributedOptimizerSync::groups() const {
  if (settings_.instances > 1) {
    const auto shards = shards_;
    return {{"instance", [shards](int rank) { return rank / shards; }},
            {"instances", [shards](int rank) { return rank % shards; }}};
  }
  if (!settings_.tensor_owners || *settings_.tensor_owners == ranks_ || *settings_.tensor_owners == 1)
    return {};
  const auto owners = *settings_.tensor_owners;
  return {{"data", [](int) { return 0; }}, {"owners", [owners](int rank) { return rank / owners; }}};
}

Bytes DistributedOptimizerSync::all_parameters() const {
  return Bytes{width_ * parameters_ - (width_ - 1) * std::accumulate(in_fp8_.begin(), in_fp8_.end(), 0.0)};
}

/// Whole parameters and gradient buffers, and a shard of the parameters in fp32 unless states have 16 bits.
SyncMemory DistributedOptimizerSync::memory() const {
  const bool master = width_ != kept_;
  const Bytes slice{kept_ * parameters_ * share_};
  return {.parameters = all_parameters() + (master ? slice : 0_B),
          .optimizer_share = share_,
          .buckets = Bytes{reduced_ * parameters_}};
}

/// A gradient is added to its buffer as soon as it is made.
std::optional<HeldMemory> DistributedOptimizerSync::held(const StepMoment&) const {
  return HeldMemory{};
}

}  // namespace gradway
