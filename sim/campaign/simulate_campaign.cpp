// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/simulate_campaign.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

#include "sim/base/random.hpp"
#include "sim/campaign/campaign_state.hpp"

namespace gradway {
namespace {

Ticks later(Ticks time, double seconds) {
  const auto far = static_cast<double>(never - time) / 1e9;
  return seconds < far ? time + static_cast<Ticks>(seconds * 1e9) : never;
}

class CampaignSimulation {
 public:
  CampaignSimulation(const CampaignPlan& plan, Seconds interval, int seed, RunDetail detail)
      : plan_{plan},
        detail_{detail},
        failures_{plan.stream(seed), RandomStream::failures},
        causes_{plan.stream(seed), RandomStream::causes},
        again_{plan.stream(seed), RandomStream::again},
        spot_{plan.stream(seed), RandomStream::spot},
        spot_down_{plan.stream(seed), RandomStream::spot_down},
        stragglers_{plan.stream(seed), RandomStream::stragglers} {
    const auto step = plan.step.value() * plan.step_factor(seed) * 1e9;
    const auto in_steps = [&](double steps) { return std::max<Ticks>(1, std::llround(steps * step)); };
    run_.work = in_steps(plan.steps);
    every_ = plan.saves ? in_steps(std::max(1.0, std::round(interval.value() * 1e9 / step))) : never;
    const auto pause = [&](double steps, Ticks time, Bucket bucket) {
      if (steps <= 0) return;
      pauses_.push_back(plan.over_time ? PeriodicPause{0, time, bucket, course_->progress_of_steps(steps)}
                                       : PeriodicPause{in_steps(steps), time, bucket});
    };
    course_.emplace(plan.over_time ? &*plan.over_time : nullptr, run_.work);
    record_conditions();
    pause(plan.exchange_every, plan.exchange_pause(step), Bucket::exchange);
    pause(plan.evaluation_every, plan.evaluation, Bucket::evaluation);
    pause(plan.epoch_every, plan.epoch_start, Bucket::loading);
    next_save_ = every_;
    give_up_ = later(0, static_cast<double>(run_.work) / 1e9 * max_elapsed_factor + 30 * 86400.0);
    replicas_ = plan.replicas;
    draw_failure();
    draw_loss();
    next_slow_ = plan.slow_per_s > 0 ? later(0, stragglers_.exponential(1 / plan.slow_per_s)) : never;
  }

  CampaignRun run() {
    charge(Bucket::loading, plan_.staging);
    run_.finished = attempt();
    while (!run_.finished && now_ < give_up_) {
      recover();
      run_.finished = now_ < give_up_ && attempt();
    }
    run_.elapsed = std::accumulate(run_.times.begin(), run_.times.end(), Ticks{0});
    for (const auto& absence : absences_)
      if (!absence.is_paid && absence.until > now_)
        unpaid_ -= absence.nodes * seconds_of(absence.until - now_).value();
    const auto elapsed = seconds_of(run_.elapsed).value();
    run_.node_seconds = (plan_.nodes + plan_.spares) * elapsed - unpaid_;
    if (const auto& spot = plan_.spot)
      run_.spot_seconds = (spot->nodes + (spot->all_spares ? plan_.spares : 0)) * elapsed - unpaid_;
    run_.storage_usd += plan_.checkpoint.usd_per_s * elapsed * mean_checkpoints();
    const auto trained = at(run_.times, Bucket::productive) + at(run_.times, Bucket::lost);
    const auto steps =
        run_.work > 0 ? plan_.steps * (static_cast<double>(trained) / static_cast<double>(run_.work)) : 0;
    const auto kept = course_->kept();
    if (detail_ == RunDetail::interruptions) run_.kept = kept;
    run_.data_usd = (kept.empty() ? plan_.data.usd_per_s * elapsed : keeping_usd(kept, run_.elapsed)) +
                    plan_.data.usd_of_step * steps + plan_.data.usd_of_filling;
    run_.other_usd += run_.storage_usd + run_.data_usd;
    return std::move(run_);
  }

 private:
  void record_conditions() {
    if (detail_ == RunDetail::interruptions && course_->has_phases())
      run_.conditions.push_back({now_, progress_, course_->phase(), course_->condition()});
  }

  /// Mean number of checkpoints on storage.
  double mean_checkpoints() const {
    if (plan_.checkpoint.keep > 0) return std::min(plan_.checkpoint.keep, run_.checkpoints);
    return run_.checkpoints / 2.0;
  }

  Ticks next_interruption() const { return std::min(next_failure_, next_loss_); }

  void draw_failure() {
    const auto width = static_cast<double>(replicas_) / plan_.replicas;
    const auto rate = plan_.failures_per_s * width + plan_.job_failures_per_s;
    next_failure_ = rate > 0 ? later(now_, failures_.exponential(1 / rate)) : never;
  }

  void draw_loss() {
    next_loss_ = never;
    if (!plan_.spot) return;
    const auto& model = plan_.spot->model;
    const auto mean =
        model.up_mean.value() * model.group / std::max(1, plan_.spot->nodes - missing_spot_nodes());
    next_loss_ = later(now_, spot_.log_normal(mean, model.up_mean_over_median));
  }

  int missing() const {
    int nodes = 0;
    for (const auto& absence : absences_)
      if (absence.until > now_) nodes += absence.nodes;
    return nodes;
  }

  int missing_spot_nodes() const {
    int nodes = 0;
    for (const auto& absence : absences_)
      if (!absence.is_paid && absence.until > now_) nodes += absence.nodes;
    return nodes;
  }

  /// Returns nodes whose absence is over. More spot nodes can then be lost, so the next loss comes sooner.
  void return_nodes() {
    int returned = 0;
    for (const auto& absence : absences_)
      if (!absence.is_paid && absence.until <= now_) returned += absence.nodes;
    std::erase_if(absences_, [&](const AbsentNodes& absence) { return absence.until <= now_; });
    if (returned == 0 || next_loss_ <= now_ || next_loss_ == never) return;
    const auto present = plan_.spot->nodes - missing_spot_nodes();
    const auto share = static_cast<double>(std::max(1, present - returned)) / std::max(1, present);
    next_loss_ = later(now_, seconds_of(next_loss_ - now_).value() * share);
  }

  /// Replicas for which there are nodes.
  int possible_replicas() {
    return_nodes();
    const auto nodes = std::min(plan_.nodes, plan_.nodes + plan_.spares - missing());
    if (nodes == plan_.nodes) return plan_.replicas;
    return std::min(plan_.replicas, static_cast<int>(std::floor(nodes / plan_.nodes_of_replica + 1e-9)));
  }

  void charge(Bucket bucket, Ticks time) {
    at(run_.times, bucket) += time;
    now_ += time;
  }

  /// @return false if interrupted
  bool spend(Bucket bucket, Ticks time) {
    const auto until = std::min(now_ + time, std::max(now_, next_interruption()));
    const bool is_over = until == now_ + time;
    charge(bucket, until - now_);
    return is_over;
  }

  void commit() {
    if (!pending_ || pending_->durable_at > now_) return;
    saved_ = pending_->progress;
    for (std::size_t i = 0; i < bucket_count; ++i) risked_[i] -= pending_->risked[i];
    pending_.reset();
  }

  void start_slow_nodes() {
    while (next_slow_ <= now_) {
      slow_until_ = std::max(
          slow_until_, later(next_slow_, stragglers_.exponential(seconds_of(plan_.slow_lasts).value())));
      next_slow_ = later(next_slow_, stragglers_.exponential(1 / plan_.slow_per_s));
    }
  }

  /// Makes steps up to a progress. @return false if interrupted
  bool work_until(Ticks target) {
    while (progress_ < target) {
      commit();
      start_slow_nodes();
      if (next_interruption() <= now_) return false;
      if (course_->update(now_, progress_)) record_conditions();
      const bool is_slow = slow_until_ > now_;
      const auto width = static_cast<double>(plan_.replicas) / replicas_;
      const auto by_write = pending_ ? plan_.checkpoint.slowdown : 1;
      const auto by_conditions = course_->stretch();
      const auto stretch =
          by_conditions * width * by_write * plan_.jitter * (is_slow ? plan_.slow_factor : 1);
      auto change =
          std::min({next_interruption(), is_slow ? slow_until_ : next_slow_, course_->next_change()});
      if (pending_) change = std::min(change, pending_->durable_at);
      const auto remaining = target - progress_;
      const auto needs =
          std::max(remaining, static_cast<Ticks>(std::ceil(static_cast<double>(remaining) * stretch)));
      const auto time = std::min(needs, change - now_);
      const auto done = time == needs
                            ? remaining
                            : std::min(remaining, static_cast<Ticks>(static_cast<double>(time) / stretch));
      step(time, done, {by_conditions, width, by_write});
    }
    commit();
    return true;
  }

  /// Accounts for steps. @param time taken @param done undisturbed time
  void step(Ticks time, Ticks done, const SlowDowns& slow_downs) {
    for (const auto& [bucket, share] : parts_of_steps(time, done, slow_downs)) {
      charge(bucket, share);
      at(risked_, bucket) += share;
    }
    progress_ += done;
  }

  /// Makes each pause that is due at this progress once. @return false if interrupted
  bool make_pauses() {
    for (auto& pause : pauses_) {
      if (!pause.is_due(progress_) || pause.done_at == progress_) continue;
      if (pause.bucket == Bucket::loading && progress_ == run_.work) continue;  // no epoch follows
      if (!spend(pause.bucket, pause.time)) return false;
      at(risked_, pause.bucket) += pause.time;
      pause.done_at = progress_;
      if (pause.bucket == Bucket::exchange) count_exchanges(1);
    }
    return true;
  }

  /// Adds one by one, so that rounding does not depend on `count`.
  void count_exchanges(Ticks count) {
    run_.exchanges += static_cast<int>(count);
    for (; count > 0; --count) {
      run_.sent += plan_.exchanged;
      run_.other_usd += plan_.exchange_usd;
    }
  }

  /// The first save after a start allocates its buffers.
  Ticks save_pause() const {
    return plan_.checkpoint.pause + (has_buffers_ ? 0 : plan_.checkpoint.allocation);
  }

  bool save() {
    if (pending_ && !spend(Bucket::saving, pending_->durable_at - now_)) return false;
    commit();
    const auto risked = risked_;
    if (!spend(Bucket::saving, save_pause())) return false;
    has_buffers_ = true;
    pending_ = PendingSave{progress_, now_ + plan_.checkpoint.write, risked};
    commit();
    ++run_.checkpoints;
    next_save_ = progress_ + every_;
    return true;
  }

  CampaignSnapshot mark() const {
    return {now_,      progress_,          saved_,   next_slow_, slow_until_,
            replicas_, course_->changes(), pending_, risked_,    run_.times};
  }

  /// Whether no random event came between the two, and the same events follow `to` as followed `from`.
  bool are_alike(const CampaignSnapshot& from, const CampaignSnapshot& to) const {
    const auto& [a, b] = std::tie(from.pending, to.pending);
    const bool pends_alike =
        a.has_value() == b.has_value() &&
        (!a || (a->progress - from.progress == b->progress - to.progress &&
                a->durable_at - from.now == b->durable_at - to.now && a->risked == b->risked));
    const bool is_as_slow = from.next_slow == to.next_slow && from.slow_until == to.slow_until &&
                            (to.slow_until <= from.now || to.slow_until > to.now);
    return pends_alike && is_as_slow && from.replicas == to.replicas && from.changes == to.changes &&
           course_->phase_of(from.progress) == course_->phase_of(to.progress) &&
           from.progress - from.saved == to.progress - to.saved && from.risked == to.risked &&
           first_pause(from.progress) > to.progress;
  }

  /// The next progress at which a pause is due.
  Ticks first_pause(Ticks progress) const {
    auto first = never;
    for (const auto& pause : pauses_) first = std::min(first, pause.after(progress));
    return first;
  }

  /// The next event that does not follow from progress.
  Ticks next_independent_event() const {
    auto next = std::min(next_interruption(), slow_until_ > now_ ? slow_until_ : never);
    next = std::min({next, next_slow_, course_->next_change()});
    for (const auto& absence : absences_)
      if (absence.until > now_) next = std::min(next, absence.until);
    return next;
  }

  /// Skips cycles between checkpoints that repeat the one since `from`, exact to the tick, until the next
  /// independent event, pause or end of work.
  void repeat(const CampaignSnapshot& from) {
    const auto time = now_ - from.now;
    const auto steps = progress_ - from.progress;
    const auto last = std::min({run_.work, first_pause(progress_), course_->end_after(progress_)}) - 1;
    const auto repeats = std::min((next_independent_event() - 1 - now_) / time, (last - progress_) / steps);
    if (repeats <= 0) return;
    for (std::size_t i = 0; i < bucket_count; ++i) run_.times[i] += repeats * (run_.times[i] - from.times[i]);
    run_.checkpoints += static_cast<int>(repeats);
    now_ += repeats * time;
    for (auto* progress : {&progress_, &saved_, &next_save_}) *progress += repeats * steps;
    if (!pending_) return;
    pending_->progress += repeats * steps;
    pending_->durable_at += repeats * time;
  }

  /// Skips cycles between pauses that repeat the one since `from`, exact to the tick, until the next
  /// independent event, other pause, checkpoint or end of work.
  void repeat_pause(const CampaignSnapshot& from) {
    const auto time = now_ - from.now;
    const auto steps = progress_ - from.progress;
    const bool is_as_slow = from.next_slow == next_slow_ && from.slow_until == slow_until_ &&
                            (slow_until_ <= from.now || slow_until_ > now_);
    if (pending_ || from.pending || from.replicas != replicas_ || !is_as_slow || course_->has_phases())
      return;
    const auto repeated = std::ranges::find_if(pauses_, [&](const PeriodicPause& pause) {
      return pause.done_at == progress_ && pause.every == steps;
    });
    if (repeated == pauses_.end()) return;
    auto last = std::min(run_.work, next_save_) - 1;
    for (const auto& pause : pauses_)
      if (&pause != &*repeated) last = std::min(last, pause.after(from.progress) - 1);
    if (last < progress_) return;
    const auto repeats = std::min((next_independent_event() - 1 - now_) / time, (last - progress_) / steps);
    if (repeats <= 0) return;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      run_.times[i] += repeats * (run_.times[i] - from.times[i]);
      risked_[i] += repeats * (risked_[i] - from.risked[i]);
    }
    if (repeated->bucket == Bucket::exchange) count_exchanges(repeats);
    now_ += repeats * time;
    progress_ += repeats * steps;
    repeated->done_at = progress_;
  }

  /// Trains to the end. @return false if interrupted
  bool attempt() {
    std::optional<CampaignSnapshot> before;    // state at the last checkpoint of this attempt
    std::optional<CampaignSnapshot> at_pause;  // state at the last pause since then
    while (progress_ < run_.work) {
      const auto target =
          std::min({run_.work, next_save_, first_pause(progress_), course_->end_after(progress_)});
      if (!work_until(target) || !make_pauses()) return false;
      const bool is_due = plan_.saves && (progress_ == next_save_ || progress_ == run_.work);
      if (is_due && (!save() || !grow())) return false;
      if (!is_due) {
        if (at_pause) repeat_pause(*at_pause);
        at_pause = mark();
        continue;
      }
      at_pause.reset();
      const auto snapshot = mark();
      if (before && are_alike(*before, snapshot)) repeat(*before);
      before = mark();
    }
    if (!pending_) return true;
    if (!spend(Bucket::saving, pending_->durable_at - now_)) return false;
    commit();
    return true;
  }

  /// Uses nodes that have returned: all ranks restart from a checkpoint made now. @return false if
  /// interrupted
  bool grow() {
    if (progress_ == run_.work || replicas_ == plan_.replicas || possible_replicas() <= replicas_)
      return true;
    if (pending_ && !spend(Bucket::saving, pending_->durable_at - now_)) return false;
    commit();
    resize();
    return spend(Bucket::requeue, plan_.requeue) && start();
  }

  void resize() {
    const auto possible = possible_replicas();
    if (possible == replicas_) return;
    replicas_ = possible;
    const auto soon = next_failure_ <= now_;
    if (!soon) draw_failure();  // failures are memoryless: a new draw changes only the rate
  }

  bool start() {
    has_buffers_ = false;
    return spend(Bucket::communicators, plan_.communicators) && (saved_ == 0 || read_back()) &&
           spend(Bucket::loading, plan_.loader);
  }

  bool read_back() {
    run_.storage_usd += plan_.checkpoint.usd_of_reading;
    return spend(Bucket::restoring, plan_.checkpoint.read);
  }

  void roll_back() {
    commit();
    pending_.reset();
    for (std::size_t i = 0; i < bucket_count; ++i) {
      run_.times[i] -= risked_[i];
      at(run_.times, Bucket::lost) += risked_[i];
    }
    risked_ = {};
    progress_ = saved_;
    for (auto& pause : pauses_) pause.done_at = -1;
    next_save_ = every_ == never ? never : saved_ + every_;
  }

  /// Spot nodes are reclaimed. A checkpoint is saved if the notice is long enough.
  void lose_nodes() {
    const auto& spot = *plan_.spot;
    ++run_.losses;
    const auto nodes =
        std::min({spot.model.group, plan_.nodes - missing(), spot.nodes - missing_spot_nodes()});
    const auto needs = save_pause() + plan_.checkpoint.write;
    if (plan_.saves && needs <= spot.notice && progress_ > saved_) {
      charge(Bucket::saving, needs);
      pending_ = PendingSave{progress_, now_, risked_};
    }
    const auto down = spot_down_.log_normal(spot.model.down_mean.value(), spot.model.down_mean_over_median);
    if (nodes > 0) {
      absences_.push_back({later(now_, down), nodes, false});
      unpaid_ += nodes * down;
    }
    draw_loss();
  }

  std::string_view fail() {
    ++run_.failures;
    const auto rate = plan_.failures_per_s + plan_.job_failures_per_s;
    draw_failure();
    if (causes_.uniform() * rate >= plan_.failures_per_s) return "software";
    const auto* cause = cause_at(plan_.causes, causes_.uniform());
    if (!plan_.endless_spares && (cause == nullptr || cause->takes_node))
      absences_.push_back({now_ + plan_.repair, 1, true});
    return cause != nullptr ? cause->name : "node";
  }

  void wait_for_nodes() {
    while (possible_replicas() < plan_.least_replicas) {
      const auto first = std::ranges::min_element(absences_, {}, &AbsentNodes::until);
      const auto time = std::min(first->until, give_up_ + 1) - now_;
      charge(Bucket::waiting, time);  // failures do not occur meanwhile
      if (next_failure_ < never) next_failure_ += time;
      if (next_loss_ < never) next_loss_ += time;
      if (now_ > give_up_) return;
    }
    resize();
  }

  /// Restarts until training continues.
  void recover() {
    bool goes_on = false;
    while (!goes_on && now_ < give_up_) {
      InterruptionRecord interruption{.from = now_, .before = progress_};
      const bool is_loss = next_loss_ <= next_failure_;
      if (is_loss) {
        lose_nodes();
        interruption.cause = "spot";
      } else {
        interruption.cause = fail();
      }
      roll_back();
      interruption.after = progress_;
      goes_on = restart(is_loss);
      interruption.to = now_;
      if (detail_ == RunDetail::interruptions) run_.interruptions.push_back(interruption);
    }
    if (plan_.repeat_probability > 0 && goes_on && again_.uniform() < plan_.repeat_probability)
      next_failure_ =
          std::min(next_failure_, later(now_, again_.uniform() * seconds_of(plan_.repeat_within).value()));
  }

  bool restart(bool was_announced) {
    if (!was_announced && !spend(Bucket::detection, plan_.detection)) return false;
    wait_for_nodes();
    return spend(Bucket::requeue, plan_.requeue) && start();
  }

  const CampaignPlan& plan_;
  RunDetail detail_;
  Random failures_, causes_, again_, spot_, spot_down_, stragglers_;
  CampaignRun run_;
  Ticks now_ = 0;
  Ticks progress_ = 0;  ///< in undisturbed time of steps
  Ticks saved_ = 0;     ///< progress on storage
  std::optional<PendingSave> pending_;
  Buckets risked_{};  ///< time spent since the last checkpoint on storage began
  std::vector<PeriodicPause> pauses_;
  std::optional<CampaignCourse> course_;
  bool has_buffers_ = false;  ///< for checkpoints, in host memory
  Ticks every_ = never, next_save_ = never, give_up_ = never;
  Ticks next_failure_ = never, next_loss_ = never, next_slow_ = never, slow_until_ = 0;
  int replicas_ = 1;
  std::vector<AbsentNodes> absences_;
  double unpaid_ = 0;  ///< node-seconds
};

}  // namespace

CampaignRun simulate_campaign(const CampaignPlan& plan, Seconds interval, int seed, RunDetail detail) {
  if (plan.rounds) return simulate_rounds(plan, seed);
  return CampaignSimulation{plan, interval, seed, detail}.run();
}

}  // namespace gradway
