// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/ddp/ddp.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/cost/framework_cost.hpp"
#include "sim/plan/ddp/buckets.hpp"
#include "sim/plan/ddp/comm_hooks.hpp"
#include "sim/plan/ddp/powersgd.hpp"

namespace gradway {
namespace {

/// What PowerSGD keeps from step to step: the error of every gradient, P and Q.
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

}  // namespace

Ddp::Ddp(const Scenario& scenario)
    : scenario_{scenario}, buckets_{ddp_buckets(scenario.model, scenario.job.strategy.bucket_cap)} {}

/// DDP starts a forward pass by sending rank 0's buffers (running means and variances, counts) to all: those
/// of a type in one flat tensor, each copied back by a kernel of its own.
/// @source torch/nn/parallel/distributed.py, _sync_module_buffers, PyTorch 2.11
void Ddp::before_step(TaskList& tasks) {
  if (!scenario_.model.profile || buckets_.empty()) return;
  std::map<int, std::pair<int, Bytes>> types;  // by bytes an element: how many, how large
  for (const auto& buffer : scenario_.model.profile->buffers) {
    auto& [count, size] = types[buffer.element_bytes];
    ++count;
    size += Bytes{buffer.element_bytes * static_cast<double>(elements_of(buffer.shape))};
  }
  for (const auto& [width, type] : types) {
    const auto& [count, size] = type;
    const auto flat = tasks.memory_kernels("buffers into one", 2 * size, 1, tasks.gpu().launch_cost);
    const auto sent = tasks.collective(CollectiveKind::broadcast, "broadcast of buffers", size, flat);
    const auto back =
        tasks.memory_kernels("buffers back", 2 * size, count, tasks.cpu(ddp_cpu.buffer) * count);
    tasks[back].after.push_back(sent);
  }
}

/// Copies the gradients into their buckets, one kernel each, dividing by the number of ranks on the way, and
/// reduces each bucket that is full.
void Ddp::gradients_ready(TaskList& tasks, std::size_t count, const Task& of, bool is_last) {
  while (is_last && count > 0) {
    const auto bucket = reduced_.size();
    const auto& open = buckets_[bucket];
    const auto take = std::min(count, open.gradients.size() - filled_);
    Bytes size{};
    for (std::size_t i = 0; i < take; ++i) size += open.gradients[filled_ + i].size;
    const auto kernels = static_cast<int>(take);
    const auto id = tasks.memory_kernels(fmt::format("{} into bucket {}", of.name, bucket), 2 * size, kernels,
                                         tasks.cpu(ddp_cpu.gradient) * kernels);
    tasks[id].layer = of.layer;
    tasks[id].unit = static_cast<std::int32_t>(bucket);
    count -= take;
    filled_ += take;
    if (filled_ < open.gradients.size()) continue;
    buckets_[bucket].filled_by = static_cast<std::int32_t>(id.index());
    const ReadyBucket ready{scenario_.model, open, static_cast<std::int32_t>(bucket), scenario_.job.gpus};
    reduced_.push_back(reduce_bucket(tasks, ready, scenario_.job.strategy));
    for (auto i = id.index(); i <= tasks.last().index(); ++i)
      tasks[TaskId{i}].unit = static_cast<std::int32_t>(bucket);
    filled_ = 0;
  }
}

/// DDP ends the backward pass by waiting for each bucket in turn; without views the means go back to the
/// gradients, with views each gradient is set to its place in the bucket.
void Ddp::before_optimizer(TaskList& tasks) {
  const bool views = scenario_.job.strategy.gradient_as_bucket_view;
  const bool hook = scenario_.job.strategy.comm_hook != CommHook::none;
  const auto after_each = !views ? ddp_cpu.copy_back : hook ? ddp_cpu.view_of_hook : ddp_cpu.view;
  for (std::size_t i = 0; i < reduced_.size(); ++i) {
    const auto gradients = static_cast<int>(buckets_[i].gradients.size());
    const auto id = tasks.memory_kernels(fmt::format("bucket {} {}", i, views ? "wait" : "back to gradients"),
                                         views ? 0_B : 2 * buckets_[i].size, views ? 0 : gradients,
                                         tasks.cpu(after_each) * gradients);
    tasks[id].after.push_back(reduced_[i]);
    tasks[id].unit = static_cast<std::int32_t>(i);
  }
}

/// The 16-bit hooks cast back on a stream of their own for each bucket.
Seconds Ddp::longer_pause() const {
  const auto hook = scenario_.job.strategy.comm_hook;
  return hook == CommHook::fp16 || hook == CommHook::bf16 ? pause_of_many_streams : Seconds{};
}

/// DDP's first buckets live on beside those that it rebuilds after the first step, so they count twice.
MemoryOfSync Ddp::memory() const {
  const auto& strategy = scenario_.job.strategy;
  const Bytes parameters{4 * static_cast<double>(scenario_.model.parameter_count())};
  MemoryOfSync memory{.buckets = 2 * parameters, .holds_gradients = strategy.gradient_as_bucket_view};
  if (strategy.comm_hook == CommHook::powersgd)
    memory.kept = powersgd_state(scenario_.model, strategy.powersgd_rank);
  if (strategy.comm_hook == CommHook::fp16 || strategy.comm_hook == CommHook::bf16)
    memory.after_backward = 0.5 * parameters;
  return memory;
}

}  // namespace gradway
