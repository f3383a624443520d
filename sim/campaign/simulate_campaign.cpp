// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/simulate_campaign.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "sim/base/random.hpp"
#include "sim/campaign/campaign_state.hpp"
#include "sim/campaign/simulate_rounds.hpp"

namespace gradway {
namespace {

constexpr Ticks never = std::numeric_limits<Ticks>::max() / 4;
constexpr double hopeless = 50;  // times the time of all steps: it is given up

Ticks later(Ticks now, double seconds) {
  const auto far = static_cast<double>(never - now) / 1e9;
  return seconds < far ? now + static_cast<Ticks>(seconds * 1e9) : never;
}

class Play {
 public:
  Play(const CampaignPlan& plan, Seconds interval, int seed, Keep keep)
      : plan_{plan},
        keep_{keep},
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
      if (steps > 0) pauses_.push_back({in_steps(steps), time, bucket});
    };
    pause(plan.exchange_every, plan.exchange_pause(step), Bucket::exchange);
    pause(plan.evaluation_every, plan.evaluation, Bucket::evaluation);
    pause(plan.epoch_every, plan.epoch_start, Bucket::loading);
    next_save_ = every_;
    give_up_ = later(0, static_cast<double>(run_.work) / 1e9 * hopeless + 30 * 86400.0);
    replicas_ = plan.replicas;
    draw_failure();
    draw_loss();
    next_slow_ = plan.slow_per_s > 0 ? later(0, stragglers_.exponential(1 / plan.slow_per_s)) : never;
  }

  CampaignRun play() {
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
    if (plan_.spot) {
      const auto of_spot = plan_.spot->nodes + (plan_.spot->all_spares ? plan_.spares : 0);
      run_.spot_seconds = of_spot * elapsed - unpaid_;
    }
    run_.storage_usd += plan_.checkpoint.usd_per_s * elapsed * checkpoints_there();
    run_.usd_beside += run_.storage_usd;
    return std::move(run_);
  }

 private:
  /// How many are on storage, on average: as many as are kept, or all that were made, one after the other.
  double checkpoints_there() const {
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
    const auto mean = model.up_mean.value() * model.group / std::max(1, plan_.spot->nodes - taken_away());
    next_loss_ = later(now_, spot_.log_normal(mean, model.up_mean_over_median));
  }

  int missing() const {
    int nodes = 0;
    for (const auto& absence : absences_)
      if (absence.until > now_) nodes += absence.nodes;
    return nodes;
  }

  /// Spot nodes that are missing.
  int taken_away() const {
    int nodes = 0;
    for (const auto& absence : absences_)
      if (!absence.is_paid && absence.until > now_) nodes += absence.nodes;
    return nodes;
  }

  /// Nodes that are back. Spot nodes among them can be taken again: what was drawn for fewer comes sooner.
  void take_back_nodes() {
    int back = 0;
    for (const auto& absence : absences_)
      if (!absence.is_paid && absence.until <= now_) back += absence.nodes;
    std::erase_if(absences_, [&](const AbsentNodes& absence) { return absence.until <= now_; });
    if (back == 0 || next_loss_ <= now_ || next_loss_ == never) return;
    const auto now_there = plan_.spot->nodes - taken_away();
    const auto share = static_cast<double>(std::max(1, now_there - back)) / std::max(1, now_there);
    next_loss_ = later(now_, seconds_of(next_loss_ - now_).value() * share);
  }

  /// Replicas for which there are nodes.
  int possible_replicas() {
    take_back_nodes();
    const auto nodes = std::min(plan_.nodes, plan_.nodes + plan_.spares - missing());
    if (nodes == plan_.nodes) return plan_.replicas;
    return std::min(plan_.replicas, static_cast<int>(std::floor(nodes / plan_.nodes_of_replica + 1e-9)));
  }

  void charge(Bucket bucket, Ticks time) {
    at(run_.times, bucket) += time;
    now_ += time;
  }

  /// @return false if an interruption came before the time was over
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

  /// Steps up to a progress. @return false if an interruption came before
  bool work_until(Ticks target) {
    while (progress_ < target) {
      commit();
      start_slow_nodes();
      if (next_interruption() <= now_) return false;
      const bool is_slow = slow_until_ > now_;
      const auto width = static_cast<double>(plan_.replicas) / replicas_;
      const auto beside = pending_ ? plan_.checkpoint.slowdown : 1;
      const auto stretch = width * beside * plan_.jitter * (is_slow ? plan_.slow_factor : 1);
      auto change = std::min(next_interruption(), is_slow ? slow_until_ : next_slow_);
      if (pending_) change = std::min(change, pending_->durable_at);
      const auto left = target - progress_;
      const auto needs = std::max(left, static_cast<Ticks>(std::ceil(static_cast<double>(left) * stretch)));
      const auto time = std::min(needs, change - now_);
      const auto done =
          time == needs ? left : std::min(left, static_cast<Ticks>(static_cast<double>(time) / stretch));
      step(time, done, width, beside);
    }
    commit();
    return true;
  }

  /// Steps of so much time alone, which took longer.
  void step(Ticks time, Ticks done, double width, double beside) {
    auto rest = std::max<Ticks>(0, time - done);
    const auto take = [&](double part) {
      const auto taken = std::min(rest, static_cast<Ticks>(part));
      rest -= taken;
      return taken;
    };
    const auto alone = static_cast<double>(done);
    const auto by_width = take(alone * (width - 1));
    const auto by_save = take(alone * width * (beside - 1));
    const std::pair<Bucket, Ticks> parts[] = {{Bucket::productive, std::min(time, done)},
                                              {Bucket::narrow, by_width},
                                              {Bucket::saving, by_save},
                                              {Bucket::stragglers, rest}};
    for (const auto& [bucket, part] : parts) {
      charge(bucket, part);
      at(risked_, bucket) += part;
    }
    progress_ += done;
  }

  /// What is due at this progress, each once.
  bool make_pauses() {
    for (auto& pause : pauses_) {
      if (progress_ % pause.every != 0 || pause.done_at == progress_) continue;
      if (pause.bucket == Bucket::loading && progress_ == run_.work) continue;  // no epoch follows
      if (!spend(pause.bucket, pause.time)) return false;
      at(risked_, pause.bucket) += pause.time;
      pause.done_at = progress_;
      if (pause.bucket == Bucket::exchange) count_exchanges(1);
    }
    return true;
  }

  /// One after the other, so that sums round alike however many come at once.
  void count_exchanges(Ticks count) {
    run_.exchanges += static_cast<int>(count);
    for (; count > 0; --count) {
      run_.sent += plan_.exchanged;
      run_.usd_beside += plan_.exchange_usd;
    }
  }

  /// The first save since the processes began allocates what it copies to.
  Ticks pause_of_save() const {
    return plan_.checkpoint.pause + (has_buffers_ ? 0 : plan_.checkpoint.allocation);
  }

  bool save() {
    if (pending_ && !spend(Bucket::saving, pending_->durable_at - now_)) return false;
    commit();
    const auto risked = risked_;
    if (!spend(Bucket::saving, pause_of_save())) return false;
    has_buffers_ = true;
    pending_ = PendingSave{progress_, now_ + plan_.checkpoint.write, risked};
    commit();
    ++run_.checkpoints;
    next_save_ = progress_ + every_;
    return true;
  }

  CampaignMark mark() const {
    return {now_, progress_, saved_, next_slow_, slow_until_, replicas_, pending_, risked_, run_.times};
  }

  /// Between the two nothing came that comes at its own time, and what follows `to` is what followed `from`.
  bool are_alike(const CampaignMark& from, const CampaignMark& to) const {
    const auto& [a, b] = std::tie(from.pending, to.pending);
    const bool pends_alike =
        a.has_value() == b.has_value() &&
        (!a || (a->progress - from.progress == b->progress - to.progress &&
                a->durable_at - from.now == b->durable_at - to.now && a->risked == b->risked));
    const bool is_as_slow = from.next_slow == to.next_slow && from.slow_until == to.slow_until &&
                            (to.slow_until <= from.now || to.slow_until > to.now);
    return pends_alike && is_as_slow && from.replicas == to.replicas &&
           from.progress - from.saved == to.progress - to.saved && from.risked == to.risked &&
           first_pause(from.progress) > to.progress;
  }

  /// The first progress after this one at which a pause is due.
  Ticks first_pause(Ticks progress) const {
    auto first = never;
    for (const auto& pause : pauses_) first = std::min(first, (progress / pause.every + 1) * pause.every);
    return first;
  }

  /// Before this nothing comes that does not follow from the steps.
  Ticks next_of_its_own() const {
    auto next = std::min(next_interruption(), slow_until_ > now_ ? slow_until_ : never);
    next = std::min(next, next_slow_);
    for (const auto& absence : absences_)
      if (absence.until > now_) next = std::min(next, absence.until);
    return next;
  }

  /// From one checkpoint to the next it goes as it went from `from` to now, until something comes of its own,
  /// a pause is due, or the work ends: so often, to the tick, at once.
  void repeat(const CampaignMark& from) {
    const auto time = now_ - from.now;
    const auto steps = progress_ - from.progress;
    const auto last = std::min(run_.work, first_pause(progress_)) - 1;
    const auto often = std::min((next_of_its_own() - 1 - now_) / time, (last - progress_) / steps);
    if (often <= 0) return;
    for (std::size_t i = 0; i < bucket_count; ++i) run_.times[i] += often * (run_.times[i] - from.times[i]);
    run_.checkpoints += static_cast<int>(often);
    now_ += often * time;
    for (auto* progress : {&progress_, &saved_, &next_save_}) *progress += often * steps;
    if (!pending_) return;
    pending_->progress += often * steps;
    pending_->durable_at += often * time;
  }

  /// From one pause to the next it goes as it went from `from` to now, until something comes of its own,
  /// another pause or a checkpoint is due, or the work ends: so often, to the tick, at once.
  void repeat_pause(const CampaignMark& from) {
    const auto time = now_ - from.now;
    const auto steps = progress_ - from.progress;
    const bool is_as_slow = from.next_slow == next_slow_ && from.slow_until == slow_until_ &&
                            (slow_until_ <= from.now || slow_until_ > now_);
    if (pending_ || from.pending || from.replicas != replicas_ || !is_as_slow) return;
    const auto own = std::ranges::find_if(pauses_, [&](const PeriodicPause& pause) {
      return pause.done_at == progress_ && pause.every == steps;
    });
    if (own == pauses_.end()) return;
    auto last = std::min(run_.work, next_save_) - 1;
    for (const auto& pause : pauses_)
      if (&pause != &*own) last = std::min(last, (from.progress / pause.every + 1) * pause.every - 1);
    if (last < progress_) return;
    const auto often = std::min((next_of_its_own() - 1 - now_) / time, (last - progress_) / steps);
    if (often <= 0) return;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      run_.times[i] += often * (run_.times[i] - from.times[i]);
      risked_[i] += often * (risked_[i] - from.risked[i]);
    }
    if (own->bucket == Bucket::exchange) count_exchanges(often);
    now_ += often * time;
    progress_ += often * steps;
    own->done_at = progress_;
  }

  /// Goes on to the end. @return false if it was interrupted
  bool attempt() {
    std::optional<CampaignMark> before;    // the last checkpoint of this attempt
    std::optional<CampaignMark> at_pause;  // the last pause since then
    while (progress_ < run_.work) {
      const auto target = std::min({run_.work, next_save_, first_pause(progress_)});
      if (!work_until(target) || !make_pauses()) return false;
      const bool is_due = plan_.saves && (progress_ == next_save_ || progress_ == run_.work);
      if (is_due && (!save() || !widen())) return false;
      if (!is_due) {
        if (at_pause) repeat_pause(*at_pause);
        at_pause = mark();
        continue;
      }
      at_pause.reset();
      const auto here = mark();
      if (before && are_alike(*before, here)) repeat(*before);
      before = mark();
    }
    if (!pending_) return true;
    if (!spend(Bucket::saving, pending_->durable_at - now_)) return false;
    commit();
    return true;
  }

  /// Takes nodes in that have come back: all ranks start anew, from a checkpoint of now.
  bool widen() {
    if (progress_ == run_.work || replicas_ == plan_.replicas || possible_replicas() <= replicas_)
      return true;
    if (pending_ && !spend(Bucket::saving, pending_->durable_at - now_)) return false;
    commit();
    set_width();
    return spend(Bucket::requeue, plan_.requeue) && start();
  }

  void set_width() {
    const auto possible = possible_replicas();
    if (possible == replicas_) return;
    replicas_ = possible;
    const auto soon = next_failure_ <= now_;
    if (!soon) draw_failure();  // they come at random: a new draw changes nothing but the rate
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

  /// Nodes of spare capacity are asked back: what can be saved within the notice is.
  void lose_nodes() {
    const auto& spot = *plan_.spot;
    ++run_.losses;
    const auto nodes = std::min({spot.model.group, plan_.nodes - missing(), spot.nodes - taken_away()});
    const auto needs = pause_of_save() + plan_.checkpoint.write;
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
    double all = 0;
    for (const auto& cause : plan_.causes) all += cause.count;
    auto left = causes_.uniform() * all;
    const FailureCause* found = nullptr;
    for (const auto& cause : plan_.causes) {
      found = &cause;
      if ((left -= cause.count) < 0) break;
    }
    if (!plan_.endless_spares && (found == nullptr || found->takes_node))
      absences_.push_back({now_ + plan_.repair, 1, true});
    return found != nullptr ? found->name : "node";
  }

  void wait_for_nodes() {
    while (possible_replicas() < plan_.least_replicas) {
      const auto first = std::ranges::min_element(absences_, {}, &AbsentNodes::until);
      const auto time = std::min(first->until, give_up_ + 1) - now_;
      charge(Bucket::waiting, time);  // nothing runs that could fail
      if (next_failure_ < never) next_failure_ += time;
      if (next_loss_ < never) next_loss_ += time;
      if (now_ > give_up_) return;
    }
    set_width();
  }

  /// From an interruption to the next step, however many come between.
  void recover() {
    bool goes_on = false;
    while (!goes_on && now_ < give_up_) {
      Stop stop{.from = now_, .before = progress_};
      const bool is_loss = next_loss_ <= next_failure_;
      if (is_loss) {
        lose_nodes();
        stop.cause = "spot";
      } else {
        stop.cause = fail();
      }
      roll_back();
      stop.after = progress_;
      goes_on = restart(is_loss);
      stop.to = now_;
      if (keep_ == Keep::stops) run_.stops.push_back(stop);
    }
    if (plan_.again > 0 && goes_on && again_.uniform() < plan_.again)
      next_failure_ =
          std::min(next_failure_, later(now_, again_.uniform() * seconds_of(plan_.again_within).value()));
  }

  bool restart(bool was_told) {
    if (!was_told && !spend(Bucket::detection, plan_.detection)) return false;
    wait_for_nodes();
    return spend(Bucket::requeue, plan_.requeue) && start();
  }

  const CampaignPlan& plan_;
  Keep keep_;
  Random failures_, causes_, again_, spot_, spot_down_, stragglers_;
  CampaignRun run_;
  Ticks now_ = 0;
  Ticks progress_ = 0;  ///< in time of steps alone
  Ticks saved_ = 0;     ///< up to where it is on storage
  std::optional<PendingSave> pending_;
  Buckets risked_{};  ///< time since the last checkpoint on storage began
  std::vector<PeriodicPause> pauses_;
  bool has_buffers_ = false;  ///< in host memory, for checkpoints
  Ticks every_ = never, next_save_ = never, give_up_ = never;
  Ticks next_failure_ = never, next_loss_ = never, next_slow_ = never, slow_until_ = 0;
  int replicas_ = 1;
  std::vector<AbsentNodes> absences_;
  double unpaid_ = 0;  ///< node-seconds
};

}  // namespace

CampaignRun simulate_campaign(const CampaignPlan& plan, Seconds interval, int seed, Keep keep) {
  if (plan.rounds) return simulate_rounds(plan, seed);
  return Play{plan, interval, seed, keep}.play();
}

}  // namespace gradway
