// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/ddp/ddp.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/batch_norms.hpp"
#include "sim/plan/ddp/buckets.hpp"
#include "sim/plan/ddp/comm_hooks.hpp"
#include "sim/plan/host_reads.hpp"

namespace gradway {
namespace {

/// Memory of PowerSGD from step to step: the error of every gradient, P and Q.
Bytes powersgd_state(const Model& model, int rank) {
  double kept = static_cast<double>(model.parameter_count());
  for (const auto& layer : model.layers) {
    for (const auto& parameter : layer.parameters) {
      if (!powersgd_compresses(parameter, rank)) continue;
      const auto rows = static_cast<double>(parameter.shape.front());
      kept += rank * (rows + static_cast<double>(parameter.elements()) / rows);
    }
  }
  return Bytes{4 * kept};
}

/// Buffers of a model by the bytes of an element: their number and size.
std::map<int, std::pair<int, Bytes>> buffers_of(const Model& model) {
  std::map<int, std::pair<int, Bytes>> types;
  const auto add = [&](int width, double elements) {
    auto& [count, size] = types[width];
    ++count;
    size += Bytes{width * elements};
  };
  if (model.profile) {
    for (const auto& buffer : model.profile->buffers)
      add(buffer.element_bytes, static_cast<double>(elements_of(buffer.shape)));
    return types;
  }
  for (const auto& layer : model.layers) {
    if (layer.role != LayerRole::batch_norm || layer.parameters.empty()) continue;
    for (int i = 0; i < BatchNormBuffers::in_fp32; ++i) add(fp32_bytes, channels_of(layer));
    add(BatchNormBuffers::count_bytes, 1);
  }
  return types;
}

/// A copy of the map of used parameters to the GPU, from pinned memory.
constexpr double map_entry = 4;  // bytes: int32

}  // namespace

DdpSync::DdpSync(const RankScenario& scenario)
    : scenario_{scenario},
      ddp_{std::get<Ddp>(scenario.job.strategy)},
      width_{state_bytes(scenario)},
      buckets_{ddp_.searches_each_step() ? first_ddp_buckets(scenario.model, ddp_.bucket_cap, width_)
                                         : ddp_buckets(scenario.model, ddp_.bucket_cap, width_)} {}

int DdpSync::gradients() const {
  std::size_t count = 0;
  for (const auto& bucket : buckets_) count += bucket.gradients.size();
  return static_cast<int>(count);
}

/// DDP starts a forward pass by broadcasting rank 0's buffers (running means and variances, counts): one flat
/// tensor per type, copied back by one kernel per buffer.
/// @source torch/nn/parallel/distributed.py, _sync_module_buffers, PyTorch 2.11
void DdpSync::before_step(TaskList& tasks) {
  if (!ddp_.broadcast_buffers || buckets_.empty()) return;
  for (const auto& [width, type] : buffers_of(scenario_.model)) {
    const auto& [count, size] = type;
    const auto flat = tasks.memory_kernels("buffers into one", 2 * size, 1, tasks.gpu().launch_cost);
    const auto sent = tasks.collective(CollectiveKind::broadcast, "broadcast of buffers", size, flat);
    const auto back =
        tasks.memory_kernels("buffers back", 2 * size, count, tasks.cpu(ddp_cpu.buffer) * count);
    tasks[back].after.push_back(sent);
  }
}

/// With find_unused_parameters the forward pass ends with a search of the autograd graph, from the outputs
/// on, for parameters that get no gradient.
/// @source torch/csrc/distributed/c10d/reducer.cpp, search_unused_parameters, PyTorch 2.11
void DdpSync::after_forward(TaskList& tasks, Module module) {
  if (module.kind != Module::Kind::model || !is_last_ || !ddp_.searches_each_step()) return;
  tasks.wait("search for unused parameters", Phase::forward, tasks.cpu(ddp_cpu.search) * gradients());
}

/// After its last bucket each rank adds up over all ranks which parameters were used: a map of an int32 for
/// each one, which is copied from pinned memory.
/// @source ibid., all_reduce_local_used_map
void DdpSync::share_used(TaskList& tasks) {
  const Bytes size{map_entry * gradients()};
  const auto copied = tasks.add(copy_task("map of used parameters", Phase::communication, {.bytes = size},
                                          compute_stream, tasks.hook(call_in_place, 1)));
  used_ = tasks.collective(CollectiveKind::all_reduce, "all-reduce of used parameters", size, copied);
}

/// At the first parameter that a rank has not used, it reads back which ones the others used.
/// @source ibid., finalize_bucket_dense
void DdpSync::read_used(TaskList& tasks) {
  if (!used_) return;
  const auto there = tasks.wait("used parameters are known", Phase::communication, {});
  tasks[there].after.push_back(*used_);
  if (ddp_.unused_parameters == 0) return;
  read_back(tasks, "used parameters read back", Phase::communication, Bytes{map_entry * gradients()});
}

/// Copies the gradients into their buckets with one kernel each, which also divides by the number of ranks,
/// and reduces each full bucket.
void DdpSync::gradients_ready(TaskList& tasks, std::size_t count, const Task& task, bool is_last) {
  while (is_last && count > 0) {
    const auto bucket = reduced_.size();
    const auto& open = buckets_[bucket];
    const auto take = std::min(count, open.gradients.size() - filled_);
    Bytes size{};
    for (std::size_t i = 0; i < take; ++i) size += open.gradients[filled_ + i].size;
    const auto kernels = static_cast<int>(take);
    const auto hook = ddp_cpu.gradient + (ddp_.searches_each_step() ? ddp_cpu.mark : Seconds{});
    const auto id = tasks.memory_kernels(task.name + " into bucket " + std::to_string(bucket), 2 * size,
                                         kernels, tasks.cpu(hook) * kernels);
    tasks[id].layer = task.layer;
    tasks[id].unit = static_cast<std::int32_t>(bucket);
    count -= take;
    filled_ += take;
    if (filled_ < open.gradients.size()) continue;
    buckets_[bucket].filled_by = static_cast<std::int32_t>(id.index());
    const ReadyBucket ready{scenario_.model, open, static_cast<std::int32_t>(bucket),
                            scenario_.data_parallel()};
    reduced_.push_back(reduce_bucket(tasks, ready, ddp_));
    for (auto i = id.index(); i <= tasks.last().index(); ++i)
      tasks[TaskId{i}].unit = static_cast<std::int32_t>(bucket);
    filled_ = 0;
    if (reduced_.size() == buckets_.size() && ddp_.searches_each_step()) share_used(tasks);
  }
}

/// DDP ends the backward pass by waiting for each bucket in turn. Without views the means are copied back to
/// the gradients; with views each gradient is set to its view of the bucket.
void DdpSync::before_optimizer(TaskList& tasks) {
  const bool views = ddp_.gradient_as_bucket_view;
  const bool hook = ddp_.comm_hook != CommHook::none;
  auto after_each = !views ? ddp_cpu.copy_back : hook ? ddp_cpu.view_of_hook : ddp_cpu.view;
  if (ddp_.find_unused_parameters) after_each += ddp_cpu.used;
  for (std::size_t i = 0; i < reduced_.size(); ++i) {
    const auto gradients = static_cast<int>(buckets_[i].gradients.size());
    const auto id = tasks.memory_kernels(fmt::format("bucket {} {}", i, views ? "wait" : "back to gradients"),
                                         views ? 0_B : 2 * buckets_[i].size, views ? 0 : gradients,
                                         tasks.cpu(after_each) * gradients);
    tasks[id].after.push_back(reduced_[i]);
    tasks[id].unit = static_cast<std::int32_t>(i);
  }
  read_used(tasks);
}

/// ZeroRedundancyOptimizer: each rank broadcasts the parameters that it has stepped, and all wait.
void DdpSync::after_optimizer(TaskList& tasks) {
  if (!ddp_.zero_redundancy || scenario_.data_parallel() == 1) return;
  const auto stepped = tasks.last();
  const auto tensors = static_cast<int>(scenario_.model.parameter_tensors());
  const bool views = ddp_.parameters_as_bucket_view;
  const auto cpu = tasks.hook(views ? zero_redundancy_cpu.of_views : zero_redundancy_cpu.broadcasts, tensors);
  std::vector<Bytes> messages;
  for (auto sizes : tensors_of_ranks(scenario_.model, scenario_.data_parallel())) {
    for (auto& size : sizes) size = size * (width_ / fp32_bytes);
    if (views) {
      messages.push_back(std::accumulate(sizes.begin(), sizes.end(), Bytes{}));
    } else {
      messages.insert(messages.end(), sizes.begin(), sizes.end());
    }
  }
  std::vector<TaskId> sent;
  for (const auto size : messages) {
    if (size == 0_B) continue;
    sent.push_back(tasks.collective(CollectiveKind::broadcast, "parameters broadcast", size, stepped));
    tasks[sent.back()].launch = cpu / static_cast<double>(messages.size());
  }
  const auto id = tasks.wait("parameters are there", Phase::communication, {});
  tasks[id].after = std::move(sent);
}

/// The 16-bit hooks cast each bucket back on a separate stream.
Seconds DdpSync::extra_pause() const {
  const auto hook = ddp_.comm_hook;
  return hook == CommHook::fp16 || hook == CommHook::bf16 ? pause_of_many_streams : Seconds{};
}

/// The second step (with static_graph, the third) rebuilds the buckets and releases the first ones. NCCL's
/// work of the step before may hold those until its watchdog has seen its end: own measurement, 2026-11-25, 2
/// H100, PyTorch 2.11, allocated memory after each of the first steps.
SyncMemory DdpSync::memory() const {
  const Bytes gradients{width_ * static_cast<double>(scenario_.model.parameter_count())};
  SyncMemory memory{.optimizer_share = optimizer_share(scenario_),
                    .buckets = gradients,
                    .first_buckets = gradients,
                    .holds_gradients = ddp_.gradient_as_bucket_view};
  if (ddp_.comm_hook == CommHook::powersgd) memory.kept = powersgd_state(scenario_.model, ddp_.powersgd_rank);
  if (ddp_.comm_hook == CommHook::fp16 || ddp_.comm_hook == CommHook::bf16)
    memory.after_backward = 0.5 * gradients;
  return memory;
}

}  // namespace gradway
