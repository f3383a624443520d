// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/lower.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/base/random.hpp"
#include "sim/lower/meetings.hpp"
#include "sim/lower/sides.hpp"
#include "sim/lower/turns.hpp"
#include "sim/platform/data_paths.hpp"

namespace gradway {
namespace {

/// The way of an actor's copies in one direction.
struct CopyWay {
  std::uint32_t path = Op::absent;
  std::uint32_t engine = Op::absent;
  Seconds latency{};
};

/// An actor that is simulated.
struct Running {
  ActorId id;
  std::size_t program;
  std::size_t place;  ///< among those of its program
  std::uint32_t kernel_path = Op::absent;
  CopyWay in{};
  CopyWay out{};
  std::uint32_t read_path = Op::absent;
  std::uint32_t hit_path = Op::absent;
  std::uint32_t cores_path = Op::absent;
  std::optional<OpId> cpu{};  ///< the last op of its CPU
};

/// What the flows of an actor, and of those that it stands for, use.
struct Ways {
  std::vector<ResourceId> in;
  std::vector<ResourceId> out;
  std::vector<ResourceId> read;
  std::vector<ResourceId> hit;
  std::vector<ResourceId> cores;
};

/// A program and what is laid of it.
struct Laid {
  Turns turns;
  std::size_t actors = 0;    ///< that run it and are simulated
  std::vector<OpId> ends{};  ///< by task of all steps, and actor by actor
  /// By footprint, and actor by actor; as far as asked for.
  std::vector<std::optional<std::uint32_t>> sides{};
};

/// Calls that meet.
struct Met {
  std::optional<OpId> before;  ///< the end of the call before, on the same communicator
  OpId ready;
  OpId end;
};

/// What was handed over on a channel so far: by number, who waits for whom.
struct HandOver {
  std::vector<std::optional<OpId>> puts;
  std::vector<std::optional<OpId>> takes;
};

class Lowering {
 public:
  Lowering(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
           const Scene& scene)
      : workload_{workload},
        scenario_{scenario},
        communicators_{communicators},
        scene_{scene},
        gpu_of_device_{gpu_numbers(scenario.platform)},
        sides_{scenario} {
    prepare_actors();
    callers_.resize(workload.groups.size());
    ops_of_calls_ = scene.meetings.enter(graph_, scene.folding, sides_of_groups());
    met_.resize(workload.groups.size());
    handed_over_.resize(workload.channels.size());
    add_traffic();
  }

  Lowered run() {
    reserve();
    std::size_t longest = 0;
    for (const auto& program : workload_.programs) longest = std::max(longest, program.tasks.size());
    for (int step = 0; step < workload_.steps; ++step) {
      for (auto& laid : laid_) laid.turns.begin_step();
      for (std::size_t t = 0; t < longest; ++t) {
        for (auto& laid : laid_)
          if (t < laid.turns.program().tasks.size()) laid.turns.take(t, step);
        for (auto& actor : running_) {
          auto& laid = laid_[actor.program];
          if (t < laid.turns.program().tasks.size()) add_task(actor, laid);
        }
      }
    }
    return {std::move(graph_), scene_.folding, channels(), scene_.meetings.limit(),
            scene_.meetings.provenance()};
  }

 private:
  std::optional<std::size_t> gpu_of(const Actor& actor) const {
    const auto gpu = gpu_of_device_[actor.at.index()];
    return gpu == Op::absent ? std::nullopt : std::optional<std::size_t>{gpu};
  }

  void add_traffic() {
    for (std::size_t i = 0; i < scene_.traffic.size(); ++i) {
      const auto& neighbour = scenario_.job.traffic[i];
      Op op;
      op.kind = OpKind::flow;
      op.amount = std::numeric_limits<double>::infinity();
      op.cap = neighbour.rate.value_or(neighbour.load * scene_.traffic[i].slowest).value();
      op.weight = neighbour.weight;
      op.path = graph_.add_path(scene_.folding.fold(scene_.traffic[i].resources));
      op.origin.step = Origin::no_step;
      graph_.add(op);
    }
  }

  void prepare_actors() {
    // By representative: the resources of all that it stands for.
    std::map<ActorId, Ways> all;
    for (std::size_t a = 0; a < workload_.actors.size(); ++a) {
      auto& ways = all[scene_.folding.actor_representative[a]];
      add_folded(ways.in, scene_.in[a].resources);
      add_folded(ways.out, scene_.out[a].resources);
      add_folded(ways.read, scene_.reads[a]);
      add_folded(ways.hit, scene_.hits[a]);
      add_folded(ways.cores, scene_.cores[a]);
    }
    for (std::size_t p = 0; p < workload_.programs.size(); ++p)
      laid_.push_back({Turns{workload_.programs[p], ProgramId{p}}});
    for (auto& [id, ways] : all) {
      const auto& actor = workload_.actors[id.index()];
      Running running{
          .id = id, .program = actor.program.index(), .place = laid_[actor.program.index()].actors++};
      if (const auto gpu = gpu_of(actor)) {
        running.kernel_path = graph_.add_path({scenario_.platform.gpu_resources[*gpu]});
        const auto& name = scenario_.platform.device(actor.at).name;
        running.in = copy_way(std::move(ways.in), scene_.in[id.index()].latency, name, "in");
        if (!ways.out.empty())
          running.out = copy_way(std::move(ways.out), scene_.out[id.index()].latency, name, "out");
      }
      if (!ways.read.empty()) running.read_path = graph_.add_path(std::move(ways.read));
      if (!ways.hit.empty()) running.hit_path = graph_.add_path(std::move(ways.hit));
      if (!ways.cores.empty()) running.cores_path = graph_.add_path(std::move(ways.cores));
      running_.push_back(running);
    }
    for (auto& laid : laid_) laid.sides.resize(laid.turns.kinds_of_footprints() * laid.actors);
  }

  void add_folded(std::vector<ResourceId>& to, const std::vector<ResourceId>& path) const {
    const auto folded = scene_.folding.fold(path);
    to.insert(to.end(), folded.begin(), folded.end());
  }

  CopyWay copy_way(std::vector<ResourceId> path, Seconds latency, const std::string& device,
                   std::string_view direction) {
    CopyWay way{.engine = graph_.add_queue(fmt::format("{} copy engine {}", device, direction)),
                .latency = latency};
    if (!path.empty()) way.path = graph_.add_path(std::move(path));
    return way;
  }

  /// Of the groups that stand for themselves: what their collectives do to the kernels of their members.
  std::vector<std::uint32_t> sides_of_groups() {
    std::vector<std::uint32_t> sides(workload_.groups.size(), Op::absent);
    std::vector<std::vector<std::uint32_t>> members(workload_.groups.size());
    for (const auto& actor : running_) {
      for (const auto group : workload_.actors[actor.id.index()].groups) {
        const auto representative = scene_.folding.group_representative[group.index()].index();
        ++callers_[representative];
        auto& of = members[representative];
        const auto number = static_cast<std::uint32_t>(actor.id.index());
        if (of.empty() || of.back() != number) of.push_back(number);
      }
    }
    for (std::size_t g = 0; g < sides.size(); ++g) {
      if (!members[g].empty())
        sides[g] = sides_.of_collectives(graph_, communicators_.of(GroupId{g}), members[g]);
    }
    return sides;
  }

  void reserve() {
    std::size_t most = 0;
    for (auto& laid : laid_) {
      const auto tasks = laid.turns.program().tasks.size() * static_cast<std::size_t>(workload_.steps);
      laid.ends.reserve(tasks * laid.actors);
      most += tasks * (3 + laid.actors);
    }
    graph_.reserve(most, 3 * most);
  }

  /// The end of a task that the actor has laid.
  static OpId end_of(const Running& actor, const Laid& laid, std::size_t task) {
    return laid.ends[task * laid.actors + actor.place];
  }

  void add_task(Running& actor, Laid& laid) {
    const auto& turn = laid.turns.last();
    const auto& task = *turn.task;
    auto origin = turn.origin;
    origin.actor = static_cast<std::int32_t>(actor.id.index());
    if (const auto* call = std::get_if<Call>(&task.work)) return add_call(actor, laid, *call, origin);
    issue(actor, laid, origin);
    if (std::holds_alternative<Take>(task.work)) ask(actor, laid, origin);
    const auto op = graph_.add(main_op(actor, laid, origin));
    connect(actor, laid, op);
    if (const auto* put = std::get_if<Put>(&task.work)) hand_over(actor, *put, turn.of_slot, op);
    if (const auto* take = std::get_if<Take>(&task.work)) take_over(actor, *take, turn.of_slot, op);
    for (const auto copied : turn.copied_before) graph_.add_edge(end_of(actor, laid, copied), op);
    if (turn.before) graph_.add_edge(end_of(actor, laid, *turn.before), op);
    laid.ends.push_back(op);
  }

  /// When the actor gets to what it takes: how long it waits for it is measured from here.
  void ask(const Running& actor, const Laid& laid, Origin origin) {
    origin.activity = Activity::marker;
    Op op;
    op.origin = origin;
    connect(actor, laid, graph_.add(op));
  }

  /// The CPU's part of a task.
  void issue(Running& actor, const Laid& laid, Origin origin) {
    const auto& turn = laid.turns.last();
    if (!turn.is_launched) return;
    origin.activity = Activity::launch;
    Op op;
    op.kind = OpKind::delay;
    op.latency = turn.task->launch / scenario_.platform.speeds[HardwarePart::cpu];
    op.origin = origin;
    const auto id = graph_.add(op);
    for (const auto before : turn.before_launch) graph_.add_edge(end_of(actor, laid, before), id);
    if (actor.cpu) graph_.add_edge(*actor.cpu, id);
    actor.cpu = id;
  }

  Op main_op(const Running& actor, Laid& laid, const Origin& origin) {
    const auto& work = laid.turns.last().task->work;
    Op op;
    op.origin = origin;
    if (const auto* kernel = std::get_if<Kernel>(&work)) {
      kernel_op(op, actor, *kernel);
      if (op.kind == OpKind::flow) op.contender = side_of(actor, laid, *kernel);
    }
    if (const auto* copy = std::get_if<Copy>(&work)) copy_op(op, actor, *copy);
    if (const auto* host = std::get_if<HostWork>(&work)) host_op(op, actor, host->core_time);
    if (const auto* read = std::get_if<Read>(&work)) read_op(op, actor, *read);
    vary(op, *laid.turns.last().task);
    if (op.kind == OpKind::join) op.origin.activity = Activity::marker;
    return op;
  }

  /// The number that an actor draws in a step.
  static double drawn(const Origin& origin, int draw, RandomStream use, double spread) {
    constexpr std::uint64_t most_draws = 1 << 12;
    constexpr std::uint64_t most_steps = 1 << 20;
    const auto step =
        static_cast<std::uint64_t>(origin.actor) * most_steps + static_cast<std::uint64_t>(origin.step);
    return Random{step * most_draws + static_cast<std::uint64_t>(draw), use}.gamma(spread);
  }

  static void vary(Op& op, const Task& task) {
    const auto* read = std::get_if<Read>(&task.work);
    if (read && read->latency_spread > 0)
      op.latency =
          op.latency * drawn(op.origin, task.varies.draw, RandomStream::latencies, read->latency_spread);
    const auto& varies = task.varies;
    if (varies.spread <= 0) return;
    const auto factor =
        1 + varies.share * (drawn(op.origin, varies.draw, RandomStream::batches, varies.spread) - 1);
    if (op.kind == OpKind::flow) {
      op.amount *= factor;
    } else if (!read) {
      op.latency = op.latency * factor;
    }
  }

  /// One core at most, of those that the node has left. What makes launches faster does not help it.
  static void host_op(Op& op, const Running& actor, Seconds core_time) {
    op.kind = actor.cores_path == Op::absent ? OpKind::delay : OpKind::flow;
    if (op.kind == OpKind::delay) {
      op.latency = core_time;
      return;
    }
    op.amount = core_time.value();
    op.cap = 1;
    op.path = actor.cores_path;
  }

  static void read_op(Op& op, const Running& actor, const Read& read) {
    const auto path = read.from_cache ? actor.hit_path : actor.read_path;
    op.kind = path == Op::absent ? OpKind::delay : OpKind::flow;
    op.latency = read.latency;
    if (op.kind == OpKind::delay) return;
    op.amount = read.bytes.value();
    op.cap = read.at_most.value();
    op.weight = read.weight;
    op.path = path;
  }

  void kernel_op(Op& op, const Running& actor, const Kernel& kernel) const {
    if (kernel.work <= Seconds{}) return;
    expects(actor.kernel_path != Op::absent, "an actor with kernels has a GPU");
    const auto& of = workload_.actors[actor.id.index()];
    op.kind = OpKind::flow;
    op.latency = kernel.pause;
    op.amount = kernel.work.value() * of.slowdown / scenario_.platform.speeds[HardwarePart::gpu];
    op.cap = 1;
    op.path = actor.kernel_path;
  }

  std::uint32_t side_of(const Running& actor, Laid& laid, const Kernel& kernel) {
    const auto footprint = laid.turns.footprints()[static_cast<std::size_t>(laid.turns.last().origin.task)];
    auto& side = laid.sides[footprint * laid.actors + actor.place];
    if (!side) {
      side = sides_.of_kernel(graph_, static_cast<std::uint32_t>(actor.id.index()), kernel.footprint,
                              communicators_.of(workload_.actors[actor.id.index()]));
    }
    return *side;
  }

  void copy_op(Op& op, const Running& actor, const Copy& copy) {
    const auto& way = copy.to == Place::gpu ? actor.in : actor.out;
    if (way.path == Op::absent) return;
    op.kind = OpKind::flow;
    op.latency = way.latency;
    op.amount = copy.bytes.value();
    op.path = way.path;
    op.queue = way.engine;
    op.weight = copy_engine_weight;
    if (const auto pageable = scenario_.platform.pageable_copy_rate; !copy.pinned && pageable)
      op.cap = pageable->value() * scenario_.platform.speeds[HardwarePart::host_memory];
  }

  void connect(const Running& actor, const Laid& laid, OpId op) {
    const auto& turn = laid.turns.last();
    if (actor.cpu) graph_.add_edge(*actor.cpu, op);
    const auto first = turn.number - static_cast<std::size_t>(turn.origin.task);  // of the step
    for (const auto before : turn.task->after)
      graph_.add_edge(end_of(actor, laid, first + before.index()), op);
  }

  /// The first member that comes lays the collective, the others only join.
  void add_call(Running& actor, Laid& laid, const Call& call, const Origin& origin) {
    const auto& turn = laid.turns.last();
    const auto own = workload_.actors[actor.id.index()].groups[call.group.index];
    const auto group = scene_.folding.group_representative[own.index()];
    auto& met = met_[group.index()];
    if (turn.of_slot == met.size()) met.push_back(lay(group, call, origin));
    const auto meeting = met[turn.of_slot];
    issue(actor, laid, origin);
    connect(actor, laid, meeting.ready);
    if (turn.before) {
      const auto before = end_of(actor, laid, *turn.before);
      if (before != meeting.before) graph_.add_edge(before, meeting.ready);
    }
    laid.ends.push_back(meeting.end);
  }

  Met lay(GroupId group, const Call& call, const Origin& origin) {
    Op marker;
    marker.origin = origin;
    marker.origin.actor = Origin::none;
    marker.origin.group = static_cast<std::int32_t>(group.index());
    marker.origin.activity = Activity::marker;
    const auto& calls = met_[group.index()];
    const auto before = calls.empty() ? std::nullopt : std::optional{calls.back().end};
    const auto& ops = ops_of_calls_.at(group).at({call.kind, call.bytes});
    if (ops.size() == 1 && callers_[group.index()] == 1) {  // nobody to wait for, nothing to join
      const auto only = graph_.add(part_of(marker, ops.front()));
      if (before) graph_.add_edge(*before, only);
      return {before, only, only};
    }
    const auto ready = graph_.add(marker);
    if (before) graph_.add_edge(*before, ready);
    std::vector<OpId> parts;
    for (const auto& op : ops) {
      parts.push_back(graph_.add(part_of(marker, op)));
      graph_.add_edge(ready, parts.back());
    }
    return {before, ready, parts.empty() ? ready : joined(parts, marker)};
  }

  static Op part_of(const Op& marker, Op op) {
    op.origin = marker.origin;
    op.origin.activity = Activity::collective;
    return op;
  }

  OpId joined(const std::vector<OpId>& parts, const Op& marker) {
    if (parts.size() == 1) return parts.front();
    const auto end = graph_.add(marker);
    for (const auto part : parts) graph_.add_edge(part, end);
    return end;
  }

  ChannelId channel_of(const Running& actor, Slot slot) const {
    const auto own = workload_.actors[actor.id.index()].channels[slot.index];
    return scene_.folding.channel_representative[own.index()];
  }

  static std::optional<OpId>& place(std::vector<std::optional<OpId>>& list, std::size_t number) {
    if (list.size() <= number) list.resize(number + 1);
    return list[number];
  }

  /// The k-th put goes before the k-th take and waits for the (k - depth)-th, whoever is laid first.
  void hand_over(const Running& actor, const Put& put, std::size_t number, OpId op) {
    const auto channel = channel_of(actor, put.channel);
    const auto depth = static_cast<std::size_t>(workload_.channels[channel.index()].depth);
    auto& handed = handed_over_[channel.index()];
    place(handed.puts, number) = op;
    if (number < handed.takes.size() && handed.takes[number]) graph_.add_edge(op, *handed.takes[number]);
    if (number < depth) return;
    if (number - depth < handed.takes.size() && handed.takes[number - depth])
      graph_.add_edge(*handed.takes[number - depth], op);
  }

  void take_over(const Running& actor, const Take& take, std::size_t number, OpId op) {
    const auto channel = channel_of(actor, take.channel);
    const auto depth = static_cast<std::size_t>(workload_.channels[channel.index()].depth);
    auto& handed = handed_over_[channel.index()];
    place(handed.takes, number) = op;
    if (number < handed.puts.size() && handed.puts[number]) graph_.add_edge(*handed.puts[number], op);
    if (number + depth < handed.puts.size() && handed.puts[number + depth])
      graph_.add_edge(op, *handed.puts[number + depth]);
  }

  /// Of the communicators in which a GPU of each program is.
  std::vector<int> channels() const {
    std::vector<int> sums(workload_.programs.size(), 0);
    if (scenario_.platform.collectives != CollectiveRules::nccl) return sums;
    std::vector<bool> known(sums.size(), false);
    for (const auto& actor : workload_.actors) {
      if (known[actor.program.index()]) continue;
      known[actor.program.index()] = true;
      for (const auto* communicator : communicators_.of(actor))
        if (communicator->facts().ranks > 1) sums[actor.program.index()] += communicator->channels();
    }
    return sums;
  }

  const Workload& workload_;
  const Scenario& scenario_;
  const Communicators& communicators_;
  const Scene& scene_;
  std::vector<std::uint32_t> gpu_of_device_;
  Sides sides_;
  OpsOfCalls ops_of_calls_;
  OpGraph graph_;
  std::vector<Running> running_;
  std::vector<Laid> laid_;             ///< by program
  std::vector<int> callers_;           ///< by group that stands for itself: who is simulated of it
  std::vector<std::vector<Met>> met_;  ///< by group that stands for itself: its calls so far
  std::vector<HandOver> handed_over_;  ///< by channel, the same
};

}  // namespace

Lowered lower(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
              const Scene& scene) {
  expects(std::ranges::equal(workload.programs, scene.meetings.calls(), {}, calls_of),
          "the scene is of a workload with the same calls");
  return Lowering{workload, scenario, communicators, scene}.run();
}

}  // namespace gradway
