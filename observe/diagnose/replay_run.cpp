// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnose/replay_run.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/cost/framework_cost.hpp"
#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double seen_ns = seen_by_host.value() * 1e9;

/// How often the steps are repeated. The last repetition is measured.
int repetitions(const JobRun& run) {
  return run.steps >= 4 ? 2 : 3;
}

struct Event {
  double time = 0;
  std::int64_t order = 0;  ///< of creation, which decides between equal times
  enum class Kind { cpu, begin, end } kind = Kind::cpu;
  std::int32_t rank = 0;
  std::int32_t stream = 0;
  std::int64_t version = 0;  ///< of the stream's kernel; older events are void

  bool operator>(const Event& other) const {
    return std::tie(time, order) > std::tie(other.time, other.order);
  }
};

struct Launched {
  std::int32_t activity = 0;
  int repetition = 0;
};

struct StreamState {
  std::deque<Launched> queue;  ///< the first one runs if `is_running`
  bool is_running = false;
  double free = -never;  ///< end of the last activity
  double remaining = 0;  ///< nanoseconds without contention
  double since = 0;      ///< time of `remaining`
  std::int64_t version = 0;
  std::int64_t launched = 0;
  std::int64_t finished = 0;
};

struct RankState {
  std::size_t step = 0;  ///< counts on through repetitions
  std::size_t item = 0;
  bool is_item_done = false;     ///< its time has passed
  int communicating = 0;         ///< collectives on the GPU
  int computing = 0;             ///< other activities on the GPU
  double changed = 0;            ///< time of the last change of these two
  std::array<double, 3> sums{};  ///< busy, exposed, idle since the measurement began
  std::vector<StreamState> streams;
  std::vector<std::int64_t>
      awaited;  ///< number of finished activities of each stream for which the CPU waits
  bool waits = false;
  std::int32_t full = -1;     ///< stream whose queue the CPU waits for
  std::vector<int> finished;  ///< repetitions of each activity that have ended
};

/// Members that have reached a collective, in one repetition.
struct Rendezvous {
  std::vector<std::tuple<std::int32_t, std::int32_t, std::int64_t>> waiting;  ///< rank, stream, version
  std::size_t arrived = 0;
};

class Replay {
 public:
  Replay(const JobRun& run, const RunTimes& times)
      : run_{run},
        times_{times},
        repetitions_{repetitions(run)},
        ranks_(run.ranks.size()),
        meetings_(run.collectives.size() * static_cast<std::size_t>(repetitions_)),
        ends_(static_cast<std::size_t>(repetitions_), 0.0),
        states_(run.ranks.size()) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].streams.resize(static_cast<std::size_t>(run.ranks[r].streams));
      ranks_[r].finished.resize(run.ranks[r].activities.size());
      activities_ += run.ranks[r].activities.size();
      auto& launches = launches_.emplace_back(run.ranks[r].activities.size());
      for (const auto& step : run.ranks[r].steps) {
        for (const auto& item : step.items) {
          if (item.kind == CpuItem::Kind::launch) launches[static_cast<std::size_t>(item.activity)] = &item;
        }
      }
      push(0, Event::Kind::cpu, r, 0, 0);
    }
  }

  ReplayedRun result() {
    while (!events_.empty()) {
      const auto event = events_.top();
      events_.pop();
      now_ = event.time;
      const auto rank = static_cast<std::size_t>(event.rank);
      const auto stream = static_cast<std::size_t>(event.stream);
      if (event.kind == Event::Kind::cpu) {
        run_cpu(rank);
      } else if (event.version == ranks_[rank].streams[stream].version) {
        event.kind == Event::Kind::begin ? try_begin(rank, stream) : finish(rank, stream);
      }
    }
    if (ended_ != activities_ * static_cast<std::size_t>(repetitions_))
      refuse_at(Where{run_.ranks.front().file, 0, 0, 0, {}},
                "the ranks of these traces wait for each other: their collectives are in different orders",
                "give the traces of the same steps of one job");
    const auto steps = static_cast<double>(run_.steps);
    const auto last = static_cast<std::size_t>(repetitions_) - 1;
    const auto seconds = [&](double nanoseconds) { return Seconds{nanoseconds / steps / 1e9}; };
    ReplayedRun replayed{.step = seconds(ends_[last] - ends_[last - 1])};
    for (auto& rank : ranks_) {
      replayed.busy.push_back(seconds(rank.sums[0]));
      replayed.exposed.push_back(seconds(rank.sums[1]));
      replayed.idle.push_back(replayed.step - replayed.busy.back() - replayed.exposed.back());
    }
    for (auto& states : states_) {
      for (auto& state : states)
        state.from = std::max(Seconds{}, state.from - from_nanoseconds(ends_[last - 1]));
    }
    replayed.states = std::move(states_);
    return replayed;
  }

 private:
  void push(double time, Event::Kind kind, std::size_t rank, std::size_t stream, std::int64_t version) {
    events_.push(
        {time, order_++, kind, static_cast<std::int32_t>(rank), static_cast<std::int32_t>(stream), version});
  }

  const RunActivity& activity(std::size_t rank, const Launched& launched) const {
    return run_.ranks[rank].activities[static_cast<std::size_t>(launched.activity)];
  }

  void run_cpu(std::size_t r) {
    auto& state = ranks_[r];
    const auto& rank = run_.ranks[r];
    while (state.step < rank.steps.size() * static_cast<std::size_t>(repetitions_)) {
      const auto step = state.step % rank.steps.size();
      const auto& items = rank.steps[step].items;
      if (state.item == items.size()) {
        ++state.step;
        state.item = 0;
        continue;
      }
      const auto& item = items[state.item];
      const auto time = times_.cpu[r][step][state.item];
      if (!state.is_item_done) {
        if (item.kind == CpuItem::Kind::launch) {
          if (!launch(r, item, static_cast<int>(state.step / rank.steps.size()))) return;
        } else if (item.kind == CpuItem::Kind::wait) {
          if (time >= 0 && must_wait(r, item)) return;
        } else if (time > 0) {
          state.is_item_done = true;
          return push(now_ + time, Event::Kind::cpu, r, 0, 0);
        }
      }
      state.is_item_done = false;
      ++state.item;
    }
  }

  /// @return whether the queue had room
  bool launch(std::size_t r, const CpuItem& item, int repetition) {
    auto& state = ranks_[r];
    const auto s = run_.ranks[r].activities[static_cast<std::size_t>(item.activity)].stream;
    auto& stream = state.streams[static_cast<std::size_t>(s)];
    if (stream.launched - stream.finished >= launch_queue_depth) {
      state.full = s;
      return false;
    }
    ++stream.launched;
    stream.queue.push_back({item.activity, repetition});
    if (stream.queue.size() == 1) try_begin(r, static_cast<std::size_t>(s));
    return true;
  }

  bool must_wait(std::size_t r, const CpuItem& item) {
    auto& state = ranks_[r];
    state.awaited.assign(state.streams.size(), 0);
    for (std::size_t s = 0; s < state.streams.size(); ++s) {
      if (item.stream < 0 || item.stream == static_cast<int>(s)) state.awaited[s] = state.streams[s].launched;
    }
    state.waits = !is_reached(state);
    if (state.waits) state.is_item_done = true;
    return state.waits;
  }

  static bool is_reached(const RankState& state) {
    for (std::size_t s = 0; s < state.streams.size(); ++s) {
      if (state.streams[s].finished < state.awaited[s]) return false;
    }
    return true;
  }

  bool depends(std::size_t r, const Launched& launched) const {
    const auto& item = *launches_[r][static_cast<std::size_t>(launched.activity)];
    const auto& rank = run_.ranks[r];
    const auto first = static_cast<std::size_t>(item.first_dependence);
    for (std::size_t i = 0; i < static_cast<std::size_t>(item.dependences); ++i) {
      const auto on = rank.dependences[first + i];
      if (ranks_[r].finished[static_cast<std::size_t>(on)] <= launched.repetition) return true;
    }
    return false;
  }

  void try_begin(std::size_t r, std::size_t s) {
    auto& stream = ranks_[r].streams[s];
    if (stream.is_running || stream.queue.empty() || depends(r, stream.queue.front())) return;
    const auto& launched = stream.queue.front();
    const bool is_removed = times_.gpu[r][static_cast<std::size_t>(launched.activity)] <= 0;
    const auto earliest = stream.free + (is_removed ? 0 : run_.ranks[r].gap * profiled_pause_share);
    if (earliest > now_) return push(earliest, Event::Kind::begin, r, s, ++stream.version);
    const auto& begins = activity(r, launched);
    stream.is_running = true;
    ++stream.version;
    if (begins.work == WorkClass::collective) return begin_collective(r, s, launched, begins);
    count(r, 0, 1);
    stream.remaining = times_.gpu[r][static_cast<std::size_t>(launched.activity)];
    stream.since = now_;
    push(now_ + stream.remaining * slowed(r, begins), Event::Kind::end, r, s, stream.version);
  }

  double slowed(std::size_t r, const RunActivity& kernel) const {
    return ranks_[r].communicating > 0 ? run_.slow_down[static_cast<std::size_t>(kernel.work)] : 1;
  }

  void begin_collective(std::size_t r, std::size_t s, const Launched& launched, const RunActivity& begins) {
    change_communicating(r, 1);
    const auto number =
        static_cast<std::size_t>(run_.collective_of[r][static_cast<std::size_t>(begins.collective)]);
    const auto& collective = run_.collectives[number];
    auto& meeting =
        meetings_[static_cast<std::size_t>(launched.repetition) * run_.collectives.size() + number];
    const auto version = ranks_[r].streams[s].version;
    const auto member =
        std::ranges::find(collective.members, static_cast<std::int32_t>(r), &JobCollective::Member::rank);
    if (member->waits) {
      meeting.waiting.emplace_back(r, s, version);
    } else {
      push(now_ + times_.gpu[r][static_cast<std::size_t>(launched.activity)], Event::Kind::end, r, s,
           version);
    }
    if (++meeting.arrived < collective.members.size()) return;
    for (const auto& [rank, stream, its] : meeting.waiting)
      push(now_ + times_.transfer[number], Event::Kind::end, static_cast<std::size_t>(rank),
           static_cast<std::size_t>(stream), its);
  }

  /// Kernels that run now take longer, or no longer, from now on.
  void change_communicating(std::size_t r, int difference) {
    auto& state = ranks_[r];
    const bool changes = (state.communicating == 0) != (state.communicating + difference == 0);
    for (auto& stream : state.streams) {
      if (!changes || !stream.is_running) continue;
      const auto& runs = activity(r, stream.queue.front());
      if (runs.work == WorkClass::collective) continue;
      stream.remaining -= (now_ - stream.since) / slowed(r, runs);
      stream.since = now_;
    }
    count(r, difference, 0);
    for (std::size_t s = 0; changes && s < state.streams.size(); ++s) {
      auto& stream = state.streams[s];
      if (!stream.is_running || activity(r, stream.queue.front()).work == WorkClass::collective) continue;
      push(now_ + std::max(0.0, stream.remaining) * slowed(r, activity(r, stream.queue.front())),
           Event::Kind::end, r, s, ++stream.version);
    }
  }

  /// Sums what the GPU did since the last change, once the last repetition began.
  void count(std::size_t r, int communicating, int computing) {
    auto& state = ranks_[r];
    const auto time = now_ - std::max(state.changed, measured_from_);
    if (time > 0 && measured_from_ < never) {
      if (state.computing > 0) state.sums[0] += time;
      if (state.computing == 0 && state.communicating > 0) state.sums[1] += time;
    }
    state.changed = now_;
    state.communicating += communicating;
    state.computing += computing;
    if (measured_from_ == never) {
      states_[r].clear();  // Only the last state before the measurement matters.
    }
    states_[r].push_back({from_nanoseconds(now_), state.computing > 0, state.communicating > 0});
  }

  void finish(std::size_t r, std::size_t s) {
    auto& state = ranks_[r];
    auto& stream = state.streams[s];
    const auto launched = stream.queue.front();
    const auto& done = activity(r, launched);
    stream.is_running = false;
    stream.free = now_;
    stream.queue.pop_front();
    ++stream.finished;
    state.finished[static_cast<std::size_t>(launched.activity)] = launched.repetition + 1;
    if (done.work == WorkClass::collective) {
      change_communicating(r, -1);
    } else {
      count(r, 0, -1);
    }
    note_end(launched.repetition);
    for (std::size_t waiting = 0; waiting < state.streams.size(); ++waiting) try_begin(r, waiting);
    if (state.waits && is_reached(state)) {
      state.waits = false;
      push(now_ + seen_ns, Event::Kind::cpu, r, 0, 0);
    } else if (state.full == static_cast<int>(s)) {
      state.full = -1;
      push(now_, Event::Kind::cpu, r, 0, 0);
    }
  }

  /// The last repetition is measured from the end of the GPU's work of the one before.
  void note_end(int repetition) {
    ends_[static_cast<std::size_t>(repetition)] = std::max(ends_[static_cast<std::size_t>(repetition)], now_);
    ++ended_;
    if (repetition == repetitions_ - 2 && ++ended_before_ == activities_) measured_from_ = now_;
  }

  const JobRun& run_;
  const RunTimes& times_;
  int repetitions_;
  double now_ = 0;
  std::int64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<RankState> ranks_;
  std::vector<Rendezvous> meetings_;
  std::vector<std::vector<const CpuItem*>> launches_;  ///< by rank and activity
  std::size_t activities_ = 0;                         ///< of all ranks
  std::vector<double> ends_;                           ///< by repetition
  std::vector<std::vector<GpuState>> states_;
  std::size_t ended_ = 0;         ///< activities
  std::size_t ended_before_ = 0;  ///< of the last repetition but one
  double measured_from_ = never;
};

}  // namespace

ReplayedRun replay_run(const JobRun& run, const RunTimes& times) {
  return Replay{run, times}.result();
}

}  // namespace gradway
