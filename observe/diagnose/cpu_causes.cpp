// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "observe/diagnose/cause.hpp"

namespace gradway {
namespace {

/// An item of a rank's program.
struct Place {
  std::size_t rank;
  std::size_t step;
  std::size_t item;
};

using Places = std::vector<Place>;

const CpuItem& item_at(const JobRun& run, const Place& place) {
  return run.ranks[place.rank].steps[place.step].items[place.item];
}

/// Sums up the items of a cause; `value` replaces their times without it.
Candidate candidate_of(const JobRun& run, CauseKind kind, const Places& places, double value) {
  RunCause cause{.kind = kind};
  std::set<int> ranks;
  std::map<std::size_t, std::set<std::size_t>> steps;
  double sum = 0;
  for (const auto& place : places) {
    ranks.insert(run.ranks[place.rank].rank);
    steps[place.rank].insert(place.step);
    sum += item_at(run, place).time;
  }
  if (ranks.size() < run.ranks.size()) cause.ranks.assign(ranks.begin(), ranks.end());
  const auto share =
      static_cast<double>(run.steps) * static_cast<double>(std::max<std::size_t>(1, ranks.size()));
  cause.events = static_cast<double>(places.size()) / share;
  cause.measured = Seconds{sum / share / 1e9};
  for (const auto& [rank, in] : steps) cause.is_sporadic = cause.is_sporadic || 2 * in.size() <= run.steps;
  cause.is_sporadic = cause.is_sporadic && run.steps > 1;
  return {cause, [places, value](RunTimes& times) {
            for (const auto& place : places) times.cpu[place.rank][place.step][place.item] = value;
          }};
}

/// The operation that the item's neighbour launches; forwards or backwards, at most to the end of the step.
std::string neighbour(const JobRun& run, const Place& place, bool forwards) {
  const auto& rank = run.ranks[place.rank];
  auto step = place.step;
  auto position = static_cast<std::ptrdiff_t>(place.item);
  for (;;) {
    position += forwards ? 1 : -1;
    if (position < 0) {
      if (step-- == 0) return "";
      position = static_cast<std::ptrdiff_t>(rank.steps[step].items.size());
      continue;
    }
    if (position >= static_cast<std::ptrdiff_t>(rank.steps[step].items.size())) {
      if (++step == rank.steps.size()) return "";
      position = -1;
      continue;
    }
    const auto& item = rank.steps[step].items[static_cast<std::size_t>(position)];
    if (item.kind != CpuItem::Kind::launch) continue;
    const auto& activity = rank.activities[static_cast<std::size_t>(item.activity)];
    return run.names.operations.text(activity.operation);
  }
}

void set_neighbours(const JobRun& run, const Places& places, RunCause& cause) {
  const auto longest =
      std::ranges::max_element(places, {}, [&](const Place& place) { return item_at(run, place).time; });
  cause.example = neighbour(run, *longest, false);
  cause.next = neighbour(run, *longest, true);
}

/// Bytes that a step of a rank copies to the host.
double copied_out_bytes(const JobRun& run, std::size_t rank, std::size_t step) {
  double sum = 0;
  for (const auto& activity : run.ranks[rank].activities) {
    if (activity.work == WorkClass::copy_out && activity.step == static_cast<int>(step))
      sum += static_cast<double>(activity.bytes);
  }
  return sum;
}

/// Whether the CPU does this for a checkpoint: it copies, writes, or both. Writing may go on when the next
/// step has begun.
bool is_checkpoint(const JobRun& run, const Place& place) {
  const bool is_pause = item_at(run, place).kind == CpuItem::Kind::pause;
  return copies_checkpoint(run, place.rank, place.step) ||
         (is_pause && place.step > 0 && copies_checkpoint(run, place.rank, place.step - 1));
}

void find_pauses(const JobRun& run, std::map<CpuItem::Kind, Places>& items,
                 std::vector<Candidate>& candidates) {
  Places batches;
  Places pauses;
  for (const auto& place : items[CpuItem::Kind::pause]) {
    const auto& item = item_at(run, place);
    if (!item.takes_batch && is_checkpoint(run, place)) continue;
    (item.takes_batch || item.is_before_batch ? batches : pauses).push_back(place);
  }
  const auto add = [&](CauseKind kind, const Places& places) {
    if (places.empty()) return;
    auto candidate = candidate_of(run, kind, places, 0);
    set_neighbours(run, places, candidate.cause);
    const bool is_late = kind == CauseKind::late_batches;
    const bool is_sure = is_late && item_at(run, places.front()).takes_batch;
    // Where PyTorch's operations are unknown, one of them may have worked in the pause.
    const bool is_doubtful = !is_late && !run.ranks[places.front().rank].has_operations;
    candidate.cause.confidence = is_sure       ? Confidence::high
                                 : is_doubtful ? Confidence::low
                                               : Confidence::medium;
    candidates.push_back(std::move(candidate));
  };
  add(CauseKind::late_batches, batches);
  add(CauseKind::pauses, pauses);
}

/// What the CPU does before each copy of a checkpoint: it pickles and writes the one before.
void add_work_of_copies(const JobRun& run, Places& places) {
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t s = 0; s < run.ranks[r].steps.size(); ++s) {
      const auto& items = run.ranks[r].steps[s].items;
      if (!copies_checkpoint(run, r, s)) continue;
      std::size_t since = 0;
      bool follows_copy = false;
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].kind != CpuItem::Kind::launch) continue;
        const auto& launched = run.ranks[r].activities[static_cast<std::size_t>(items[i].activity)];
        const bool is_copy_out = launched.work == WorkClass::copy_out;
        for (; follows_copy && is_copy_out && since < i; ++since) {
          if (items[since].kind == CpuItem::Kind::work || items[since].kind == CpuItem::Kind::operation)
            places.push_back({r, s, since});
        }
        follows_copy = is_copy_out;
        since = i + 1;
      }
    }
  }
}

/// Copies to the host, the waits for them and the time in which files are written.
void find_checkpoints(const JobRun& run, std::map<CpuItem::Kind, Places>& items,
                      std::vector<Candidate>& candidates) {
  Places pauses;
  Places waits;
  for (const auto& place : items[CpuItem::Kind::pause]) {
    if (!item_at(run, place).takes_batch && is_checkpoint(run, place)) pauses.push_back(place);
  }
  add_work_of_copies(run, pauses);
  for (const auto& place : items[CpuItem::Kind::wait]) {
    if (is_checkpoint(run, place)) waits.push_back(place);
  }
  if (waits.empty()) return;
  auto candidate = candidate_of(run, CauseKind::checkpoint, pauses.empty() ? waits : pauses, 0);
  std::vector<std::pair<std::size_t, std::size_t>> copies;
  double bytes = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < run.ranks[r].activities.size(); ++i) {
      const auto& activity = run.ranks[r].activities[i];
      if (activity.work != WorkClass::copy_out ||
          !copies_checkpoint(run, r, static_cast<std::size_t>(activity.step)))
        continue;
      copies.emplace_back(r, i);
      bytes += static_cast<double>(activity.bytes);
    }
  }
  candidate.cause.bytes = bytes;
  candidate.cause.confidence = Confidence::high;
  candidate.cause.is_sporadic = true;
  candidate.remove = [pauses, waits, copies](RunTimes& times) {
    for (const auto& place : pauses) times.cpu[place.rank][place.step][place.item] = 0;
    for (const auto& place : waits) times.cpu[place.rank][place.step][place.item] = -1;
    for (const auto& [rank, activity] : copies) times.gpu[rank][activity] = 0;
  };
  candidates.push_back(std::move(candidate));
}

/// Forward passes of a step on the first rank: micro-batches.
double micro_batches(const JobRun& run) {
  double passes = 0;
  auto before = ProfiledPhase::optimizer;
  for (const auto& activity : run.ranks.front().activities) {
    if (activity.work == WorkClass::collective || is_copy(activity.work)) continue;
    passes += activity.phase == ProfiledPhase::forward && before != ProfiledPhase::forward ? 1 : 0;
    before = activity.phase;
  }
  return std::max(1.0, passes / static_cast<double>(run.steps));
}

/// Waits for values, and for all work; not those inside of copies from pageable memory.
void find_reads(const JobRun& run, const Places& waits, std::vector<Candidate>& candidates) {
  Places reads;
  for (const auto& place : waits) {
    const auto& item = item_at(run, place);
    if (item.is_of_launch || is_checkpoint(run, place)) continue;
    if (item.activity < 0 || item.reads_value) reads.push_back(place);
  }
  if (reads.empty()) return;
  auto candidate = candidate_of(run, CauseKind::host_reads, reads, -1);
  // Usual are the loss, the norm of the gradients, and the mask that models of transformers look at. A read
  // may wait for ranks whose traces are not given.
  // What operations of the model read for themselves, the program cannot leave out.
  constexpr double usual_reads = 3;
  const bool may_wait_for_ranks = !run.is_whole() && !run.collectives.empty();
  const auto own =
      std::ranges::count_if(reads, [&](const Place& place) { return !item_at(run, place).is_of_model; });
  const bool is_usual = candidate.cause.events * static_cast<double>(own) <=
                        usual_reads * micro_batches(run) * static_cast<double>(reads.size());
  candidate.cause.confidence = is_usual || may_wait_for_ranks ? Confidence::low : Confidence::high;
  for (const auto& place : reads) {
    const auto& item = item_at(run, place);
    if (!item.reads_value) continue;
    const auto& copy = run.ranks[place.rank].activities[static_cast<std::size_t>(item.activity)];
    candidate.cause.example = run.names.operations.text(copy.operation);
    candidate.cause.stream = copy.stream;
  }
  // Reductions whose results are only read go with the reads.
  std::vector<std::pair<std::size_t, std::size_t>> reductions;
  double time = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t i = 0; i < run.ranks[r].activities.size(); ++i) {
      if (!run.ranks[r].activities[i].computes_read) continue;
      reductions.emplace_back(r, i);
      time += run.alone[r][i];
    }
  }
  candidate.cause.measured =
      Seconds{time / static_cast<double>(run.steps) / static_cast<double>(run.ranks.size()) / 1e9};
  candidate.remove = [waits_only = candidate.remove, reductions](RunTimes& times) {
    waits_only(times);
    for (const auto& [rank, activity] : reductions) times.gpu[rank][activity] = 0;
  };
  candidates.push_back(std::move(candidate));
}

/// Whether the CPU has just called a collective: it may block until ranks whose traces are absent have come.
bool may_wait_for_ranks(const JobRun& run, const Place& place) {
  const auto& rank = run.ranks[place.rank];
  const auto& items = rank.steps[place.step].items;
  for (auto i = place.item; i-- > 0;) {
    if (items[i].kind != CpuItem::Kind::launch) continue;
    const auto& launched = rank.activities[static_cast<std::size_t>(items[i].activity)];
    return !run.is_whole() && launched.work == WorkClass::collective;
  }
  return false;
}

void find_blocking_launches(const JobRun& run, const Places& waits, std::vector<Candidate>& candidates) {
  Places blocking;
  for (const auto& place : waits) {
    if (item_at(run, place).is_of_launch) blocking.push_back(place);
  }
  if (blocking.empty()) return;
  candidates.push_back(candidate_of(run, CauseKind::blocking_launches, blocking, -1));
  candidates.back().cause.confidence = Confidence::high;
}

/// Ranks whose launches take longer than on any host that was measured.
void find_slow_cpu(const JobRun& run, std::vector<Candidate>& candidates) {
  RunCause cause{.kind = CauseKind::slow_cpu};
  double slowest = 0;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    slowest = std::max(slowest, launch_time(run, r));
    if (has_slow_cpu(run, r)) cause.ranks.push_back(run.ranks[r].rank);
  }
  if (cause.ranks.empty()) return;
  if (cause.ranks.size() == run.ranks.size()) cause.ranks.clear();
  cause.measured = Seconds{slowest / 1e9};
  cause.expected = Seconds{usual_launch() / 1e9};
  candidates.push_back({cause, [&run](RunTimes& times) {
                          for (std::size_t r = 0; r < times.cpu.size(); ++r) {
                            if (!has_slow_cpu(run, r)) continue;
                            const auto share = usual_launch() / launch_time(run, r);
                            for (std::size_t s = 0; s < times.cpu[r].size(); ++s) {
                              const auto& items = run.ranks[r].steps[s].items;
                              for (std::size_t i = 0; i < items.size(); ++i)
                                if (items[i].kind == CpuItem::Kind::work) times.cpu[r][s][i] *= share;
                            }
                          }
                        }});
}

}  // namespace

bool copies_checkpoint(const JobRun& run, std::size_t rank, std::size_t step) {
  constexpr double large = 16e6;
  if (copied_out_bytes(run, rank, step) < large) return false;
  std::size_t steps = 0;
  for (std::size_t s = 0; s < run.steps; ++s) steps += copied_out_bytes(run, rank, s) >= large ? 1 : 0;
  return 2 * steps <= run.steps;
}

void find_cpu_causes(const JobRun& run, std::vector<Candidate>& candidates) {
  std::map<CpuItem::Kind, Places> items;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    for (std::size_t s = 0; s < run.ranks[r].steps.size(); ++s) {
      const auto& of_step = run.ranks[r].steps[s].items;
      for (std::size_t i = 0; i < of_step.size(); ++i) {
        if (of_step[i].kind != CpuItem::Kind::work && of_step[i].kind != CpuItem::Kind::launch)
          items[of_step[i].kind].push_back({r, s, i});
      }
    }
  }
  std::erase_if(items[CpuItem::Kind::operation],
                [&](const Place& place) { return may_wait_for_ranks(run, place); });
  find_pauses(run, items, candidates);
  find_checkpoints(run, items, candidates);
  find_reads(run, items[CpuItem::Kind::wait], candidates);
  find_blocking_launches(run, items[CpuItem::Kind::wait], candidates);
  for (const auto& [kind, cause] : {std::pair{CpuItem::Kind::allocate, CauseKind::allocations},
                                    std::pair{CpuItem::Kind::operation, CauseKind::slow_operations},
                                    std::pair{CpuItem::Kind::compile, CauseKind::compilation}}) {
    if (items[kind].empty()) continue;
    auto candidate = candidate_of(run, cause, items[kind], 0);
    candidate.cause.confidence = cause == CauseKind::slow_operations ? Confidence::medium : Confidence::high;
    set_neighbours(run, items[kind], candidate.cause);
    candidates.push_back(std::move(candidate));
  }
  find_slow_cpu(run, candidates);
}

}  // namespace gradway
