// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/job_run.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "observe/diagnose/overlap_with_collectives.hpp"
#include "sim/base/problem.hpp"
#include "sim/base/quantiles.hpp"

namespace gradway {
namespace {

[[noreturn]] void refuse_trace(const RankRun& rank, const std::string& problem, const std::string& hint) {
  refuse_at({rank.file, 0, 0, 0, {}}, problem, hint);
}

/// Numbers ranks that their files do not name as they are given. Which of them share a group is unknown,
/// too: only two ranks, or a rank with one stream for collectives, leave no choice.
void number(std::vector<RankRun>& ranks) {
  if (std::ranges::any_of(ranks, &RankRun::is_rank_known)) return;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].rank = static_cast<int>(i);
    ranks[i].ranks = static_cast<int>(ranks.size());
    std::set<std::int32_t> streams;
    for (const auto& collective : ranks[i].collectives)
      streams.insert(ranks[i].activities[static_cast<std::size_t>(collective.activity)].stream);
    if (streams.size() > 1 && ranks.size() > 2)
      refuse_trace(ranks[i],
                   fmt::format("collectives run on {} streams, and the export does not say which ranks take "
                               "part in them",
                               streams.size()),
                   "export with --include-blobs=true for NCCL's NVTX ranges, or record with PyTorch's "
                   "profiler");
  }
}

/// The reductions of a rank, by group and step: kinds and bytes. All ranks of a group take part in them.
using Reductions = std::map<std::string, std::vector<std::vector<std::pair<CollectiveKind, double>>>>;

Reductions reductions_of(const RankRun& rank) {
  Reductions reductions;
  for (const auto& collective : rank.collectives) {
    const bool reduces =
        collective.kind == CollectiveKind::all_reduce || collective.kind == CollectiveKind::reduce_scatter;
    // Where groups are unknown, only data parallelism lets all ranks reduce the same.
    if (!reduces && collective.kind != CollectiveKind::broadcast && collective.group.empty()) return {};
    if (!reduces) continue;
    auto& steps = reductions[collective.group];
    steps.resize(rank.steps.size());
    const auto step = rank.activities[static_cast<std::size_t>(collective.activity)].step;
    steps[static_cast<std::size_t>(step)].emplace_back(collective.kind, collective.bytes);
  }
  return reductions;
}

/// Compares the reductions of ranks of one group: no step of different jobs has the same ones.
void check_reductions(const std::vector<RankRun>& ranks) {
  std::map<std::string, std::pair<const RankRun*, Reductions::mapped_type>> known;
  for (const auto& rank : ranks) {
    for (auto& [group, steps] : reductions_of(rank)) {
      const auto [entry, is_new] = known.try_emplace(group, &rank, steps);
      if (is_new) continue;
      const auto& [first, expected] = entry->second;
      bool is_same = false;
      for (std::size_t step = 0; step < steps.size(); ++step) is_same |= steps[step] == expected[step];
      if (is_same) continue;
      refuse_trace(
          rank,
          fmt::format("rank {} reduces other buffers than rank {}, '{}', in the same group: {} and {} "
                      "reductions in the first step",
                      rank.rank, first->rank, first->file, steps[0].size(), expected[0].size()),
          "give the traces of one job, of the same steps");
    }
  }
}

void check(const std::vector<RankRun>& ranks) {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const auto& first = ranks.front();
    const auto& rank = ranks[i];
    if (rank.ranks != first.ranks)
      refuse_trace(rank,
                   fmt::format("this trace is of a job of {} rank{}, but '{}' of {}", rank.ranks,
                               rank.ranks == 1 ? "" : "s", first.file, first.ranks),
                   "give the traces of one job");
    check_new_rank(std::span{ranks}.first(i), rank);
    if (rank.steps.size() != first.steps.size())
      refuse_trace(
          rank,
          fmt::format("rank {} has {} complete step{}, but rank {} has {}", rank.rank, rank.steps.size(),
                      rank.steps.size() == 1 ? "" : "s", first.rank, first.steps.size()),
          "record the same steps on all ranks");
  }
  check_reductions(ranks);
}

/// Matches the k-th collective of a group in a step on all ranks.
void match_collectives(JobRun& run) {
  std::map<std::tuple<std::string, std::int32_t, int>, std::size_t> known;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    const auto& rank = run.ranks[r];
    std::map<std::pair<std::string, std::int32_t>, int> calls;
    auto& numbers = run.collective_of.emplace_back();
    for (const auto& recorded : rank.collectives) {
      const auto step = rank.activities[static_cast<std::size_t>(recorded.activity)].step;
      const auto call = calls[{recorded.group, step}]++;
      const auto [entry, is_new] =
          known.emplace(std::tuple{recorded.group, step, call}, run.collectives.size());
      if (is_new) {
        auto& added = run.collectives.emplace_back();
        added.kind = recorded.kind;
        added.bytes = recorded.bytes;
        added.ranks = recorded.ranks > 0 ? recorded.ranks : run.world;
        added.channels = recorded.channels;
        added.step = step;
      }
      auto& collective = run.collectives[entry->second];
      collective.members.push_back({static_cast<std::int32_t>(r), recorded.activity});
      collective.is_complete = static_cast<int>(collective.members.size()) == collective.ranks;
      numbers.push_back(static_cast<std::int32_t>(entry->second));
    }
  }
}

/// Moves the clock of each trace to that of the first: a collective ends at the same time on all of its
/// ranks.
void align_clocks(JobRun& run) {
  for (std::size_t r = 1; r < run.ranks.size(); ++r) {
    std::vector<std::int64_t> distances;
    for (const auto& collective : run.collectives) {
      const RunActivity* reference = nullptr;
      const RunActivity* aligned = nullptr;
      for (const auto& member : collective.members) {
        if (member.rank < static_cast<int>(r) && reference == nullptr) reference = &run.activity(member);
        if (member.rank == static_cast<int>(r)) aligned = &run.activity(member);
      }
      if (reference != nullptr && aligned != nullptr) distances.push_back(reference->end() - aligned->end());
    }
    const auto distance = lower_median(distances);
    auto& rank = run.ranks[r];
    for (auto& activity : rank.activities) activity.start += distance;
    for (auto& step : rank.steps) {
      step.begin += distance;
      step.end += distance;
      for (auto& item : step.items) item.start += distance;
    }
  }
}

void measure_collectives(JobRun& run) {
  for (auto& collective : run.collectives) {
    collective.first = std::numeric_limits<std::int64_t>::max();
    collective.last = std::numeric_limits<std::int64_t>::min();
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    for (const auto& member : collective.members) {
      const auto& activity = run.activity(member);
      if (activity.start > collective.last) collective.late = member.rank;
      collective.first = std::min(collective.first, activity.start);
      collective.last = std::max(collective.last, activity.start);
      end = std::max(end, activity.end());
    }
    collective.transfer = static_cast<double>(end - collective.last);
    for (auto& member : collective.members) member.waits = run.activity(member).end() >= collective.last;
  }
}

void add_cpu_work(JobRun& run) {
  for (const auto& rank : run.ranks) {
    auto& steps = run.cpu_work.emplace_back();
    for (const auto& step : rank.steps) {
      double sum = 0;
      for (const auto& item : step.items) sum += item.kind == CpuItem::Kind::work ? item.time : 0;
      steps.push_back(sum);
    }
  }
}

}  // namespace

void check_new_rank(std::span<const RankRun> ranks, const RankRun& added) {
  const auto same = std::ranges::find(ranks, added.rank, &RankRun::rank);
  if (added.is_rank_known && same != ranks.end())
    refuse_trace(added, fmt::format("rank {} has two traces: '{}' is one, too", added.rank, same->file),
                 "give one trace per rank");
}

std::vector<std::size_t> gradient_reductions(const JobRun& run, std::size_t step) {
  std::vector<std::size_t> reductions;
  for (std::size_t i = 0; i < run.collectives.size(); ++i) {
    const auto& collective = run.collectives[i];
    const bool reduces =
        collective.kind == CollectiveKind::all_reduce || collective.kind == CollectiveKind::reduce_scatter;
    if (reduces && collective.step == static_cast<int>(step) &&
        run.activity(collective.members.front()).phase == ProfiledPhase::backward)
      reductions.push_back(i);
  }
  return reductions;
}

JobRun job_run(std::vector<RankRun> ranks, KernelNames names) {
  number(ranks);
  std::ranges::stable_sort(ranks, {}, &RankRun::rank);
  check(ranks);
  JobRun run;
  run.names = std::move(names);
  run.ranks = std::move(ranks);
  run.world = run.ranks.front().ranks;
  run.steps = run.ranks.front().steps.size();
  match_collectives(run);
  align_clocks(run);
  measure_collectives(run);
  separate_contention(run);
  add_cpu_work(run);
  return run;
}

}  // namespace gradway
