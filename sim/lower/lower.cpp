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
#include "sim/lower/collective_ops.hpp"
#include "sim/lower/sides.hpp"
#include "sim/platform/background.hpp"
#include "sim/platform/host_copy.hpp"

namespace gradway {
namespace {

/// A rank that is simulated, and what it has under way: the last op of each of its chains.
struct Rank {
  std::uint32_t number = 0;
  std::optional<OpId> cpu;
  std::optional<OpId> compute;
  std::uint32_t kernel_path = 0;
  std::uint32_t copy_path = Op::absent;
  std::uint32_t copy_engine = 0;
  Seconds copy_latency{};
  std::vector<OpId> waits;                    ///< the CPU issues nothing before these have ended
  std::vector<OpId> ends;                     ///< by task of the current step
  std::deque<std::pair<OpId, int>> in_queue;  ///< what the compute stream was given last, and its launches
  int queued = 0;                             ///< launches in it
  std::optional<OpId> prefetch;               ///< the copy beside the current step: the next one uses it
  std::optional<OpId> wanted;  ///< the copy beside the step before, until the step waits for it
};

/// The ways of the input copies by rank; empty where nothing is copied or there is no host memory.
std::vector<HostCopyWay> copy_ways(const WorkloadGraph& workload, const Platform& platform) {
  std::vector<HostCopyWay> ways(static_cast<std::size_t>(workload.ranks));
  const auto copies = [](const Task& task) { return task.kind == TaskKind::copy_in; };
  if (std::ranges::none_of(workload.tasks, copies)) return ways;
  const Routes routes{platform};
  for (std::size_t r = 0; r < ways.size(); ++r)
    ways[r] = host_copy_way(routes, platform, r).value_or(HostCopyWay{});
  return ways;
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
  Lowering(const WorkloadGraph& workload, const Scenario& scenario, const CollectiveLowering& collectives,
           FoldRanks fold)
      : workload_{workload},
        scenario_{scenario},
        ways_{copy_ways(workload, scenario.platform)},
        traffic_{background_ways(scenario)},
        calls_{workload, collectives},
        sides_{scenario, collectives} {
    find_symmetry(fold);
    prepare_ranks();
    std::vector<std::uint32_t> numbers;
    for (const auto& rank : ranks_) numbers.push_back(rank.number);
    calls_.enter(graph_, folding_, sides_.of_collectives(graph_, numbers));
    add_traffic();
  }

  Lowered run() {
    const auto most =
        workload_.tasks.size() * (ranks_.size() + 3) * static_cast<std::size_t>(workload_.steps);
    graph_.reserve(most, 3 * most);
    for (int step = 0; step < workload_.steps; ++step) {
      for (auto& rank : ranks_) {
        rank.ends.clear();
        rank.wanted = std::exchange(rank.prefetch, std::nullopt);
      }
      for (std::size_t t = 0; t < workload_.tasks.size(); ++t) add_task(workload_.tasks[t], t, step);
    }
    return {std::move(graph_), std::move(folding_), 0, calls_.limit(), calls_.rests_on()};
  }

 private:
  void find_symmetry(FoldRanks fold) {
    if (fold == FoldRanks::no) {
      folding_ = no_folding(ways_.size(), scenario_.platform);
      return;
    }
    std::vector<std::vector<ResourceId>> paths;
    for (std::size_t r = 0; r < ways_.size(); ++r) {
      paths.push_back(ways_[r].resources);
      paths.back().push_back(scenario_.platform.gpu_resources[r]);
    }
    auto shared = calls_.paths();
    for (const auto& way : traffic_) shared.push_back(&way.resources);
    folding_ = find_folding(paths, shared, scenario_.platform);
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

  void prepare_ranks() {
    std::map<std::size_t, std::vector<ResourceId>> copies;  // by representative
    for (std::size_t r = 0; r < ways_.size(); ++r) {
      const auto folded = folding_.fold(ways_[r].resources);
      auto& path = copies[folding_.rank_representative[r]];
      path.insert(path.end(), folded.begin(), folded.end());
    }
    for (auto& [r, path] : copies) {
      Rank rank;
      rank.number = static_cast<std::uint32_t>(r);
      rank.kernel_path = graph_.add_path({scenario_.platform.gpu_resources[r]});
      rank.copy_engine = graph_.add_queue(
          fmt::format("{} copy engine in", scenario_.platform.device(scenario_.platform.gpus[r]).name));
      if (!path.empty()) rank.copy_path = graph_.add_path(std::move(path));
      rank.copy_latency = ways_[r].latency;
      ranks_.push_back(std::move(rank));
    }
  }

  void add_task(const Task& task, std::size_t index, int step) {
    if (task.kind == TaskKind::collective) return add_collective(task, index, step);
    for (auto& rank : ranks_) {
      const auto origin = Origin{static_cast<std::int32_t>(index), static_cast<std::int32_t>(rank.number),
                                 step, task.activity, task.phase};
      issue(rank, task, origin);
      const auto op = graph_.add(main_op(rank, task, origin));
      connect(rank, task, op);
      if (task.kind == TaskKind::copy_in && task.stream == Stream::own) rank.prefetch = op;
      if (task.stream == Stream::compute) {
        if (rank.wanted) graph_.add_edge(*std::exchange(rank.wanted, std::nullopt), op);
        chain(rank.compute, op);
        rank.in_queue.emplace_back(op, task.launches);
        rank.queued += task.launches;
      }
      finish(rank, task, op);
    }
  }

  /// The CPU's part of a task. Costs no op where issuing is free and nothing is waited for.
  void issue(Rank& rank, const Task& task, Origin origin) {
    if (task.launch == Seconds{} && rank.waits.empty()) return;
    origin.activity = Activity::launch;
    Op op;
    op.kind = OpKind::delay;
    op.latency = task.launch / scenario_.platform.speeds[Part::cpu];
    op.origin = origin;
    const auto id = graph_.add(op);
    for (const auto end : rank.waits) graph_.add_edge(end, id);
    rank.waits.clear();
    for (; rank.queued + task.launches > launch_queue_depth && !rank.in_queue.empty();
         rank.in_queue.pop_front()) {
      rank.queued -= rank.in_queue.front().second;
      graph_.add_edge(rank.in_queue.front().first, id);
    }
    chain(rank.cpu, id);
  }

  Op main_op(const Rank& rank, const Task& task, const Origin& origin) {
    Op op;
    op.origin = origin;
    if (task.kind == TaskKind::kernel && task.work > Seconds{}) {
      op.kind = OpKind::flow;
      op.latency = task.pause;
      op.amount = task.work.value() / scenario_.platform.speeds[Part::gpu];
      op.cap = 1;
      op.path = rank.kernel_path;
      op.side = sides_.of_kernel(graph_, rank.number, task.footprint);
    }
    if (task.kind == TaskKind::copy_in && rank.copy_path != Op::absent) {
      op.kind = OpKind::flow;
      op.latency = rank.copy_latency;
      op.amount = task.bytes.value();
      op.path = rank.copy_path;
      op.queue = rank.copy_engine;
      op.weight = copy_engine_weight;
      if (const auto pageable = scenario_.platform.pageable_copy_rate; !task.pinned && pageable)
        op.cap = pageable->value() * scenario_.platform.speeds[Part::host_memory];
    }
    if (op.kind == OpKind::join) op.origin.activity = Activity::marker;
    return op;
  }

  void connect(const Rank& rank, const Task& task, OpId op) {
    if (rank.cpu) graph_.add_edge(*rank.cpu, op);
    for (const auto before : task.after) graph_.add_edge(rank.ends[before.index()], op);
  }

  /// Puts an op behind the last one of a chain.
  void chain(std::optional<OpId>& last, OpId op) {
    if (last) graph_.add_edge(*last, op);
    last = op;
  }

  void finish(Rank& rank, const Task& task, OpId end) {
    rank.ends.push_back(end);
    if (task.host_waits) rank.waits.push_back(end);
  }

  void add_collective(const Task& task, std::size_t index, int step) {
    Op marker;
    marker.origin =
        Origin{static_cast<std::int32_t>(index), Origin::none, step, Activity::marker, task.phase};
    const auto ready = graph_.add(marker);
    for (auto& rank : ranks_) {
      auto origin = marker.origin;
      origin.rank = static_cast<std::int32_t>(rank.number);
      issue(rank, task, origin);
      connect(rank, task, ready);
    }
    chain(communicator_, ready);
    std::vector<OpId> parts;
    for (auto op : calls_.of(task)) {
      op.origin = marker.origin;
      op.origin.activity = Activity::collective;
      parts.push_back(graph_.add(op));
      graph_.add_edge(ready, parts.back());
    }
    communicator_ = parts.empty() ? ready : joined(parts, marker);
    for (auto& rank : ranks_) finish(rank, task, *communicator_);
  }

  OpId joined(const std::vector<OpId>& parts, const Op& marker) {
    if (parts.size() == 1) return parts.front();
    const auto end = graph_.add(marker);
    for (const auto part : parts) graph_.add_edge(part, end);
    return end;
  }

  const WorkloadGraph& workload_;
  const Scenario& scenario_;
  std::vector<HostCopyWay> ways_;
  std::vector<BackgroundWay> traffic_;  ///< beside the job's
  CollectiveOps calls_;
  Sides sides_;
  Folding folding_;
  OpGraph graph_;
  std::vector<Rank> ranks_;
  std::optional<OpId> communicator_;
};

}  // namespace

Lowered lower(const WorkloadGraph& workload, const Scenario& scenario, const CollectiveLowering& collectives,
              FoldRanks fold) {
  auto lowered = Lowering{workload, scenario, collectives, fold}.run();
  const bool nccl = workload.ranks > 1 && scenario.platform.collectives == CollectiveRules::nccl &&
                    scenario.job.strategy.kind != StrategyKind::none;
  if (nccl) lowered.channels = collectives.communicator_channels();
  return lowered;
}

}  // namespace gradway
