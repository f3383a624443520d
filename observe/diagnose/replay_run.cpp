// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/replay_run.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/engine/engine.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

/// The ops of a rank so far.
struct RankOps {
  std::size_t rank = 0;
  Seconds gap{};                           ///< between two activities of a stream
  std::vector<OpId> before_cpu{};          ///< what the CPU's next op waits for
  Seconds cpu{};                           ///< the CPU's work since then
  std::vector<std::vector<OpId>> streams;  ///< ends of the activities that were launched on each
  std::vector<OpId> ends;                  ///< by activity, of the current repetition
  std::array<std::uint32_t, work_classes> contenders{};
};

/// The traced steps of a job, repeated, as ops. Ops of a GPU's work have the repetition as step of their
/// origin.
class ReplayGraph {
 public:
  ReplayGraph(const JobRun& run, const RunTimes& times)
      : run_{run},
        times_{times},
        repetitions_{run.steps >= 4 ? 2 : 3},
        no_resources_{graph_.add_path({})},
        transfers_(run.collectives.size() * static_cast<std::size_t>(repetitions_)) {
    std::size_t activities = 0;
    for (const auto& rank : run.ranks) activities += rank.activities.size();
    activities *= static_cast<std::size_t>(repetitions_);
    constexpr std::size_t ops = 2;  // of an activity: its launch and itself
    constexpr std::size_t edges = 4;
    graph_.reserve(ops * activities, edges * activities);
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) add_rank(rank);
  }

  const OpGraph& ops() const { return graph_; }
  int last_repetition() const { return repetitions_ - 1; }

 private:
  void add_rank(std::size_t number) {
    const auto& rank = run_.ranks[number];
    RankOps ops{.rank = number,
                .gap = from_nanoseconds(rank.gap * profiled_pause_share),
                .streams = std::vector<std::vector<OpId>>(static_cast<std::size_t>(rank.streams)),
                .ends = std::vector<OpId>(rank.activities.size(), OpId{0})};
    add_contenders(ops);
    for (int repetition = 0; repetition < repetitions_; ++repetition) {
      for (std::size_t step = 0; step < rank.steps.size(); ++step) {
        const auto& items = rank.steps[step].items;
        for (std::size_t i = 0; i < items.size(); ++i)
          add_item(ops, items[i], times_.cpu[number][step][i], repetition);
      }
    }
  }

  /// Collectives slow kernels down by class, not the other way round: their transfers are as measured.
  void add_contenders(RankOps& ops) {
    const std::vector gpus{static_cast<std::uint32_t>(ops.rank)};
    const bool communicates = !run_.ranks[ops.rank].collectives.empty();
    for (std::size_t work = 0; work < work_classes; ++work) {
      const bool is_collective = work == static_cast<std::size_t>(WorkClass::collective);
      const auto kind = is_collective ? Contender::Kind::collective : Contender::Kind::kernel;
      const auto slow_down = is_collective ? 1 : times_.slow_down[work];
      ops.contenders[work] = communicates && (is_collective || slow_down > 1)
                                 ? graph_.add_contender({kind, slow_down, gpus})
                                 : Op::absent;
    }
  }

  /// @param time of the item; waits that are left out are negative
  void add_item(RankOps& ops, const CpuItem& item, double time, int repetition) {
    if (item.kind == CpuItem::Kind::launch) {
      launch(ops, item, repetition);
    } else if (item.kind != CpuItem::Kind::wait) {
      if (item.awaits_gpu && time > 0) wait(ops, -1);
      ops.cpu += from_nanoseconds(time);
    } else if (time >= 0) {
      wait(ops, item.stream);
    }
  }

  OpId add(const Op& op, std::span<const OpId> after) {
    const auto id = graph_.add(op);
    for (const auto before : after) graph_.add_edge(before, id);
    return id;
  }

  static Op delay(Seconds time) {
    Op op;
    op.kind = OpKind::delay;
    op.latency = time;
    return op;
  }

  /// The CPU does its work so far before what comes next.
  void work(RankOps& ops) {
    if (ops.cpu <= Seconds{} && ops.before_cpu.size() == 1) return;
    ops.before_cpu = {add(delay(std::exchange(ops.cpu, {})), ops.before_cpu)};
  }

  /// @param stream -1: all
  void wait(RankOps& ops, int stream) {
    work(ops);
    std::vector<OpId> awaited;
    for (std::size_t s = 0; s < ops.streams.size(); ++s) {
      if ((stream < 0 || stream == static_cast<int>(s)) && !ops.streams[s].empty())
        awaited.push_back(ops.streams[s].back());
    }
    if (!awaited.empty()) ops.before_cpu.push_back(add(delay(seen_by_host), awaited));
  }

  void launch(RankOps& ops, const CpuItem& item, int repetition) {
    const auto& rank = run_.ranks[ops.rank];
    const auto number = static_cast<std::size_t>(item.activity);
    const auto& activity = rank.activities[number];
    work(ops);
    auto& stream = ops.streams[static_cast<std::size_t>(activity.stream)];
    std::vector<OpId> after = ops.before_cpu;
    if (!stream.empty()) after.push_back(stream.back());
    const auto dependences = std::span{rank.dependences}.subspan(
        static_cast<std::size_t>(item.first_dependence), static_cast<std::size_t>(item.dependences));
    for (const auto dependence : dependences) after.push_back(ops.ends[static_cast<std::size_t>(dependence)]);
    ops.ends[number] = activity.work == WorkClass::collective ? add_collective(ops, number, after, repetition)
                                                              : add_kernel(ops, number, after, repetition);
    stream.push_back(ops.ends[number]);
    constexpr auto depth = static_cast<std::size_t>(launch_queue_depth);
    if (stream.size() >= depth) ops.before_cpu.push_back(stream[stream.size() - depth]);
  }

  static Origin origin(const RankOps& ops, Activity activity, int repetition) {
    return {.actor = static_cast<std::int32_t>(ops.rank), .step = repetition, .activity = activity};
  }

  /// A flow of a second a second of its own, which only contention slows.
  Op flow(Seconds time, std::uint32_t contender) const {
    Op op;
    op.kind = OpKind::flow;
    op.amount = time.value();
    op.cap = 1;
    op.path = no_resources_;
    op.contender = contender;
    return op;
  }

  OpId add_kernel(const RankOps& ops, std::size_t number, std::span<const OpId> after, int repetition) {
    const auto time = from_nanoseconds(times_.gpu[ops.rank][number]);
    const auto work = static_cast<std::size_t>(run_.ranks[ops.rank].activities[number].work);
    Op op;
    if (time > Seconds{}) {
      const auto contender = ops.contenders[work];
      op = contender == Op::absent ? delay(time) : flow(time, contender);
      op.latency += ops.gap;
    }
    op.origin = origin(ops, Activity::kernel, repetition);
    return add(op, after);
  }

  /// A member that waits for the others occupies its GPU from when it comes until the transfer has ended.
  OpId add_collective(const RankOps& ops, std::size_t number, std::span<const OpId> after, int repetition) {
    const auto& activity = run_.ranks[ops.rank].activities[number];
    const auto index =
        static_cast<std::size_t>(run_.collective_of[ops.rank][static_cast<std::size_t>(activity.collective)]);
    const auto& members = run_.collectives[index].members;
    const auto member =
        std::ranges::find(members, static_cast<std::int32_t>(ops.rank), &JobCollective::Member::rank);
    const auto arrival = add(delay(ops.gap), after);
    const auto transfer = transfer_of(index, repetition);
    graph_.add_edge(arrival, transfer);
    const auto contender = ops.contenders[static_cast<std::size_t>(WorkClass::collective)];
    Op op;
    if (member->waits) {
      op.kind = OpKind::hold;
      op.contender = contender;
      op.until = static_cast<std::uint32_t>(transfer.index());
    } else {
      op = flow(from_nanoseconds(times_.gpu[ops.rank][number]), contender);
    }
    op.origin = origin(ops, Activity::collective, repetition);
    const auto occupied = add(op, std::span{&arrival, 1});
    return member->waits ? transfer : occupied;
  }

  /// The op of a collective's transfer, after all its members have come.
  OpId transfer_of(std::size_t collective, int repetition) {
    auto& transfer = transfers_[static_cast<std::size_t>(repetition) * run_.collectives.size() + collective];
    if (!transfer) transfer = graph_.add(delay(from_nanoseconds(times_.transfer[collective])));
    return *transfer;
  }

  const JobRun& run_;
  const RunTimes& times_;
  int repetitions_;
  OpGraph graph_;
  std::uint32_t no_resources_;
  std::vector<std::optional<OpId>> transfers_;  ///< by repetition and collective
};

Timeline timeline_of(const ReplayGraph& graph, const JobRun& run) {
  try {
    return choose_engine("auto").engine->run({}, graph.ops());
  } catch (const SimulationError&) {
    refuse_at(Where{run.ranks.front().file, 0, 0, 0, {}},
              "the ranks of these traces wait for each other: their collectives are in different orders",
              "give the traces of the same steps of one job");
  }
}

/// The last repetition lasts from the end of the GPUs' work of the one before to the end of its own.
Interval last_repetition(const ReplayGraph& graph, const Timeline& timeline) {
  Interval last;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const auto& origin = graph.ops().op(OpId{i}).origin;
    if (origin.activity == Activity::marker) continue;
    if (origin.step == graph.last_repetition() - 1) last.start = std::max(last.start, timeline.end[i]);
    if (origin.step == graph.last_repetition()) last.end = std::max(last.end, timeline.end[i]);
  }
  return last;
}

Seconds step_of(const Interval& repetition, const JobRun& run) {
  return (repetition.end - repetition.start) / static_cast<double>(run.steps);
}

}  // namespace

Seconds replayed_step(const JobRun& run, const RunTimes& times) {
  const ReplayGraph graph{run, times};
  return step_of(last_repetition(graph, timeline_of(graph, run)), run);
}

ReplayedRun replay_run(const JobRun& run, const RunTimes& times) {
  const ReplayGraph graph{run, times};
  const auto timeline = timeline_of(graph, run);
  const auto last = last_repetition(graph, timeline);
  ReplayedRun replayed{.step = step_of(last, run)};
  replayed.work.resize(run.ranks.size());
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const auto& op = graph.ops().op(OpId{i});
    const auto& origin = op.origin;
    const bool is_work = origin.activity == Activity::kernel || origin.activity == Activity::collective;
    if (!is_work || origin.step != graph.last_repetition() || op.kind == OpKind::join) continue;
    // A kernel's op begins with the gap before it.
    const auto gap = origin.activity == Activity::kernel
                         ? run.ranks[static_cast<std::size_t>(origin.actor)].gap * profiled_pause_share
                         : 0;
    replayed.work[static_cast<std::size_t>(origin.actor)].push_back(
        {std::max(Seconds{}, timeline.start[i] + from_nanoseconds(gap) - last.start),
         timeline.end[i] - last.start,
         origin.activity == Activity::kernel ? replayed_kernels : replayed_collectives});
  }
  const auto steps = static_cast<double>(run.steps);
  for (const auto& work : replayed.work) {
    const auto times_of_kinds = split_time(work, replayed_work_kinds, {}, last.end - last.start);
    replayed.busy.push_back(times_of_kinds[replayed_kernels] / steps);
    replayed.exposed.push_back(times_of_kinds[replayed_collectives] / steps);
    replayed.idle.push_back(times_of_kinds[replayed_work_kinds] / steps);
  }
  return replayed;
}

}  // namespace gradway
