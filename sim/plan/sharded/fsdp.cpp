// SPDX-License-Identifier: Apache-2.0
#include "sim/plan/sharded/fsdp.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/compute/optimizer_share.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/plan/clipping.hpp"

namespace gradway {
namespace {

// Each parameter is copied by a call of its own, which costs as much as a launch. @source
// torch/distributed/fsdp/_fully_shard/_fsdp_param.py, PyTorch 2.11
constexpr HookCost per_parameter{0, 1};

// Elements that Megatron-FSDP gathers ahead, and twice as many whose gradients it keeps whole, if the blocks
// are no larger. @source Megatron-Core at 367f664e, distributed/fsdp/src/megatron_fsdp/megatron_fsdp.py
// (suggested_communication_unit_size)
constexpr double megatron_ahead = 5e8;

/// Copy of a table of addresses to the GPU, before a kernel of the compute stream.
void add_table(TaskList& tasks, TaskId kernel, Seconds time) {
  if (!tasks.gpu().ideal) std::get<Kernel>(tasks[kernel].work).work += time;
}

}  // namespace

FsdpSync::FsdpSync(const RankScenario& scenario)
    : settings_{std::get<Fsdp>(scenario.job.strategy)},
      micro_batches_{scenario.job.accumulate},
      is_megatron_{settings_.megatron_fsdp},
      is_pipelined_{scenario.job.layout.pipeline > 1 && !is_megatron_},
      frees_gradients_{scenario.job.optimizer_in_backward},
      shards_{scenario.data_parallel() / settings_.replicate},
      groups_{scenario.model, settings_.wrap, shards_, scenario.job.layout.expert > 1},
      kept_width_{state_bytes(scenario)},
      gathered_width_{bytes_or(settings_.param_dtype, kept_width_)},
      gradient_width_{gathered_width_},
      reduced_width_{bytes_or(settings_.reduce_dtype, gradient_width_)},
      state_(groups_.size()),
      units_{groups_.units(reduced_width_)} {
  if (groups_.root() > 0)
    ahead_ = std::max(megatron_ahead, (groups_.all_padded() - groups_[groups_.root()].padded) /
                                          static_cast<double>(groups_.root()));
  const auto add_partition = [&](const char* name, auto colour) {
    partitions_.push_back({name, colour});
    return Slot{static_cast<std::uint32_t>(partitions_.size() - 1)};
  };
  const auto shards = shards_;
  if (shards > 1) shards_slot_ = add_partition("shards", [shards](int rank) { return rank / shards; });
  if (settings_.replicate > 1)
    replicas_slot_ = add_partition("replicas", [shards](int rank) { return rank % shards; });
  if (const auto few = resharded_over(0); few > Fsdp::kept)
    fewer_slot_ = add_partition("resharded", [few](int rank) { return rank / few; });
  const auto root = groups_.root();
  if (resharded_over(root) == Fsdp::kept) always_gathered_ = gathered(root);
  for (std::size_t g = 0; g < root; ++g) {
    if (const auto over = resharded_over(g); over != Fsdp::over_all) always_gathered_ += gathered(g) / over;
    largest_gather_ = std::max(largest_gather_, gathered(g));
  }
}

/// @return `Fsdp::over_all`, `Fsdp::kept`, or the number of ranks that keep a whole copy after the forward
/// pass
int FsdpSync::resharded_over(std::size_t group) const {
  if (!settings_.reshard) return is_pipelined_ || group == groups_.root() ? Fsdp::kept : Fsdp::over_all;
  return *settings_.reshard == shards_ ? Fsdp::over_all : *settings_.reshard;
}

void FsdpSync::before_step(TaskList& tasks) {
  copy_in_ = tasks.add_stream("gather copy-in");
  after_reduction_ = tasks.add_stream("after reduction");
  if (settings_.replicate > 1) replicas_ = tasks.add_stream("communicator of replicas");
  if (resharded_over(0) > Fsdp::kept) fewer_stream_ = tasks.add_stream("communicator of few");
}

/// Gathers do not start before the optimizer has written the parameters that they send.
void FsdpSync::before_micro_step(TaskList& tasks, MicroStep micro) {
  if (is_pipelined_ && micro.number > 0) return;
  micro_ = micro;
  order_.clear();
  copied_.reset();
  gate_ = tasks.wait("parameters are there", Phase::communication, {});
}

void FsdpSync::before_forward(TaskList& tasks, Module module) {
  if (const auto group = groups_.begins_with(module)) enter_forward(tasks, *group);
}
void FsdpSync::after_forward(TaskList& tasks, Module module) {
  if (const auto group = groups_.ends_with(module)) leave_forward(tasks, *group);
  if (module.kind == Module::Kind::model && copied_) gate_ = copied_;
}
void FsdpSync::before_backward(TaskList& tasks, Module module) {
  if (const auto group = groups_.ends_with(module)) enter_backward(tasks, *group);
}
void FsdpSync::after_backward(TaskList& tasks, Module module) {
  if (const auto group = groups_.begins_with(module)) leave_backward(tasks, *group);
}

bool FsdpSync::casts(std::size_t group) const {
  return (gathered_width_ != kept_width_ || settings_.fp8_all_gather) && groups_[group].tensors() > 0;
}

/// Casts the shards, copies them into the gather buffer, and gathers in place. A rank alone gathers nothing.
void FsdpSync::gather(TaskList& tasks, std::size_t group) {
  auto& state = state_[group];
  if (state.gathered) return;
  if (is_megatron_) {  // in place, after the kernels that were issued before
    if (shards_ == 1) return;
    state.gathered = tasks.call({CollectiveKind::all_gather, gathered(group), shards_slot_},
                                communicator_stream, fmt::format("{} all-gather", groups_[group].name),
                                tasks.cpu(ddp_cpu.all_reduce), tasks.last());
    tasks[*state.gathered].unit = static_cast<std::int32_t>(group);
    return;
  }
  const auto& wrapped_group = groups_[group];
  const bool over_fewer = state.over_fewer;
  const int over = over_fewer ? resharded_over(group) : shards_;
  const bool casts_shards = casts(group) && !over_fewer;
  if (settings_.cpu_offload && !over_fewer)
    copy_shard(tasks, group, {.bytes = share(group, kept_width_) + wrapped_group.frozen / shards_}, gate_);
  if (shards_ == 1) {
    state.gathered = tasks.wait(fmt::format("{} not gathered", wrapped_group.name), Phase::communication,
                                tasks.hook(fsdp_alone_cpu.gather, 0));
    return;
  }
  const auto traffic = (casts_shards ? share(group, kept_width_) + trained(group) / shards_ : Bytes{}) +
                       2 * gathered(group) / over;
  const auto in =
      tasks.kernel_on(copy_in_, fmt::format("{} copy-in", wrapped_group.name), traffic / fsdp_copies.copy_in,
                      casts_shards ? 4 : 2, tasks.hook(fsdp_cpu.gather, wrapped_group.gathered_tensors()));
  tasks[in].unit = static_cast<std::int32_t>(group);
  if (gate_) tasks[in].after.push_back(*gate_);
  state.gathered = in;
  if (over == 1) return;
  const auto id =
      tasks.call({CollectiveKind::all_gather, gathered(group), over_fewer ? fewer_slot_ : shards_slot_},
                 over_fewer ? fewer_stream_ : communicator_stream,
                 fmt::format("{} all-gather", wrapped_group.name), {}, in);
  tasks[id].unit = static_cast<std::int32_t>(group);
  state.gathered = id;
}

/// Gathers a group and those that the pass reaches next, and waits for the group.
void FsdpSync::gather_ahead(TaskList& tasks, std::size_t group, bool is_forward) {
  const auto end = is_forward && groups_.root() > 0 ? groups_.root() - 1 : 0;
  gather(tasks, group);
  double ahead = 0;
  for (auto next = group; next != end && ahead < ahead_; ahead += groups_[next].padded) {
    next = is_forward ? (next + 1) % groups_.size() : next - 1;
    gather(tasks, next);
  }
  const auto id = tasks.wait(fmt::format("{} gathered", groups_[group].name), Phase::communication, {});
  if (state_[group].gathered) tasks[id].after.push_back(*state_[group].gathered);
}

/// One copy per parameter between the host and the GPU.
TaskId FsdpSync::copy_shard(TaskList& tasks, std::size_t group, Copy copy, std::optional<TaskId> after) {
  const bool is_gradient = copy.to == Place::host;
  const auto tensors = is_gradient ? groups_[group].tensors() : groups_[group].gathered_tensors();
  auto task = copy_task(fmt::format("{} {} the host", groups_[group].name, is_gradient ? "to" : "from"),
                        Phase::communication, copy, is_gradient ? after_reduction_ : copy_in_,
                        tasks.hook(per_parameter, tensors));
  task.unit = static_cast<std::int32_t>(group);
  if (after) task.after.push_back(*after);
  // At once if gradients are added to those of the micro-step before.
  task.host_waits = is_gradient && micro_.number > 0 && !settings_.no_sync;
  return tasks.add(std::move(task));
}

/// A rank alone copies each parameter, after its cast. @pre it was gathered
TaskId FsdpSync::copy_out(TaskList& tasks, std::size_t group) {
  const auto& wrapped_group = groups_[group];
  const auto tensors = wrapped_group.gathered_tensors();
  const bool is_alone = shards_ == 1;
  auto launch = tasks.hook(is_alone ? fsdp_alone_cpu.copy_out : fsdp_cpu.copy_out, tensors);
  auto traffic = 2 * gathered(group) / (is_alone ? 1 : fsdp_copies.copy_out);
  int kernels = is_alone ? tensors : 1;
  if (is_alone && casts(group)) {
    launch += tasks.hook(fsdp_alone_cpu.cast, tensors);
    traffic += whole(group, kept_width_) + trained(group);
    kernels += tensors;
  }
  const auto id =
      tasks.memory_kernels(fmt::format("{} copy-out", wrapped_group.name), traffic, kernels, launch);
  if (!is_alone) add_table(tasks, id, fsdp_copies.table);
  tasks[id].after.push_back(*state_[group].gathered);
  tasks[id].unit = static_cast<std::int32_t>(group);
  state_[group].is_whole = true;
  return id;
}

void FsdpSync::enter_forward(TaskList& tasks, std::size_t group) {
  tasks.wait(fmt::format("{} pre-forward", groups_[group].name), Phase::communication,
             tasks.hook(fsdp_cpu.enter_forward, 0));
  if (is_megatron_) return gather_ahead(tasks, group, true);
  gather(tasks, group);
  // The output buffer of the previous gather is free after that group was copied out.
  if (copied_) gate_ = copied_;
  copied_ = copy_out(tasks, group);
  if (group == groups_.root()) return;
  for (int ahead = 1; ahead <= settings_.forward_prefetch; ++ahead)
    if (const auto next = group + static_cast<std::size_t>(ahead); next < groups_.root()) gather(tasks, next);
}

void FsdpSync::leave_forward(TaskList& tasks, std::size_t group) {
  if (!is_pipelined_ || std::ranges::find(order_, group) == order_.end()) order_.push_back(group);
  tasks.wait(fmt::format("{} post-forward", groups_[group].name), Phase::communication,
             shards_ == 1 ? tasks.hook(fsdp_alone_cpu.leave_forward, groups_[group].gathered_tensors())
                          : tasks.hook(fsdp_cpu.leave_forward, 0));
  const auto over = resharded_over(group);
  if (over == Fsdp::kept) return;
  state_[group] = {.over_fewer = over != Fsdp::over_all, .passes = state_[group].passes};
  if (over != Fsdp::over_all)
    tasks.memory_kernels(fmt::format("{} kept part", groups_[group].name), 2 * gathered(group) / over, 1,
                         tasks.gpu().launch_cost);
}

void FsdpSync::enter_backward(TaskList& tasks, std::size_t group) {
  tasks.wait(fmt::format("{} pre-backward", groups_[group].name), Phase::communication,
             tasks.hook(fsdp_cpu.enter_backward, 0));
  if (is_megatron_) return gather_ahead(tasks, group, false);
  if (!state_[group].is_whole) {
    gather(tasks, group);
    gate_ = copy_out(tasks, group);
  }
  const auto position = std::ranges::find(order_, group) - order_.begin();
  for (std::ptrdiff_t ahead = 1; ahead <= std::max(1, settings_.backward_prefetch) && ahead <= position;
       ++ahead)
    gather(tasks, order_[static_cast<std::size_t>(position - ahead)]);
}

void FsdpSync::leave_backward(TaskList& tasks, std::size_t group) {
  if (is_pipelined_) return keep_on_stage(tasks, group);
  if (groups_[group].tensors() == 0 || !makes_gradients_) {
    // Nothing in the group is trained, or its gradients are made later.
  } else if (settings_.no_sync && !micro_.is_last) {
    add_to_unsharded(tasks, group, micro_.number == 0);
  } else {
    const bool adds = settings_.no_sync && micro_.number > 0;
    reduce(tasks, group, whole(group, gradient_width_ + (adds ? 4 : 1) * reduced_width_));
  }
  if (!is_megatron_ || resharded_over(group) != Fsdp::kept) state_[group] = {};
}

void FsdpSync::keep_on_stage(TaskList& tasks, std::size_t group) {
  if (groups_[group].tensors() == 0 || !makes_gradients_) return;
  auto& passes = state_[group].passes;
  add_to_unsharded(tasks, group, passes == 0);
  if (++passes == micro_batches_) whole_.push_back(group);
}

/// In the order of the model, the root group first.
void FsdpSync::after_backward_pass(TaskList& tasks) {
  std::ranges::sort(whole_, {}, [&](std::size_t group) { return (group + 1) % groups_.size(); });
  for (const auto group : whole_) {
    reduce(tasks, group, whole(group, 2 * reduced_width_));
    state_[group] = {};
  }
  whole_.clear();
}

/// Gradients of a micro-step without reduction are kept whole, in the format of the reduction.
void FsdpSync::add_to_unsharded(TaskList& tasks, std::size_t group, bool is_first) {
  const auto& wrapped_group = groups_[group];
  double width = gradient_width_ + 2 * reduced_width_;
  if (is_first) width = gradient_width_ == reduced_width_ ? 0 : gradient_width_ + reduced_width_;
  const auto id = tasks.memory_kernels(fmt::format("{} gradients kept", wrapped_group.name),
                                       whole(group, width), width > 0 ? wrapped_group.tensors() : 0,
                                       tasks.hook(fsdp_cpu.keep, wrapped_group.tensors()));
  tasks[id].unit = static_cast<std::int32_t>(group);
}

/// @param moved memory traffic of copying gradients into the reduction buffer
void FsdpSync::reduce(TaskList& tasks, std::size_t group, Bytes moved) {
  const auto& wrapped_group = groups_[group];
  const auto unit = static_cast<std::int32_t>(group);
  auto cpu = shards_ == 1 ? fsdp_alone_cpu.reduce : fsdp_cpu.reduce;
  if (is_megatron_) cpu = per_parameter;  // copies gradients one by one
  const auto in = tasks.memory_kernels(fmt::format("{} gradients in", wrapped_group.name),
                                       is_megatron_ ? moved : moved / fsdp_copies.gradients,
                                       is_megatron_ ? wrapped_group.tensors() : 1,
                                       tasks.hook(cpu, wrapped_group.tensors()));
  if (!is_megatron_) add_table(tasks, in, moved / fsdp_copies.table_of_gradients);
  tasks[in].unit = unit;
  units_[group].filled_by = static_cast<std::int32_t>(in.index());
  if (reduction_ && !is_megatron_) tasks[in].after.push_back(*reduction_);
  auto last = in;
  if (shards_ > 1) {
    last = tasks.call({CollectiveKind::reduce_scatter, whole(group, reduced_width_), shards_slot_},
                      communicator_stream, fmt::format("{} reduce-scatter", wrapped_group.name),
                      is_megatron_ ? tasks.cpu(ddp_cpu.all_reduce) : Seconds{}, in);
    tasks[last].unit = unit;
    if (offloaded_ && settings_.replicate == 1) tasks[last].after.push_back(*offloaded_);
  }
  reduction_ = last;
  if (settings_.replicate > 1 && (!is_megatron_ || micro_.is_last)) {
    last = tasks.call({CollectiveKind::all_reduce, share(group, reduced_width_), replicas_slot_}, replicas_,
                      fmt::format("{} all-reduce", wrapped_group.name), {}, last);
    tasks[last].unit = unit;
    if (offloaded_) tasks[last].after.push_back(*offloaded_);
  }
  // The shard is cast to the format of the parameters and added to that of the micro-step before. A rank
  // alone copies the sum first.
  double traffic = reduced_width_ == kept_width_ ? 0 : reduced_width_ + kept_width_;
  if (shards_ == 1) traffic += 2 * reduced_width_;
  const bool adds = !is_pipelined_ && !settings_.no_sync && micro_.number > 0 && !settings_.cpu_offload;
  if (adds) traffic += 3 * kept_width_;
  if (is_megatron_) traffic = 3 * reduced_width_;  // into a buffer that was zero
  if (traffic > 0) {
    const auto kernels = micro_.number > 0 ? wrapped_group.tensors() : 1;
    const auto id = tasks.kernel_on(after_reduction_, fmt::format("{} into gradients", wrapped_group.name),
                                    share(group, traffic), kernels, tasks.gpu().launch_cost * kernels);
    tasks[id].after.push_back(last);
    tasks[id].unit = unit;
    last = id;
    if (settings_.replicate == 1) reduction_ = id;
  }
  if (settings_.cpu_offload)
    offloaded_ = last =
        copy_shard(tasks, group, {.bytes = share(group, kept_width_), .to = Place::host}, last);
  pending_.push_back(last);
}

/// The end of the backward pass waits for every reduction and the tasks after it.
void FsdpSync::before_optimizer(TaskList& tasks) {
  const auto id = tasks.wait("reductions are done", Phase::communication, tasks.hook(fsdp_cpu.root_ends, 0));
  tasks[id].after = pending_;
  tasks[id].host_waits = settings_.cpu_offload;
}

/// Megatron-FSDP casts the shards. Scales of all weights before the gathers: the maximum of each shard, then
/// the maximum over the ranks.
/// @source torchao/float8/fsdp_utils.py, precompute_float8_dynamic_scale_for_fsdp
void FsdpSync::after_optimizer(TaskList& tasks) {
  if (is_megatron_ && gathered_width_ != kept_width_)
    tasks.memory_kernels(
        "shards cast", Bytes{(kept_width_ + gathered_width_) * groups_.all_padded() / shards_},
        static_cast<int>(groups_.size()), tasks.gpu().launch_cost * static_cast<double>(groups_.size()));
  if (!settings_.fp8_all_gather) return;
  constexpr int kernels = 10;  // on lists of tensors and of scales
  double elements = 0;
  double weights = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    elements += groups_[g].in_fp8;
    weights += groups_[g].in_fp8 > 0 ? groups_[g].tensors() : 0;
  }
  const auto maxima =
      tasks.memory_kernels("greatest values of weights", Bytes{kept_width_ * elements / shards_}, kernels,
                           tasks.gpu().launch_cost * kernels);
  if (shards_ == 1) return;
  const auto id = tasks.call({CollectiveKind::all_reduce, Bytes{fp32_bytes * weights}, shards_slot_},
                             communicator_stream, "all-reduce of greatest values", {}, maxima);
  const auto done = tasks.wait("scales of weights", Phase::communication, {});
  tasks[done].after.push_back(id);
}

TaskId FsdpSync::sum_norm(TaskList& tasks, TaskId norm) {
  return shards_ > 1 ? sum_norm_over(tasks, shards_slot_, norm) : norm;
}

/// A group is sharded while the rest of the model is whole. A full state dict gathers one parameter at a
/// time.
/// @source torch/distributed/fsdp/_fully_shard/_fsdp_param.py (_init_sharded_param),
/// torch/distributed/_state_dict_utils.py (_gather_state_dict), PyTorch 2.11
SyncMemory FsdpSync::memory() const {
  const Bytes shares{kept_width_ * groups_.all_padded() / shards_};
  const auto whole_model = shares * shards_ + groups_.frozen();
  SyncMemory memory{.parameters = shares,
                    .frozen = groups_.frozen() / shards_,
                    .optimizer_share = 1.0 / shards_,
                    .gradients = frees_gradients_ ? 0_B : shares};
  if (is_megatron_) {
    const auto elements = groups_.all_padded() / shards_;
    if (gathered_width_ != kept_width_ && resharded_over(0) != Fsdp::kept)
      *memory.parameters += Bytes{gathered_width_ * elements};
    memory.buckets = Bytes{reduced_width_ * elements};
    memory.gradients = 0_B;
  }
  if (settings_.cpu_offload) memory = {.parameters = 0_B, .frozen = 0_B, .optimizer_share = 0};
  if (settings_.init_on_gpu)
    memory.loading = whole_model + Bytes{kept_width_ * groups_.largest_padded() / shards_};
  if (settings_.state_dict == StateDict::full_on_cpu) memory.saving = groups_.largest_tensor(kept_width_);
  if (settings_.state_dict == StateDict::full_on_gpu) memory.saving = whole_model;
  if (is_megatron_) return memory;
  memory.kept_by_others = memory.gradients;
  memory.of_others = most_of_gathers() + memory.gradients + largest_reduction();
  return memory;
}

/// A gather's output lives until the next one is issued; before it, the shard is cast. On two H200,
/// 2026-11-30, both streams allocate this to the MiB (GPT-2 in fp32 and Llama 3.2 1B in bf16).
/// @source torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py (foreach_all_gather), PyTorch 2.11
Bytes FsdpSync::most_of_gathers() const {
  if (shards_ == 1) return {};
  const auto root = groups_.root();
  Bytes most{};
  Bytes before{};
  const auto visit = [&](std::size_t group) {
    const auto size = gathered(group);
    most = std::max(most, before + size + (gathered_width_ != kept_width_ ? size / shards_ : 0_B));
    before = size;
  };
  visit(root);
  for (std::size_t group = 0; group < root; ++group) visit(group);
  return most;
}

/// The shard that a reduction leaves, if it is then cast to the format of the parameters.
Bytes FsdpSync::largest_reduction() const {
  if (reduced_width_ == kept_width_) return {};
  Bytes largest{};
  for (std::size_t group = 0; group < groups_.size(); ++group)
    largest = std::max(largest, share(group, reduced_width_));
  return largest;
}

/// In a pipeline: all that the stage keeps whole, and the gathers and gradients of one more group. Otherwise:
/// in the forward pass two gather outputs and one group that is copied out; in the backward pass the group
/// whose gradients are made, the gather of the next group and the reduction of the previous one.
std::optional<HeldMemory> FsdpSync::held(const StepMoment& moment) const {
  const auto root = groups_.root();
  HeldMemory held{.gathered = always_gathered_};
  if (is_megatron_) return held_by_megatron(moment, held);
  if (is_pipelined_ || (settings_.no_sync && micro_batches_ > 1))
    held.gradients = Bytes{reduced_width_ * groups_.all_padded()};  // whole, from the first micro-step on
  if (is_pipelined_) {
    // One group in its gather, and the gradients of one group as the backward pass makes them.
    held.gathered += Bytes{gathered_width_ * groups_.largest_padded()};
    held.gradients += Bytes{gradient_width_ * groups_.largest_padded()};
    return held;
  }
  if (moment.is_loss) return held;
  if (resharded_over(root) != Fsdp::kept) held.gathered += gathered(root);
  if (moment.is_forward) {
    held.gathered += 3 * largest_gather_;
    held.of_others = 2 * largest_gather_;
    return held;
  }
  const auto made = groups_.made(moment.ready);
  std::optional<std::size_t> open;
  Bytes reducing{};  // the last group whose gradients are complete
  Bytes reduced{};   // what its reduction leaves
  for (std::size_t g = root; g-- > 0;) {
    if (made[g] >= groups_[g].elements) {
      if (!settings_.cpu_offload && !frees_gradients_) held.of_others += share(g, kept_width_);
      reducing = whole(g, reduced_width_);
      reduced = share(g, reduced_width_);
    } else {
      held.gradients += Bytes{gradient_width_ * made[g]};
      if (!open) open = g;
    }
  }
  held.gradients += held.of_others + Bytes{gradient_width_ * made[root]};
  const auto regathered = [&](std::size_t g) { return resharded_over(g) == Fsdp::kept ? 0_B : gathered(g); };
  if (open) held.gathered += regathered(*open);
  if (open && *open > 0) reduced += regathered(*open - 1);
  held.gathered += reducing + reduced;
  held.of_others += reduced;
  return held;
}

/// The current group and those gathered ahead, each freed when the next gather is issued; gradients of groups
/// that are being reduced, and those of the group whose backward pass runs.
HeldMemory FsdpSync::held_by_megatron(const StepMoment& moment, HeldMemory held) const {
  const auto largest = groups_.largest_padded();
  const auto in_blocks = groups_.all_padded() - groups_[groups_.root()].padded;
  if (resharded_over(0) != Fsdp::kept && largest > 0) {
    const auto groups = moment.is_loss ? 1 : 1 + std::ceil(ahead_ / largest);
    held.gathered += Bytes{gathered_width_ * std::min(in_blocks, groups * largest)};
  }
  if (moment.is_forward || moment.is_loss) return held;
  const auto made = groups_.made(moment.ready);
  double complete = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (made[g] >= groups_[g].elements && g != groups_.root()) {
      complete += groups_[g].padded;
    } else {
      held.gradients += Bytes{gradient_width_ * made[g]};
    }
  }
  held.gradients += Bytes{reduced_width_ * std::min(complete, 2 * ahead_ + largest)};
  return held;
}

}  // namespace gradway
