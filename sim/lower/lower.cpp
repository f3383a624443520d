// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/lower.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/random.hpp"
#include "sim/lower/contention_sides.hpp"
#include "sim/lower/nccl_memory.hpp"
#include "sim/lower/program_cursor.hpp"
#include "sim/lower/step_collectives.hpp"
#include "sim/platform/data_paths.hpp"

namespace gradway {
namespace {

/// Path of an actor's copies in one direction.
struct CopyPath {
  std::uint32_t path = Op::absent;
  std::uint32_t engine = Op::absent;
  Seconds latency{};
};

/// A simulated actor.
struct ActorState {
  ActorId id;
  std::size_t program;
  std::size_t place;  ///< among the actors of its program
  std::uint32_t kernel_path = Op::absent;
  CopyPath in{};
  CopyPath out{};
  std::array<std::uint32_t, 4> read_paths{Op::absent, Op::absent, Op::absent, Op::absent};  ///< by `ReadFrom`
  std::uint32_t cores_path = Op::absent;
  std::optional<OpId> last_launch{};
};

/// The resources used by flows of an actor and of those that it represents.
struct ActorPaths {
  std::vector<ResourceId> in;
  std::vector<ResourceId> out;
  std::array<std::vector<ResourceId>, 4> reads;  ///< by `ReadFrom`
  std::vector<ResourceId> cores;
};

/// A program and its ops so far.
struct ProgramState {
  ProgramCursor cursor;
  std::size_t actors = 0;                             ///< simulated actors that run it
  std::vector<OpId> ends{};                           ///< last op of each task of all steps, actor by actor
  std::vector<std::optional<std::uint32_t>> sides{};  ///< by footprint, actor by actor; empty until needed
};

/// The ops of one call of a group.
struct Rendezvous {
  std::optional<OpId> previous;  ///< end of the call before on the same communicator
  OpId ready;
  OpId end;
};

/// The ops of all puts and takes of a channel so far, by number.
struct ChannelState {
  std::vector<std::optional<OpId>> puts;
  std::vector<std::optional<OpId>> takes;
};

class Lowering {
 public:
  Lowering(const Workload& workload, const Platform& platform, const Communicators& communicators,
           const LoweringPlan& plan)
      : workload_{workload},
        platform_{platform},
        communicators_{communicators},
        plan_{plan},
        gpu_of_device_{gpu_numbers(platform)},
        contention_{plan.precision, platform.gpu_models.front().multiprocessors} {
    prepare_actors();
    callers_.resize(workload.groups.size());
    call_ops_ = plan.collectives.add_to(graph_, plan.folding, group_sides());
    rendezvous_.resize(workload.groups.size());
    channels_.resize(workload.channels.size());
    add_traffic();
  }

  Lowered run() {
    reserve();
    std::size_t longest = 0;
    for (const auto& program : workload_.programs) longest = std::max(longest, program.tasks.size());
    for (int step = 0; step < workload_.steps; ++step) {
      for (auto& program : programs_) program.cursor.begin_step();
      for (std::size_t t = 0; t < longest; ++t) {
        for (auto& program : programs_)
          if (t < program.cursor.program().tasks.size()) program.cursor.advance(t, step);
        for (auto& actor : actors_) {
          auto& program = programs_[actor.program];
          if (t < program.cursor.program().tasks.size()) add_task(actor, program);
        }
      }
    }
    return {std::move(graph_), plan_.folding, nccl_memory(workload_, communicators_, platform_),
            plan_.collectives.channel_limit(), plan_.collectives.provenance()};
  }

 private:
  std::optional<std::size_t> gpu_of(const Actor& actor) const {
    const auto gpu = gpu_of_device_[actor.at.index()];
    return gpu == Op::absent ? std::nullopt : std::optional<std::size_t>{gpu};
  }

  void add_traffic() {
    for (const auto& flow : plan_.traffic) {
      Op op;
      op.kind = OpKind::flow;
      op.amount = std::numeric_limits<double>::infinity();
      op.latency = flow.start;
      op.cap = flow.cap.value();
      op.weight = flow.weight;
      op.on = flow.on;
      op.period = flow.period;
      op.path = graph_.add_path(plan_.folding.fold(flow.path));
      op.origin.step = Origin::no_step;
      graph_.add(op);
    }
  }

  void prepare_actors() {
    std::map<ActorId, ActorPaths> paths_of_actors;  // by representative
    for (std::size_t a = 0; a < workload_.actors.size(); ++a) {
      auto& paths = paths_of_actors[plan_.folding.actor_representative[a]];
      add_folded(paths.in, plan_.copy_in[a].resources);
      add_folded(paths.out, plan_.copy_out[a].resources);
      if (!plan_.has_loading()) continue;
      const std::array reads{&plan_.reads[a], &plan_.cache_hits[a], &plan_.cold_reads[a],
                             &plan_.reads_ahead[a]};
      for (std::size_t from = 0; from < reads.size(); ++from) add_folded(paths.reads[from], *reads[from]);
      add_folded(paths.cores, plan_.cores[a]);
    }
    for (std::size_t p = 0; p < workload_.programs.size(); ++p)
      programs_.push_back({ProgramCursor{workload_.programs[p], ProgramId{p}}});
    for (auto& [id, paths] : paths_of_actors) {
      const auto& actor = workload_.actors[id.index()];
      ActorState actor_state{
          .id = id, .program = actor.program.index(), .place = programs_[actor.program.index()].actors++};
      if (const auto gpu = gpu_of(actor)) {
        actor_state.kernel_path = graph_.add_path({platform_.gpu_resources[*gpu]});
        const auto name = platform_.name_of(actor.at);
        actor_state.in = add_copy_path(std::move(paths.in), plan_.copy_in[id.index()].latency, name, "in");
        if (!paths.out.empty())
          actor_state.out =
              add_copy_path(std::move(paths.out), plan_.copy_out[id.index()].latency, name, "out");
      }
      for (std::size_t from = 0; from < paths.reads.size(); ++from)
        if (!paths.reads[from].empty())
          actor_state.read_paths[from] = graph_.add_path(std::move(paths.reads[from]));
      if (!paths.cores.empty()) actor_state.cores_path = graph_.add_path(std::move(paths.cores));
      actors_.push_back(actor_state);
    }
    for (auto& program : programs_) program.sides.resize(program.cursor.footprint_count() * program.actors);
  }

  void add_folded(std::vector<ResourceId>& resources, const std::vector<ResourceId>& path) const {
    const auto folded = plan_.folding.fold(path);
    resources.insert(resources.end(), folded.begin(), folded.end());
  }

  CopyPath add_copy_path(std::vector<ResourceId> path, Seconds latency, const std::string& device,
                         std::string_view direction) {
    CopyPath copy_path{.engine = graph_.add_queue(fmt::format("{} copy engine {}", device, direction)),
                       .latency = latency};
    if (!path.empty()) copy_path.path = graph_.add_path(std::move(path));
    return copy_path;
  }

  /// By group: the side of its collectives. Only representative groups have one.
  std::vector<std::uint32_t> group_sides() {
    std::vector<std::uint32_t> sides(workload_.groups.size(), Op::absent);
    std::vector<std::vector<std::uint32_t>> members(workload_.groups.size());
    for (const auto& actor : actors_) {
      for (const auto group : workload_.actors[actor.id.index()].groups) {
        const auto representative = plan_.folding.group_representative[group.index()].index();
        ++callers_[representative];
        auto& actors = members[representative];
        const auto number = static_cast<std::uint32_t>(actor.id.index());
        if (actors.empty() || actors.back() != number) actors.push_back(number);
      }
    }
    for (std::size_t g = 0; g < sides.size(); ++g) {
      if (!members[g].empty())
        sides[g] = contention_.collective_side(graph_, communicators_.of(GroupId{g}), members[g]);
    }
    return sides;
  }

  void reserve() {
    std::size_t most = 0;
    for (auto& program : programs_) {
      const auto tasks = program.cursor.program().tasks.size() * static_cast<std::size_t>(workload_.steps);
      program.ends.reserve(tasks * program.actors);
      most += tasks * (3 + program.actors);
    }
    graph_.reserve(most, 3 * most);
  }

  /// The last op of a task of an actor.
  static OpId end_of(const ActorState& actor, const ProgramState& program, std::size_t task) {
    return program.ends[task * program.actors + actor.place];
  }

  void add_task(ActorState& actor, ProgramState& program) {
    const auto& instance = program.cursor.current();
    const auto& task = *instance.task;
    auto origin = instance.origin;
    origin.actor = static_cast<std::int32_t>(actor.id.index());
    if (const auto* call = std::get_if<Call>(&task.work)) return add_call(actor, program, *call, origin);
    add_launch(actor, program, origin);
    if (std::holds_alternative<Take>(task.work)) add_request(actor, program, origin);
    const auto op = graph_.add(main_op(actor, program, origin));
    connect(actor, program, op);
    if (const auto* put = std::get_if<Put>(&task.work)) connect_put(actor, *put, instance.count_at_slot, op);
    if (const auto* take = std::get_if<Take>(&task.work))
      connect_take(actor, *take, instance.count_at_slot, op);
    for (const auto copied : instance.prefetches) graph_.add_edge(end_of(actor, program, copied), op);
    if (instance.previous) graph_.add_edge(end_of(actor, program, *instance.previous), op);
    program.ends.push_back(op);
  }

  /// Marks when an actor reaches a take: its wait is measured from here.
  void add_request(const ActorState& actor, const ProgramState& program, Origin origin) {
    origin.activity = Activity::marker;
    Op op;
    op.origin = origin;
    connect(actor, program, graph_.add(op));
  }

  void add_launch(ActorState& actor, const ProgramState& program, Origin origin) {
    const auto& instance = program.cursor.current();
    if (!instance.is_launched) return;
    origin.activity = Activity::launch;
    Op op;
    op.kind = OpKind::delay;
    op.latency = instance.task->launch / platform_.speeds[HardwarePart::cpu];
    op.origin = origin;
    const auto id = graph_.add(op);
    for (const auto task : instance.launch_after) graph_.add_edge(end_of(actor, program, task), id);
    if (actor.last_launch) graph_.add_edge(*actor.last_launch, id);
    actor.last_launch = id;
  }

  Op main_op(const ActorState& actor, ProgramState& program, const Origin& origin) {
    const auto& work = program.cursor.current().task->work;
    Op op;
    op.origin = origin;
    if (const auto* kernel = std::get_if<Kernel>(&work)) {
      kernel_op(op, actor, *kernel);
      if (op.kind == OpKind::flow) op.contender = side_of(actor, program, *kernel);
    }
    if (const auto* copy = std::get_if<Copy>(&work)) copy_op(op, actor, *copy);
    if (const auto* host = std::get_if<HostWork>(&work)) host_op(op, actor, *host);
    if (const auto* decoder = std::get_if<DecoderWork>(&work)) {
      op.kind = OpKind::delay;
      op.latency = decoder->time;
    }
    if (const auto* read = std::get_if<Read>(&work)) read_op(op, actor, *read);
    randomize(op, *program.cursor.current().task);
    if (op.kind == OpKind::join) op.origin.activity = Activity::marker;
    return op;
  }

  /// A random number of mean 1 for an actor and step.
  static double random_factor(const Origin& origin, int draw, RandomStream use, double spread) {
    constexpr std::uint64_t most_draws = 1 << 12;
    constexpr std::uint64_t most_steps = 1 << 20;
    const auto step =
        static_cast<std::uint64_t>(origin.actor) * most_steps + static_cast<std::uint64_t>(origin.step);
    return Random{step * most_draws + static_cast<std::uint64_t>(draw), use}.gamma(spread);
  }

  static void randomize(Op& op, const Task& task) {
    const auto* read = std::get_if<Read>(&task.work);
    if (read && read->latency_spread > 0)
      op.latency = op.latency *
                   random_factor(op.origin, task.varies.draw, RandomStream::latencies, read->latency_spread);
    const auto& varies = task.varies;
    if (varies.spread <= 0) return;
    const auto factor =
        1 + varies.share * (random_factor(op.origin, varies.draw, RandomStream::batches, varies.spread) - 1);
    if (op.kind == OpKind::flow) {
      op.amount *= factor;
    } else if (!read) {
      op.latency = op.latency * factor;
    }
  }

  /// Uses the node's remaining cores. A what-if speed-up of launches does not apply to it.
  static void host_op(Op& op, const ActorState& actor, const HostWork& host) {
    op.kind = actor.cores_path == Op::absent ? OpKind::delay : OpKind::flow;
    if (op.kind == OpKind::delay) {
      op.latency = host.core_time / host.threads;
      return;
    }
    op.amount = host.core_time.value();
    op.cap = host.threads;
    op.path = actor.cores_path;
  }

  static void read_op(Op& op, const ActorState& actor, const Read& read) {
    const auto path = actor.read_paths[static_cast<std::size_t>(read.from)];
    op.kind = path == Op::absent ? OpKind::delay : OpKind::flow;
    op.latency = read.latency;
    if (op.kind == OpKind::delay) return;
    op.amount = read.bytes.value();
    op.cap = read.at_most.value();
    op.weight = read.weight;
    op.path = path;
  }

  void kernel_op(Op& op, const ActorState& actor, const Kernel& kernel) const {
    if (kernel.work <= Seconds{}) return;
    expects(actor.kernel_path != Op::absent, "an actor with kernels has a GPU");
    const auto slowdown = workload_.actors[actor.id.index()].slowdown;
    op.kind = OpKind::flow;
    op.latency = kernel.pause;
    op.amount = kernel.work.value() * slowdown / platform_.speeds[HardwarePart::gpu];
    op.cap = 1;
    op.path = actor.kernel_path;
  }

  std::uint32_t side_of(const ActorState& actor, ProgramState& program, const Kernel& kernel) {
    const auto footprint =
        program.cursor.footprints()[static_cast<std::size_t>(program.cursor.current().origin.task)];
    auto& side = program.sides[footprint * program.actors + actor.place];
    if (!side) {
      side = contention_.kernel_side(graph_, static_cast<std::uint32_t>(actor.id.index()), kernel.footprint,
                                     communicators_.of(workload_.actors[actor.id.index()]));
    }
    return *side;
  }

  void copy_op(Op& op, const ActorState& actor, const Copy& copy) {
    const auto& copy_path = copy.to == Place::gpu ? actor.in : actor.out;
    if (copy_path.path == Op::absent) return;
    op.kind = OpKind::flow;
    op.latency = copy_path.latency;
    op.amount = copy.bytes.value();
    op.path = copy_path.path;
    op.queue = copy_path.engine;
    op.weight = copy_engine_weight;
    if (const auto pageable = platform_.pageable_copy_rate; !copy.pinned && pageable)
      op.cap = pageable->value() * platform_.speeds[HardwarePart::host_memory];
  }

  void connect(const ActorState& actor, const ProgramState& program, OpId op) {
    const auto& instance = program.cursor.current();
    if (actor.last_launch) graph_.add_edge(*actor.last_launch, op);
    const auto first = instance.number - static_cast<std::size_t>(instance.origin.task);  // of the step
    for (const auto before : instance.task->after)
      graph_.add_edge(end_of(actor, program, first + before.index()), op);
  }

  /// The first member adds the ops of the collective; the others only wait for it.
  void add_call(ActorState& actor, ProgramState& program, const Call& call, const Origin& origin) {
    const auto& instance = program.cursor.current();
    const auto actor_group = workload_.actors[actor.id.index()].groups[call.group.index];
    const auto group = plan_.folding.group_representative[actor_group.index()];
    auto& calls = rendezvous_[group.index()];
    if (instance.count_at_slot == calls.size()) calls.push_back(add_rendezvous(group, call, origin));
    const auto rendezvous = calls[instance.count_at_slot];
    add_launch(actor, program, origin);
    connect(actor, program, rendezvous.ready);
    if (instance.previous) {
      const auto previous = end_of(actor, program, *instance.previous);
      if (previous != rendezvous.previous) graph_.add_edge(previous, rendezvous.ready);
    }
    if (call.waits_beside_kernels && rendezvous.ready != rendezvous.end)
      add_hold(actor, program, group, rendezvous.ready, origin);
    program.ends.push_back(rendezvous.end);
  }

  /// The multiprocessors that a call occupies on the actor's GPU until all members have come to it.
  void add_hold(const ActorState& actor, const ProgramState& program, GroupId group, OpId until,
                Origin origin) {
    const auto number = static_cast<std::uint32_t>(actor.id.index());
    const auto [side, is_new] = hold_sides_.try_emplace({group, number}, Op::absent);
    if (is_new) side->second = contention_.collective_side(graph_, communicators_.of(group), {number});
    if (side->second == Op::absent) return;
    Op op;
    op.kind = OpKind::hold;
    op.contender = side->second;
    op.until = static_cast<std::uint32_t>(until.index());
    op.origin = origin;
    op.origin.activity = Activity::marker;
    const auto hold = graph_.add(op);
    connect(actor, program, hold);
    const auto& previous = program.cursor.current().previous;
    if (previous) graph_.add_edge(end_of(actor, program, *previous), hold);
  }

  Rendezvous add_rendezvous(GroupId group, const Call& call, const Origin& origin) {
    Op marker;
    marker.origin = origin;
    marker.origin.actor = Origin::none;
    marker.origin.group = static_cast<std::int32_t>(group.index());
    marker.origin.activity = Activity::marker;
    const auto& calls = rendezvous_[group.index()];
    const auto previous = calls.empty() ? std::nullopt : std::optional{calls.back().end};
    const auto& ops = call_ops_.at(group).at({call.kind, call.bytes});
    if (ops.size() == 1 && callers_[group.index()] == 1) {  // needs no markers
      const auto only = graph_.add(with_origin(marker, ops.front()));
      if (previous) graph_.add_edge(*previous, only);
      return {previous, only, only};
    }
    const auto ready = graph_.add(marker);
    if (previous) graph_.add_edge(*previous, ready);
    std::vector<OpId> op_ids;
    for (const auto& op : ops) {
      op_ids.push_back(graph_.add(with_origin(marker, op)));
      graph_.add_edge(ready, op_ids.back());
    }
    return {previous, ready, op_ids.empty() ? ready : joined(op_ids, marker)};
  }

  static Op with_origin(const Op& marker, Op op) {
    op.origin = marker.origin;
    op.origin.activity = Activity::collective;
    return op;
  }

  OpId joined(const std::vector<OpId>& op_ids, const Op& marker) {
    if (op_ids.size() == 1) return op_ids.front();
    const auto end = graph_.add(marker);
    for (const auto op : op_ids) graph_.add_edge(op, end);
    return end;
  }

  ChannelId channel_of(const ActorState& actor, Slot slot) const {
    const auto channel = workload_.actors[actor.id.index()].channels[slot.index];
    return plan_.folding.channel_representative[channel.index()];
  }

  static std::optional<OpId>& entry_at(std::vector<std::optional<OpId>>& list, std::size_t number) {
    if (list.size() <= number) list.resize(number + 1);
    return list[number];
  }

  /// The k-th take waits for the k-th put, which waits for the (k - depth)-th take. Either may be lowered
  /// first.
  void connect_put(const ActorState& actor, const Put& put, std::size_t number, OpId op) {
    const auto channel = channel_of(actor, put.channel);
    const auto depth = static_cast<std::size_t>(workload_.channels[channel.index()].depth);
    auto& state = channels_[channel.index()];
    entry_at(state.puts, number) = op;
    if (number < state.takes.size() && state.takes[number]) graph_.add_edge(op, *state.takes[number]);
    if (number < depth) return;
    if (number - depth < state.takes.size() && state.takes[number - depth])
      graph_.add_edge(*state.takes[number - depth], op);
  }

  void connect_take(const ActorState& actor, const Take& take, std::size_t number, OpId op) {
    const auto channel = channel_of(actor, take.channel);
    const auto depth = static_cast<std::size_t>(workload_.channels[channel.index()].depth);
    auto& state = channels_[channel.index()];
    entry_at(state.takes, number) = op;
    if (number < state.puts.size() && state.puts[number]) graph_.add_edge(*state.puts[number], op);
    if (number + depth < state.puts.size() && state.puts[number + depth])
      graph_.add_edge(op, *state.puts[number + depth]);
  }

  const Workload& workload_;
  const Platform& platform_;
  const Communicators& communicators_;
  const LoweringPlan& plan_;
  std::vector<std::uint32_t> gpu_of_device_;
  ContentionSides contention_;
  CallOps call_ops_;
  OpGraph graph_;
  std::vector<ActorState> actors_;
  std::vector<ProgramState> programs_;               ///< by program
  std::vector<int> callers_;                         ///< by representative group: simulated members
  std::vector<std::vector<Rendezvous>> rendezvous_;  ///< by representative group: its calls so far
  std::map<std::pair<GroupId, std::uint32_t>, std::uint32_t>
      hold_sides_;                      ///< by representative group and actor
  std::vector<ChannelState> channels_;  ///< by representative channel
};

}  // namespace

Lowered lower(const Workload& workload, const Platform& platform, const Communicators& communicators,
              const LoweringPlan& plan) {
  expects(std::ranges::equal(workload.programs, plan.collectives.calls(), {}, calls_of),
          "the lowering plan was made for a workload with the same calls");
  return Lowering{workload, platform, communicators, plan}.run();
}

}  // namespace gradway
