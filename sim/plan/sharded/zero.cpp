// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/sharded/zero.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/clipping.hpp"
#include "sim/plan/model_tasks.hpp"
#include "sim/plan/offload.hpp"

namespace gradway {

Seconds time_of_cast(const RankScenario& scenario, double width) {
  if (width == fp32_bytes) return {};
  return host_pass_time(scenario, Bytes{fp32_bytes + width}).value_or(Seconds{});
}

TaskId own_to_host(TaskList& tasks, StreamId stream, Bytes size, TaskId after, std::int32_t unit) {
  auto task = copy_task("own gradients to the host", Phase::communication, {.bytes = size, .to = Place::host},
                        stream, tasks.gpu().launch_cost);
  task.unit = unit;
  task.after.push_back(after);
  return tasks.add(std::move(task));
}

TaskId own_from_host(TaskList& tasks, double elements, double width, Seconds cast) {
  if (cast > Seconds{}) tasks.wait("parameters are cast on the CPU", Phase::optimizer, cast);
  return tasks.add(copy_task("own parameters from the host", Phase::communication,
                             {.bytes = Bytes{width * elements}}, compute_stream, tasks.gpu().launch_cost));
}

ZeroSync::ZeroSync(const RankScenario& scenario)
    : settings_{std::get<Zero>(scenario.job.strategy)},
      ranks_{scenario.data_parallel()},
      width_{is_half(scenario.job.precision) ? 2 : fp32_bytes},
      kept_{has_half_states(scenario.job) ? width_ : fp32_bytes},
      gradients_{settings_.adds_in_fp32() ? fp32_bytes : width_},
      reduced_{settings_.communication_dtype ? bytes_of(*settings_.communication_dtype) : gradients_},
      parameters_{static_cast<double>(scenario.model.parameter_count())},
      cast_{time_of_cast(scenario, width_)},
      order_{gradients_in_order(scenario.model)} {}

void ZeroSync::before_step(TaskList& tasks) {
  if (settings_.overlaps()) reduction_stream_ = tasks.add_stream("reduction");
}

void ZeroSync::gradients_ready(TaskList& tasks, std::size_t count, const Task&, bool is_last) {
  const bool adds_now = settings_.stage == 2 || (is_last && settings_.overlaps());
  for (std::size_t i = 0; i < count; ++i, ++next_)
    if (adds_now) add(tasks, order_[next_]);
  if (is_last) ready_ += count;
}

void ZeroSync::add(TaskList& tasks, const Unit::Gradient& gradient) {
  const auto elements = gradient.size.value() / fp32_bytes;
  if (filled_ > 0 && filled_ + elements > settings_.reduce_bucket_size) flush(tasks);
  const auto id = tasks.memory_kernels("gradient into bucket", Bytes{2 * gradients_ * elements}, 1,
                                       tasks.hook(zero_cpu.gradient, 1));
  tasks[id].layer = gradient.layer;
  tasks[id].unit = static_cast<std::int32_t>(units_.size());
  open_.gradients.push_back(gradient);
  open_.filled_by = static_cast<std::int32_t>(id.index());
  filled_ += elements;
}

void ZeroSync::flush(TaskList& tasks) {
  if (filled_ == 0) return;
  const auto bucket = units_.size();
  const auto unit = static_cast<std::int32_t>(bucket);
  const Bytes size{reduced_ * filled_};
  const Bytes own_slice{gradients_ * filled_ / ranks_};
  const bool overlaps = settings_.overlaps();
  // Only one bucket is reduced at a time: the next one waits for it.
  const auto ready = tasks.wait(fmt::format("bucket {} ready", bucket), Phase::communication,
                                tasks.hook(zero_cpu.bucket, 0));
  if (last_) tasks[ready].after.push_back(*last_);
  const auto on = overlaps ? reduction_stream_ : compute_stream;
  const auto cast = reduced_ == gradients_ ? 0_B : Bytes{(reduced_ + gradients_) * filled_};
  const auto flat = tasks.kernel_on(on, fmt::format("bucket {} divided", bucket), 4 * size + cast, 2,
                                    2 * tasks.gpu().launch_cost);
  tasks[flat].after.push_back(ready);
  auto last = flat;
  if (ranks_ > 1) {
    last = tasks.call({CollectiveKind::all_reduce, size, Slot{0}}, communicator_stream,
                      fmt::format("bucket {} all-reduce", bucket), tasks.cpu(ddp_cpu.all_reduce), flat);
  }
  const auto back = tasks.kernel_on(on, fmt::format("bucket {} own slice", bucket), 2 * own_slice, 1,
                                    tasks.gpu().launch_cost);
  tasks[back].after.push_back(last);
  for (const auto id : {ready, flat, last, back}) tasks[id].unit = unit;
  last_ = settings_.offload_optimizer ? own_to_host(tasks, on, own_slice, back, unit) : back;
  open_.size = size;
  units_.push_back(std::exchange(open_, {}));
  filled_ = 0;
}

void ZeroSync::after_backward(TaskList& tasks, Module module) {
  if (module.kind != Module::Kind::model) return;
  if (settings_.adds_in_fp32()) {
    // A cast from bf16 to a new tensor, and an addition in place.
    const auto kernels = static_cast<int>(2 * order_.size());
    const Bytes traffic{(width_ + 4 * fp32_bytes) * parameters_};
    const auto id =
        tasks.memory_kernels("gradients added in fp32", traffic, kernels, tasks.hook(call_in_place, kernels));
    tasks[id].phase = Phase::backward;
  }
  next_ = 0;
  if (settings_.stage == 2 || (settings_.overlaps() && ready_ == order_.size())) reduce(tasks);
}

void ZeroSync::reduce(TaskList& tasks) {
  ready_ = 0;
  if (settings_.stage == 1 && !settings_.overlaps())
    for (const auto& gradient : order_) add(tasks, gradient);
  flush(tasks);
  const auto id = tasks.wait("reductions are done", Phase::communication, {});
  if (last_) tasks[id].after.push_back(*last_);
  tasks[id].host_waits = settings_.overlaps();
  last_.reset();
}

void ZeroSync::before_optimizer(TaskList& tasks) {
  // Stage 1 without overlap reduces after all messages of the pipeline; so does a pipeline whose later chunk
  // ended last.
  if (ready_ > 0) reduce(tasks);
  reduce_norm(tasks, Bytes{gradients_ * parameters_ / ranks_}, ranks_);
}

void ZeroSync::after_optimizer(TaskList& tasks) {
  const Bytes size{width_ * parameters_};
  const auto cast =
      settings_.offload_optimizer
          ? own_from_host(tasks, parameters_ / ranks_, width_, cast_)
          : tasks.memory_kernels("slice into parameters", Bytes{(kept_ + width_) * parameters_ / ranks_}, 1,
                                 tasks.gpu().launch_cost);
  if (ranks_ == 1) return;
  const auto gathered = tasks.call({CollectiveKind::all_gather, size, Slot{0}}, communicator_stream,
                                   "parameters all-gather", tasks.cpu(ddp_cpu.all_reduce), cast);
  const auto id = tasks.wait("parameters are there", Phase::communication, {});
  tasks[id].after.push_back(gathered);
}

/// Whole parameters, and a shard of them in fp32 unless states have 16 bits; buckets of gradients, two with
/// overlap.
SyncMemory ZeroSync::memory() const {
  const bool master = width_ != kept_;
  const Bytes slice{kept_ * parameters_ / ranks_};
  const auto buckets =
      (settings_.overlaps() ? 2 : 1) * Bytes{reduced_ * std::min(settings_.reduce_bucket_size, parameters_)};
  if (settings_.offload_optimizer)
    return {.parameters = Bytes{width_ * parameters_}, .optimizer_share = 0, .buckets = buckets};
  return {.parameters = Bytes{width_ * parameters_} + (master ? slice : 0_B),
          .optimizer_share = 1.0 / ranks_,
          .gradients = settings_.adds_in_fp32() ? Bytes{fp32_bytes * parameters_} : slice,
          .buckets = buckets};
}

/// Stage 1 holds all gradients; stage 2 holds its shard and the bucket that is not reduced yet.
std::optional<HeldMemory> ZeroSync::held(const StepMoment& moment) const {
  const Bytes slice{settings_.offload_optimizer ? 0 : width_ * parameters_ / ranks_};
  const auto made = Bytes{width_ * parameters_ * moment.ready};
  if (settings_.adds_in_fp32()) return HeldMemory{.gradients = made + Bytes{fp32_bytes * parameters_}};
  return HeldMemory{.gradients = settings_.stage == 1 ? made + slice : slice};
}

void reduce_norm(TaskList& tasks, Bytes gradients, int ranks) {
  const auto norm = tasks.memory_kernels("norm of gradients", gradients, 1, tasks.gpu().launch_cost);
  const auto sum = ranks > 1 ? sum_norm_over(tasks, Slot{0}, norm) : norm;
  const auto id = tasks.wait("norm is read", Phase::communication, {});
  tasks[id].after.push_back(sum);
  tasks[id].host_waits = true;
}

}  // namespace gradway
