// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/lower.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/lower/meetings.hpp"
#include "sim/lower/sides.hpp"
#include "sim/platform/background.hpp"
#include "sim/platform/host_copy.hpp"

namespace gradway {
namespace {

/// The way of an actor's copies in one direction.
struct CopyWay {
  std::uint32_t path = Op::absent;
  std::uint32_t engine = Op::absent;
  Seconds latency{};
};

/// An actor that is simulated, and what it has under way: the last op of each of its chains.
struct Running {
  ActorId id;
  const Program* program;
  std::vector<const Communicator*> communicators{};  ///< by slot of a group
  std::uint32_t kernel_path = Op::absent;
  CopyWay in{};
  CopyWay out{};
  std::optional<OpId> cpu{};
  std::vector<std::optional<OpId>> streams{};   ///< of the program
  std::vector<OpId> waits{};                    ///< the CPU issues nothing before these have ended
  std::vector<OpId> ends{};                     ///< by task of the current step
  std::deque<std::pair<OpId, int>> in_queue{};  ///< what the compute stream was given last, and its launches
  int queued = 0;                               ///< launches in it
  std::optional<OpId> prefetch{};               ///< the copy beside the current step: the next one uses it
  std::optional<OpId> wanted{};      ///< the copy beside the step before, until the step waits for it
  std::vector<std::size_t> calls{};  ///< made so far, by slot of a group
  std::vector<std::size_t> puts{};   ///< by slot of a channel
  std::vector<std::size_t> takes{};  ///< the same
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

bool copies(const Program& program, Place to) {
  return std::ranges::any_of(program.tasks, [&](const Task& task) {
    const auto* copy = std::get_if<Copy>(&task.work);
    return copy && copy->to == to;
  });
}

/// Beside the traffic of the job. @pre it was checked when the scenario was read
std::vector<BackgroundWay> background_ways(const Scenario& scenario) {
  const Routes routes{scenario.platform};
  std::vector<BackgroundWay> ways;
  for (const auto& neighbour : scenario.job.traffic) {
    const auto from = find_device(scenario.platform, neighbour.from);
    const auto to = find_device(scenario.platform, neighbour.to);
    expects(from && to, "both ends of traffic are parts of the platform");
    auto way = background_way(routes, *from, *to);
    expects(way.has_value(), "traffic has a way");
    ways.push_back(*std::move(way));
  }
  return ways;
}

class Lowering {
 public:
  Lowering(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
           FoldRanks fold)
      : workload_{workload},
        scenario_{scenario},
        communicators_{communicators},
        gpu_of_device_{gpu_numbers(scenario.platform)},
        traffic_{background_ways(scenario)},
        meetings_{workload, communicators},
        sides_{scenario} {
    find_copy_ways();
    find_symmetry(fold);
    prepare_actors();
    meetings_.enter(graph_, folding_, sides_of_groups());
    met_.resize(workload.groups.size());
    handed_over_.resize(workload.channels.size());
    add_traffic();
  }

  Lowered run() {
    reserve();
    std::size_t longest = 0;
    for (const auto& program : workload_.programs) longest = std::max(longest, program.tasks.size());
    for (int step = 0; step < workload_.steps; ++step) {
      for (auto& actor : running_) {
        actor.ends.clear();
        actor.wanted = std::exchange(actor.prefetch, std::nullopt);
      }
      for (std::size_t t = 0; t < longest; ++t) {
        for (auto& actor : running_)
          if (t < actor.program->tasks.size()) add_task(actor, t, step);
      }
    }
    return {std::move(graph_), std::move(folding_), channels(), meetings_.limit(), meetings_.rests_on()};
  }

 private:
  std::optional<std::size_t> gpu_of(const Actor& actor) const {
    const auto gpu = gpu_of_device_[actor.at.index()];
    return gpu == Op::absent ? std::nullopt : std::optional<std::size_t>{gpu};
  }

  /// By actor; empty where nothing is copied or there is no host memory.
  void find_copy_ways() {
    const auto& platform = scenario_.platform;
    in_.resize(workload_.actors.size());
    out_.resize(workload_.actors.size());
    const auto some = [&](Place to) {
      return std::ranges::any_of(workload_.programs,
                                 [&](const auto& program) { return copies(program, to); });
    };
    const bool any_in = some(Place::gpu);
    const bool any_out = some(Place::host);
    if (!any_in && !any_out) return;
    const Routes routes{platform};
    for (std::size_t a = 0; a < workload_.actors.size(); ++a) {
      const auto gpu = gpu_of(workload_.actors[a]);
      if (!gpu) continue;
      if (any_in) in_[a] = host_copy_way(routes, platform, *gpu).value_or(HostCopyWay{});
      if (any_out) out_[a] = way_to_host(routes, platform, *gpu).value_or(HostCopyWay{});
    }
  }

  void find_symmetry(FoldRanks fold) {
    if (fold == FoldRanks::no) {
      folding_ = no_folding(workload_, scenario_.platform);
      return;
    }
    std::vector<ActorUse> uses;
    for (std::size_t a = 0; a < workload_.actors.size(); ++a) {
      auto& use = uses.emplace_back();
      use.push_back(in_[a].resources);
      if (const auto gpu = gpu_of(workload_.actors[a]))
        use.back().push_back(scenario_.platform.gpu_resources[*gpu]);
      if (!out_[a].resources.empty()) use.push_back(out_[a].resources);
    }
    auto groups = meetings_.uses();
    std::vector<const std::vector<ResourceId>*> others;
    for (const auto& way : traffic_) others.push_back(&way.resources);
    folding_ = find_folding(workload_, uses, groups, others, scenario_.platform);
  }

  void add_traffic() {
    for (std::size_t i = 0; i < traffic_.size(); ++i) {
      const auto& neighbour = scenario_.job.traffic[i];
      Op op;
      op.kind = OpKind::flow;
      op.amount = std::numeric_limits<double>::infinity();
      op.cap = neighbour.rate.value_or(neighbour.load * traffic_[i].slowest).value();
      op.weight = neighbour.weight;
      op.path = graph_.add_path(folding_.fold(traffic_[i].resources));
      op.origin.step = Origin::no_step;
      graph_.add(op);
    }
  }

  void prepare_actors() {
    // By representative: the resources of all that it stands for.
    std::map<ActorId, std::pair<std::vector<ResourceId>, std::vector<ResourceId>>> copies;
    std::map<ActorId, std::vector<ResourceId>> kernels;
    for (std::size_t a = 0; a < workload_.actors.size(); ++a) {
      auto& [in, out] = copies[folding_.actor_representative[a]];
      for (const auto id : folding_.fold(in_[a].resources)) in.push_back(id);
      for (const auto id : folding_.fold(out_[a].resources)) out.push_back(id);
    }
    for (auto& [id, ways] : copies) {
      const auto& actor = workload_.actors[id.index()];
      const auto& program = workload_.program_of(id);
      Running running{.id = id, .program = &program, .communicators = communicators_.of(actor)};
      if (const auto gpu = gpu_of(actor)) {
        running.kernel_path = graph_.add_path({scenario_.platform.gpu_resources[*gpu]});
        const auto& name = scenario_.platform.device(actor.at).name;
        running.in = copy_way(std::move(ways.first), in_[id.index()].latency, name, "in");
        if (!ways.second.empty())
          running.out = copy_way(std::move(ways.second), out_[id.index()].latency, name, "out");
      }
      running.streams.resize(program.streams.size());
      running.calls.resize(actor.groups.size());
      running.puts.resize(actor.channels.size());
      running.takes.resize(actor.channels.size());
      running_.push_back(std::move(running));
    }
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
        auto& of = members[folding_.group_representative[group.index()].index()];
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
    for (const auto& program : workload_.programs) most += 3 * program.tasks.size();
    for (const auto& actor : running_) most += actor.program->tasks.size();
    most *= static_cast<std::size_t>(workload_.steps);
    graph_.reserve(most, 3 * most);
  }

  void add_task(Running& actor, std::size_t index, int step) {
    const auto& task = actor.program->tasks[index];
    Origin origin{.task = static_cast<std::int32_t>(index),
                  .actor = static_cast<std::int32_t>(actor.id.index()),
                  .step = step,
                  .program = static_cast<std::uint16_t>(workload_.actors[actor.id.index()].program.index()),
                  .activity = activity_of(task.work),
                  .phase = task.phase};
    if (const auto* call = std::get_if<Call>(&task.work)) return add_call(actor, task, *call, origin);
    issue(actor, task, origin);
    const auto op = graph_.add(main_op(actor, task, origin));
    connect(actor, task, op);
    if (const auto* put = std::get_if<Put>(&task.work)) hand_over(actor, *put, op);
    if (const auto* take = std::get_if<Take>(&task.work)) take_over(actor, *take, op);
    if (actor.program->is_beside(task)) actor.prefetch = op;
    const auto lane = actor.program->lane(task);
    if (lane == Lane::compute) {
      if (actor.wanted) graph_.add_edge(*std::exchange(actor.wanted, std::nullopt), op);
      actor.in_queue.emplace_back(op, task.launches);
      actor.queued += task.launches;
    }
    if (lane != Lane::side) chain(actor.streams[task.stream.index()], op);
    finish(actor, task, op);
  }

  /// The CPU's part of a task. Costs no op where issuing is free and nothing is waited for.
  void issue(Running& actor, const Task& task, Origin origin) {
    if (task.launch == Seconds{} && actor.waits.empty()) return;
    origin.activity = Activity::launch;
    Op op;
    op.kind = OpKind::delay;
    op.latency = task.launch / scenario_.platform.speeds[Part::cpu];
    op.origin = origin;
    const auto id = graph_.add(op);
    for (const auto end : actor.waits) graph_.add_edge(end, id);
    actor.waits.clear();
    for (; actor.queued + task.launches > launch_queue_depth && !actor.in_queue.empty();
         actor.in_queue.pop_front()) {
      actor.queued -= actor.in_queue.front().second;
      graph_.add_edge(actor.in_queue.front().first, id);
    }
    chain(actor.cpu, id);
  }

  Op main_op(const Running& actor, const Task& task, const Origin& origin) {
    Op op;
    op.origin = origin;
    if (const auto* kernel = std::get_if<Kernel>(&task.work)) kernel_op(op, actor, *kernel);
    if (const auto* copy = std::get_if<Copy>(&task.work)) copy_op(op, actor, *copy);
    if (const auto* host = std::get_if<HostWork>(&task.work)) {
      op.kind = OpKind::delay;
      op.latency = host->core_time / scenario_.platform.speeds[Part::cpu];
    }
    if (op.kind == OpKind::join) op.origin.activity = Activity::marker;
    return op;
  }

  void kernel_op(Op& op, const Running& actor, const Kernel& kernel) {
    if (kernel.work <= Seconds{}) return;
    expects(actor.kernel_path != Op::absent, "an actor with kernels has a GPU");
    const auto& of = workload_.actors[actor.id.index()];
    op.kind = OpKind::flow;
    op.latency = kernel.pause;
    op.amount = kernel.work.value() * of.slower / scenario_.platform.speeds[Part::gpu];
    op.cap = 1;
    op.path = actor.kernel_path;
    op.side = sides_.of_kernel(graph_, static_cast<std::uint32_t>(actor.id.index()), kernel.footprint,
                               actor.communicators);
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
      op.cap = pageable->value() * scenario_.platform.speeds[Part::host_memory];
  }

  void connect(const Running& actor, const Task& task, OpId op) {
    if (actor.cpu) graph_.add_edge(*actor.cpu, op);
    for (const auto before : task.after) graph_.add_edge(actor.ends[before.index()], op);
  }

  /// Puts an op behind the last one of a chain.
  void chain(std::optional<OpId>& last, OpId op) {
    if (last) graph_.add_edge(*last, op);
    last = op;
  }

  void finish(Running& actor, const Task& task, OpId end) {
    actor.ends.push_back(end);
    if (task.host_waits) actor.waits.push_back(end);
  }

  /// The first member that comes lays the collective, the others only join.
  void add_call(Running& actor, const Task& task, const Call& call, const Origin& origin) {
    const auto own = workload_.actors[actor.id.index()].groups[call.group.index];
    const auto group = folding_.group_representative[own.index()];
    auto& met = met_[group.index()];
    const auto number = actor.calls[call.group.index]++;
    if (number == met.size()) met.push_back(lay(group, call, origin));
    const auto meeting = met[number];
    issue(actor, task, origin);
    connect(actor, task, meeting.ready);
    auto& stream = actor.streams[task.stream.index()];
    if (actor.program->lane(task) != Lane::side) {
      if (stream && stream != meeting.before) graph_.add_edge(*stream, meeting.ready);
      stream = meeting.end;
    }
    finish(actor, task, meeting.end);
  }

  Met lay(GroupId group, const Call& call, const Origin& origin) {
    Op marker;
    marker.origin = origin;
    marker.origin.actor = Origin::none;
    marker.origin.group = static_cast<std::int32_t>(group.index());
    marker.origin.activity = Activity::marker;
    const auto& calls = met_[group.index()];
    const auto before = calls.empty() ? std::nullopt : std::optional{calls.back().end};
    const auto ready = graph_.add(marker);
    if (before) graph_.add_edge(*before, ready);
    std::vector<OpId> parts;
    for (auto op : meetings_.of(group, call)) {
      op.origin = marker.origin;
      op.origin.activity = Activity::collective;
      parts.push_back(graph_.add(op));
      graph_.add_edge(ready, parts.back());
    }
    return {before, ready, parts.empty() ? ready : joined(parts, marker)};
  }

  OpId joined(const std::vector<OpId>& parts, const Op& marker) {
    if (parts.size() == 1) return parts.front();
    const auto end = graph_.add(marker);
    for (const auto part : parts) graph_.add_edge(part, end);
    return end;
  }

  ChannelId channel_of(const Running& actor, Slot slot) const {
    const auto own = workload_.actors[actor.id.index()].channels[slot.index];
    return folding_.channel_representative[own.index()];
  }

  static std::optional<OpId>& place(std::vector<std::optional<OpId>>& list, std::size_t number) {
    if (list.size() <= number) list.resize(number + 1);
    return list[number];
  }

  /// The k-th put goes before the k-th take and waits for the (k - depth)-th, whoever is laid first.
  void hand_over(Running& actor, const Put& put, OpId op) {
    const auto channel = channel_of(actor, put.channel);
    const auto depth = static_cast<std::size_t>(workload_.channels[channel.index()].depth);
    auto& handed = handed_over_[channel.index()];
    const auto number = actor.puts[put.channel.index]++;
    place(handed.puts, number) = op;
    if (number < handed.takes.size() && handed.takes[number]) graph_.add_edge(op, *handed.takes[number]);
    if (number < depth) return;
    if (number - depth < handed.takes.size() && handed.takes[number - depth])
      graph_.add_edge(*handed.takes[number - depth], op);
  }

  void take_over(Running& actor, const Take& take, OpId op) {
    const auto channel = channel_of(actor, take.channel);
    const auto depth = static_cast<std::size_t>(workload_.channels[channel.index()].depth);
    auto& handed = handed_over_[channel.index()];
    const auto number = actor.takes[take.channel.index]++;
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
  std::vector<std::uint32_t> gpu_of_device_;
  std::vector<HostCopyWay> in_;         ///< by actor
  std::vector<HostCopyWay> out_;        ///< by actor
  std::vector<BackgroundWay> traffic_;  ///< beside the job's
  Meetings meetings_;
  Sides sides_;
  Folding folding_;
  OpGraph graph_;
  std::vector<Running> running_;
  std::vector<std::vector<Met>> met_;  ///< by group that stands for itself: its calls so far
  std::vector<HandOver> handed_over_;  ///< by channel, the same
};

}  // namespace

Lowered lower(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
              FoldRanks fold) {
  return Lowering{workload, scenario, communicators, fold}.run();
}

}  // namespace gradway
