// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/sharded/fsdp1.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/clipping.hpp"

namespace gradway {
namespace {

// Groups that may be gathered and not yet freed. @source _limiter_utils.py, _FreeEventQueue
constexpr std::size_t most_inflight = 2;

/// Gradients are divided by this factor before their reduction and by the remaining factor after it, with one
/// kernel for each factor other than 1. @source torch/distributed/algorithms/_comm_hooks/default_hooks.py,
/// DefaultState
int predivided_by(int ranks) {
  int factor = 1;
  while (ranks % factor == 0 && ranks / factor > factor) factor *= 2;
  return factor;
}

}  // namespace

Fsdp1Sync::Fsdp1Sync(const RankScenario& scenario)
    : settings_{std::get<Fsdp1>(scenario.job.strategy)},
      shards_{scenario.data_parallel() / settings_.replicate},
      micro_batches_{scenario.job.accumulate},
      kept_width_{state_bytes(scenario)},
      groups_{WrappedModel::flat(scenario.model, settings_.wrap, shards_, kept_width_)},
      gathered_width_{bytes_or(settings_.param_dtype, kept_width_)},
      reduced_width_{bytes_or(settings_.reduce_dtype, gathered_width_)},
      state_(groups_.size()),
      units_{groups_.units(reduced_width_)} {
  const auto shards = shards_;
  partitions_.push_back({"shards", [shards](int rank) { return rank / shards; }});
  if (settings_.replicate > 1)
    partitions_.push_back({"replicas", [shards](int rank) { return rank % shards; }});
}

void Fsdp1Sync::before_step(TaskList& tasks) {
  cast_ = tasks.add_stream("shard casts");
  reduction_ = tasks.add_stream("gradient casts");
  if (settings_.replicate > 1) replicas_ = tasks.add_stream("communicator of replicas");
}

void Fsdp1Sync::before_micro_step(TaskList& tasks, MicroStep micro) {
  micro_ = micro;
  order_.clear();
  gate_ = tasks.wait("parameters are there", Phase::communication, {});
}

/// Casts the shard and gathers it into the flat parameter.
void Fsdp1Sync::gather(TaskList& tasks, std::size_t group) {
  auto& state = state_[group];
  if (state.gathered) return;
  const auto& name = groups_[group].name;
  const auto unit = static_cast<std::int32_t>(group);
  const bool casts = gathered_width_ != kept_width_;
  const auto traffic = casts ? whole(group, kept_width_ + gathered_width_) / shards_ : 0_B;
  const auto in = tasks.kernel_on(cast_, fmt::format("{} cast", name), traffic, casts ? 1 : 0,
                                  tasks.hook(fsdp1_cpu.gather, 0));
  tasks[in].after.push_back(*gate_);
  tasks[in].unit = unit;
  state.gathered = in;
  if (settings_.limit_all_gathers && freed_.size() >= most_inflight) {
    const auto id = tasks.wait("CPU waits for a freed group", Phase::communication, {});
    tasks[id].stream = side_stream;
    tasks[id].after.push_back(freed_.front());
    tasks[id].host_waits = true;
    freed_.pop_front();
  }
  if (shards_ == 1) return;
  const auto id = tasks.call({CollectiveKind::all_gather, whole(group, gathered_width_), Slot{0}},
                             communicator_stream, fmt::format("{} all-gather", name), {}, in);
  tasks[id].unit = unit;
  state.gathered = id;
}

void Fsdp1Sync::use(TaskList& tasks, std::size_t group) {
  const auto id = tasks.wait(fmt::format("{} gathered", groups_[group].name), Phase::communication, {});
  tasks[id].after.push_back(*state_[group].gathered);
  tasks[id].unit = static_cast<std::int32_t>(group);
  state_[group].is_used = true;
}

/// The memory of the group is free when the compute stream gets here.
void Fsdp1Sync::free(TaskList& tasks, std::size_t group) {
  freed_.push_back(tasks.wait(fmt::format("{} freed", groups_[group].name), Phase::communication, {}));
  state_[group] = {};
}

void Fsdp1Sync::before_forward(TaskList& tasks, Module module) {
  const auto group = groups_.begins_with(module);
  if (!group) return;
  tasks.wait(fmt::format("{} pre-forward", groups_[*group].name), Phase::communication,
             tasks.hook(fsdp1_cpu.enter_forward, 0));
  gather(tasks, *group);
  use(tasks, *group);
  if (!settings_.forward_prefetch) return;
  const auto next = *group == groups_.root() ? 0 : *group + 1;
  if (next < groups_.root()) gather(tasks, next);
}

void Fsdp1Sync::after_forward(TaskList& tasks, Module module) {
  const auto group = groups_.ends_with(module);
  if (!group) return;
  order_.push_back(*group);
  tasks.wait(fmt::format("{} post-forward", groups_[*group].name), Phase::communication,
             tasks.hook(fsdp1_cpu.leave_forward, 0));
  if (*group != groups_.root() && settings_.sharding == Fsdp1::Sharding::full_shard) free(tasks, *group);
}

void Fsdp1Sync::before_backward(TaskList& tasks, Module module) {
  const auto group = groups_.ends_with(module);
  if (!group) return;
  tasks.wait(fmt::format("{} pre-backward", groups_[*group].name), Phase::communication,
             tasks.hook(fsdp1_cpu.enter_backward, 0));
  if (!state_[*group].is_used) {
    gather(tasks, *group);
    use(tasks, *group);
  }
  if (settings_.backward_prefetch != Fsdp1::Prefetch::pre) return;
  const auto position = std::ranges::find(order_, *group) - order_.begin();
  if (position > 0) gather(tasks, order_[static_cast<std::size_t>(position - 1)]);
}

void Fsdp1Sync::after_backward(TaskList& tasks, Module module) {
  const auto group = groups_.begins_with(module);
  if (!group) return;
  if (groups_[*group].tensors() == 0) return free(tasks, *group);
  // The gradients of the views are concatenated.
  const auto put = tasks.memory_kernels(fmt::format("{} gradients together", groups_[*group].name),
                                        2 * whole(*group, gathered_width_) / fsdp_copies.gradients, 1,
                                        tasks.gpu().launch_cost);
  tasks[put].unit = static_cast<std::int32_t>(*group);
  const bool reduces = micro_.is_last || !settings_.no_sync;
  if (reduces || settings_.sharding == Fsdp1::Sharding::full_shard) free(tasks, *group);
  if (settings_.backward_prefetch == Fsdp1::Prefetch::post && *group != groups_.root()) {
    const auto position = std::ranges::find(order_, *group) - order_.begin();
    if (position > 0) gather(tasks, order_[static_cast<std::size_t>(position - 1)]);
  }
  if (reduces) reduce(tasks, *group);
}

void Fsdp1Sync::reduce(TaskList& tasks, std::size_t group) {
  const auto& name = groups_[group].name;
  const auto unit = static_cast<std::int32_t>(group);
  const auto ready = tasks.wait(fmt::format("{} gradients ready", name), Phase::communication,
                                tasks.hook(fsdp1_cpu.reduce, 0));
  const bool casts = reduced_width_ != gathered_width_;
  const auto before = predivided_by(shards_ * settings_.replicate);
  const bool divides = before > 1;
  const auto traffic = (casts ? whole(group, gathered_width_ + reduced_width_) : 0_B) +
                       (divides ? 2 * whole(group, reduced_width_) : 0_B);
  auto last = tasks.kernel_on(reduction_, fmt::format("{} gradients cast and divided", name), traffic,
                              int{casts} + int{divides}, {});
  tasks[last].after.push_back(ready);
  tasks[last].unit = unit;
  units_[group].filled_by = static_cast<std::int32_t>(last.index());
  const auto call = [&](CollectiveKind kind, Bytes bytes, std::uint32_t slot, StreamId stream,
                        const char* operation) {
    last = tasks.call({kind, bytes, Slot{slot}}, stream, fmt::format("{} {}", name, operation), {}, last);
    tasks[last].unit = unit;
  };
  if (shards_ > 1)
    call(CollectiveKind::reduce_scatter, whole(group, reduced_width_), 0, communicator_stream,
         "reduce-scatter");
  if (settings_.replicate > 1)
    call(CollectiveKind::all_reduce, whole(group, reduced_width_) / shards_, 1, replicas_, "all-reduce");
  double width = reduced_width_ == kept_width_ ? 0 : reduced_width_ + kept_width_;
  if (shards_ * settings_.replicate > before) width += 2 * reduced_width_;
  if (micro_.number > 0 && !settings_.no_sync) width += 3 * kept_width_;
  if (width > 0) {
    const auto id = tasks.kernel_on(reduction_, fmt::format("{} into gradients", name),
                                    whole(group, width) / shards_, 1, tasks.gpu().launch_cost);
    tasks[id].after.push_back(last);
    tasks[id].unit = unit;
    last = id;
  }
  pending_.push_back(last);
}

void Fsdp1Sync::before_optimizer(TaskList& tasks) {
  const auto id = tasks.wait("reductions are done", Phase::communication, {});
  tasks[id].after = pending_;
}

TaskId Fsdp1Sync::sum_norm(TaskList& tasks, TaskId norm) {
  return shards_ > 1 ? sum_norm_over(tasks, Slot{0}, norm) : norm;
}

/// A group is copied into its flat parameter while the rest of the model is whole. A full state dict gathers
/// one group at a time, and copies each parameter to the host, or on the GPU while the root group is
/// gathered.
/// @source torch/distributed/fsdp/_flat_param.py (flatten_tensors), _state_dict_utils.py
/// (_full_post_state_dict_hook), PyTorch 2.11
SyncMemory Fsdp1Sync::memory() const {
  const Bytes whole_model{kept_width_ * groups_.all_padded()};
  const auto of_root = whole(groups_.root(), kept_width_);
  const auto of_largest = std::max(of_root, Bytes{kept_width_ * groups_.largest_padded()});
  SyncMemory memory{.parameters = whole_model / shards_,
                    .frozen = 0_B,
                    .optimizer_share = 1.0 / shards_,
                    .gradients = Bytes{kept_width_ * with_gradients() / shards_}};
  if (settings_.init_on_gpu) memory.loading = whole_model + of_largest;
  if (settings_.state_dict == StateDict::full_on_cpu) memory.saving = of_largest;
  if (settings_.state_dict == StateDict::full_on_gpu) memory.saving = whole_model + of_root;
  return memory;
}

/// Elements of the groups of which something is trained: the gradient of a flat parameter has zeros for what
/// is frozen.
double Fsdp1Sync::with_gradients() const {
  double elements = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].tensors() > 0) elements += groups_[g].padded;
  return elements;
}

/// Two groups are gathered ahead of the one in use. The gradients of the views and the flat gradient exist
/// together until the reduction; so do the flat gradients of the root and of groups that are kept, and those
/// of all groups from micro-batch to micro-batch without a reduction.
/// @source torch/distributed/fsdp/_runtime_utils.py (_post_backward_hook), _flat_param.py
/// (_use_unsharded_views with use_orig_params), PyTorch 2.11
std::optional<HeldMemory> Fsdp1Sync::held(const StepMoment& moment) const {
  const auto root = groups_.root();
  const bool keeps = settings_.sharding == Fsdp1::Sharding::shard_grad_op;
  HeldMemory held;
  if (settings_.no_sync && micro_batches_ > 1) held.gradients = Bytes{gathered_width_ * with_gradients()};
  held.gathered = whole(root, gathered_width_);
  if (keeps) held.gathered += Bytes{gathered_width_ * (groups_.all_padded() - groups_[root].padded)};
  const auto largest = Bytes{gathered_width_ * groups_.largest_padded()};
  if (moment.is_loss) {
    held.gathered += keeps ? 0_B : 2 * largest;
    return held;
  }
  if (!keeps) held.gathered += (moment.is_forward ? 3 : 2) * largest;
  if (moment.is_forward) return held;
  held.gathered += Bytes{reduced_width_ * groups_.largest_padded()};
  if (held.gradients > 0_B) return held;
  const auto made = groups_.made(moment.ready);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].tensors() == 0) continue;
    const bool is_done = g != root && made[g] >= groups_[g].elements;
    const auto of_flat = groups_[g].frozen_tensors > 0 ? groups_[g].padded / groups_[g].elements : 1;
    held.gradients +=
        is_done ? whole(g, kept_width_) / shards_ : Bytes{(1 + of_flat) * gathered_width_ * made[g]};
  }
  return held;
}

}  // namespace gradway
