// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/lower.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/base/contract.hpp"
#include "sim/platform/host_copy.hpp"

namespace gradway {
namespace {

/// What a rank has under way: the last op of each of its chains.
struct Rank {
  std::optional<OpId> cpu;
  std::optional<OpId> compute;
  std::uint32_t kernel_path = 0;
  std::uint32_t kernel_side = Op::absent;
  std::uint32_t copy_path = Op::absent;
  std::uint32_t copy_engine = 0;
  Seconds copy_latency{};
  std::vector<OpId> waits;  ///< the CPU issues nothing before these have ended
  std::vector<OpId> ends;   ///< by task of the current step
};

/// A collective's flows with their paths entered in the graph.
struct Prepared {
  Seconds latency{};
  std::vector<Op> flows;
};

class Lowering {
 public:
  Lowering(const WorkloadGraph& workload, const Scenario& scenario, const CollectiveLowering& collectives)
      : workload_{workload},
        scenario_{scenario},
        collectives_{collectives},
        ranks_(static_cast<std::size_t>(workload.ranks)) {
    prepare_sides();
    for (std::size_t r = 0; r < ranks_.size(); ++r) prepare_rank(r);
  }

  OpGraph run() {
    for (int step = 0; step < workload_.steps; ++step) {
      for (auto& rank : ranks_) rank.ends.clear();
      for (std::size_t t = 0; t < workload_.tasks.size(); ++t) add_task(workload_.tasks[t], t, step);
    }
    return std::move(graph_);
  }

 private:
  void prepare_sides() {
    const auto* entry = collectives_.side_by_side();
    if (!entry) return;
    Side together{Side::Kind::collective, entry->collective_slowdown, {}};
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].kernel_side = graph_.add_side({Side::Kind::kernel, entry->kernel_slowdown, {r}});
      together.gpus.push_back(r);
    }
    collective_side_ = graph_.add_side(std::move(together));
  }

  void prepare_rank(std::size_t r) {
    auto& rank = ranks_[r];
    rank.kernel_path = graph_.add_path({scenario_.platform.gpu_resources[r]});
    rank.copy_engine = graph_.add_queue(
        fmt::format("{} copy engine in", scenario_.platform.device(scenario_.platform.gpus[r]).name));
    if (std::ranges::none_of(workload_.tasks,
                             [](const Task& task) { return task.kind == TaskKind::copy_in; }))
      return;
    if (const auto way = host_copy_way(routes(), scenario_.platform, r)) {
      rank.copy_path = graph_.add_path(way->resources);
      rank.copy_latency = way->latency;
    }
  }

  const Routes& routes() {
    if (!routes_) routes_.emplace(scenario_.platform);
    return *routes_;
  }

  void add_task(const Task& task, std::size_t index, int step) {
    if (task.kind == TaskKind::collective) return add_collective(task, index, step);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      auto& rank = ranks_[r];
      const auto origin = Origin{static_cast<std::int32_t>(index), static_cast<std::int32_t>(r), step,
                                 task.activity, task.phase};
      issue(rank, task, origin);
      const auto op = graph_.add(main_op(rank, task, origin));
      connect(rank, task, op);
      if (task.stream == Stream::compute) chain(rank.compute, op);
      finish(rank, task, op);
    }
  }

  /// The CPU's part of a task. Costs no op where issuing is free and nothing is waited for.
  void issue(Rank& rank, const Task& task, Origin origin) {
    if (task.launch == Seconds{} && rank.waits.empty()) return;
    origin.activity = Activity::launch;
    Op op;
    op.kind = OpKind::delay;
    op.latency = task.launch;
    op.origin = origin;
    const auto id = graph_.add(op);
    for (const auto end : rank.waits) graph_.add_edge(end, id);
    rank.waits.clear();
    chain(rank.cpu, id);
  }

  Op main_op(const Rank& rank, const Task& task, const Origin& origin) const {
    Op op;
    op.origin = origin;
    if (task.kind == TaskKind::kernel && task.work > Seconds{}) {
      op.kind = OpKind::flow;
      op.amount = task.work.value();
      op.cap = 1;
      op.path = rank.kernel_path;
      op.side = rank.kernel_side;
    }
    if (task.kind == TaskKind::copy_in && rank.copy_path != Op::absent) {
      op.kind = OpKind::flow;
      op.latency = rank.copy_latency;
      op.amount = task.bytes.value();
      op.path = rank.copy_path;
      op.queue = rank.copy_engine;
      if (!task.pinned && scenario_.platform.pageable_copy_rate)
        op.cap = scenario_.platform.pageable_copy_rate->value();
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
    Op op;
    op.origin = Origin{static_cast<std::int32_t>(index), Origin::none, step, Activity::marker, task.phase};
    const auto ready = graph_.add(op);
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      auto origin = op.origin;
      origin.rank = static_cast<std::int32_t>(r);
      issue(ranks_[r], task, origin);
      connect(ranks_[r], task, ready);
    }
    chain(communicator_, ready);
    const auto& prepared = prepare(task.collective, task.bytes);
    auto end = ready;
    if (!prepared.flows.empty()) {
      std::vector<OpId> parts;
      for (auto flow : prepared.flows) {
        flow.origin = op.origin;
        flow.origin.activity = Activity::collective;
        parts.push_back(graph_.add(flow));
        graph_.add_edge(ready, parts.back());
      }
      end = parts.size() == 1 ? parts.front() : graph_.add(op);
      if (parts.size() > 1)
        for (const auto part : parts) graph_.add_edge(part, end);
    }
    communicator_ = end;
    for (auto& rank : ranks_) finish(rank, task, end);
  }

  const Prepared& prepare(CollectiveKind kind, Bytes size) {
    const auto [entry, is_new] = prepared_.try_emplace({kind, size});
    if (!is_new) return entry->second;
    const auto lowered = collectives_.lower(kind, size);
    auto& prepared = entry->second;
    prepared.latency = lowered.latency;
    for (const auto& part : lowered.flows) {
      Op op;
      op.kind = OpKind::flow;
      op.latency = lowered.latency;
      op.amount = part.amount.value();
      op.cap = part.cap;
      op.path = path_of(part.path);
      op.side = collective_side_;
      prepared.flows.push_back(op);
    }
    if (lowered.flows.empty() && lowered.latency > Seconds{}) {
      Op op;
      op.kind = OpKind::delay;
      op.latency = lowered.latency;
      prepared.flows.push_back(op);
    }
    return prepared;
  }

  /// The rings of a communicator serve all sizes: each path is entered once.
  std::uint32_t path_of(const std::vector<ResourceId>& resources) {
    const auto [entry, is_new] = paths_.try_emplace(resources, 0);
    if (is_new) entry->second = graph_.add_path(resources);
    return entry->second;
  }

  const WorkloadGraph& workload_;
  const Scenario& scenario_;
  const CollectiveLowering& collectives_;
  std::optional<Routes> routes_;
  OpGraph graph_;
  std::vector<Rank> ranks_;
  std::optional<OpId> communicator_;
  std::uint32_t collective_side_ = Op::absent;
  std::map<std::pair<CollectiveKind, Bytes>, Prepared> prepared_;
  std::map<std::vector<ResourceId>, std::uint32_t> paths_;
};

}  // namespace

OpGraph lower(const WorkloadGraph& workload, const Scenario& scenario,
              const CollectiveLowering& collectives) {
  return Lowering{workload, scenario, collectives}.run();
}

}  // namespace gradway
