// SPDX-License-Identifier: Apache-2.0
#include "sim/campaign/campaign_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/base/contract.hpp"
#include "sim/base/random.hpp"

namespace gradway {
namespace {

constexpr Ticks never_answers = std::numeric_limits<Ticks>::max() / 4;

/// A client that takes part in a round.
struct SelectedClient {
  const ClientClassPlan* client_class = nullptr;
  Ticks compute = 0;
  Ticks answers = 0;  ///< time of its answer; never_answers if it drops out
  Ticks gone = 0;     ///< time at which it drops out
};

class Rounds {
 public:
  Rounds(const CampaignPlan& plan, int seed)
      : plan_{plan},
        rounds_{*plan.rounds},
        clients_{plan.stream(seed), RandomStream::clients},
        speeds_{plan.stream(seed), RandomStream::client_speeds},
        factor_{plan.step_factor(seed)} {
    std::uint32_t count = 0;
    for (const auto& client_class : rounds_.classes) {
      count += static_cast<std::uint32_t>(client_class.count);
      ends_.push_back(count);
      base_ = std::min(base_, computed(client_class, 1));
    }
    ids_.resize(count);
    std::iota(ids_.begin(), ids_.end(), 0U);
    if (std::ranges::any_of(rounds_.classes,
                            [](const auto& client_class) { return client_class.spread > 0; }))
      own_speeds_.assign(count, 0);
    const auto rounds = rounds_.rounds > 0 ? rounds_.rounds : std::ceil(rounds_.updates / rounds_.target);
    give_up_ = static_cast<Ticks>(
        std::min(static_cast<double>(never_answers),
                 rounds * static_cast<double>(longest_turn()) * max_elapsed_factor + 30 * 86400e9));
  }

  CampaignRun run() {
    while (!is_done() && now() < give_up_) round();
    run_.finished = is_done();
    run_.elapsed = now();
    run_.work = at(run_.times, Bucket::productive);
    return run_;
  }

 private:
  bool is_done() const {
    return rounds_.rounds > 0 ? run_.exchanges >= rounds_.rounds : run_.updates >= rounds_.updates;
  }

  Ticks now() const { return std::accumulate(run_.times.begin(), run_.times.end(), Ticks{0}); }

  Ticks computed(const ClientClassPlan& client_class, double speed) const {
    return static_cast<Ticks>(static_cast<double>(client_class.compute) * factor_ * speed);
  }

  Ticks longest_turn() const {
    Ticks longest = 0;
    for (const auto& client_class : rounds_.classes)
      longest = std::max(longest, client_class.down + computed(client_class, 1) + client_class.up);
    return std::max(longest, rounds_.deadline);
  }

  /// Compute time of a client relative to the mean of its class, constant in a run.
  double own_speed(std::uint32_t id, const ClientClassPlan& client_class) {
    if (client_class.spread <= 0) return 1;
    auto& speed = own_speeds_[id];
    if (speed == 0) {
      const auto variance = std::log1p(client_class.spread * client_class.spread);
      speed = static_cast<float>(speeds_.log_normal(1, std::exp(variance / 2)));
    }
    return speed;
  }

  /// Selects available clients in random order until there are enough.
  void select() {
    selected_.clear();
    for (auto remaining = ids_.size(); remaining > 0 && static_cast<int>(selected_.size()) < rounds_.asked;
         --remaining) {
      const auto position = std::min(
          remaining - 1, static_cast<std::size_t>(clients_.uniform() * static_cast<double>(remaining)));
      std::swap(ids_[position], ids_[remaining - 1]);
      const auto id = ids_[remaining - 1];
      const auto class_index = std::ranges::upper_bound(ends_, id) - ends_.begin();
      const auto& client_class = rounds_.classes[static_cast<std::size_t>(class_index)];
      if (clients_.uniform() >= client_class.available) continue;
      SelectedClient client{&client_class, computed(client_class, own_speed(id, client_class)), 0, 0};
      client.answers = client_class.down + client.compute + client_class.up;
      if (const auto u = clients_.uniform(); u < rounds_.drop_out) {
        client.gone = static_cast<Ticks>(static_cast<double>(client.answers) * (u / rounds_.drop_out));
        client.answers = never_answers;
      }
      selected_.push_back(client);
    }
  }

  /// @pre sorted by when they answer
  Ticks end_of_round(std::size_t answers) const {
    const auto target = static_cast<std::size_t>(rounds_.target);
    const auto deadline = rounds_.deadline > 0 ? rounds_.deadline : never_answers;
    if (answers >= target) return std::min(deadline, selected_[target - 1].answers);
    if (deadline < never_answers) return deadline;
    Ticks last = 0;  // until all have answered or dropped out
    for (const auto& client : selected_)
      last = std::max(last, client.answers < never_answers ? client.answers : client.gone);
    return last;
  }

  void round() {
    select();
    if (static_cast<int>(selected_.size()) < rounds_.least) {
      at(run_.times, Bucket::waiting) += std::max<Ticks>(1, rounds_.retry);
      return;
    }
    std::ranges::stable_sort(selected_, {}, &SelectedClient::answers);
    const auto answers =
        std::ranges::lower_bound(selected_, never_answers, {}, &SelectedClient::answers) - selected_.begin();
    const auto end = end_of_round(static_cast<std::size_t>(answers));
    auto taken = std::ranges::upper_bound(selected_, end, {}, &SelectedClient::answers) - selected_.begin();
    taken = std::min<std::ptrdiff_t>(taken, rounds_.target);
    pay(end, static_cast<std::size_t>(taken));
    if (taken < rounds_.least || taken == 0) {
      ++run_.void_rounds;
      at(run_.times, Bucket::lost) += std::max<Ticks>(1, end);
      return;
    }
    const auto& last = selected_[static_cast<std::size_t>(taken) - 1];
    const auto counts = std::min(base_, last.compute);
    at(run_.times, Bucket::productive) += counts;
    at(run_.times, Bucket::stragglers) += last.compute - counts;
    at(run_.times, Bucket::exchange) += last.answers - last.compute;
    at(run_.times, Bucket::waiting) += end - last.answers;
    run_.updates += static_cast<double>(taken);
    ++run_.exchanges;
    evaluate();
  }

  /// Adds the costs of all selected clients until the end of the round.
  void pay(Ticks end, std::size_t taken) {
    run_.asked += static_cast<double>(selected_.size());
    run_.sent +=
        rounds_.model * static_cast<double>(selected_.size()) + rounds_.update * static_cast<double>(taken);
    run_.other_usd += rounds_.usd_of_model * static_cast<double>(selected_.size());
    for (std::size_t i = 0; i < selected_.size(); ++i) {
      const auto& client = selected_[i];
      const auto works =
          seconds_of(std::min(end, client.answers < never_answers ? client.answers : client.gone)).value();
      run_.node_seconds += works;
      run_.other_usd +=
          works * client.client_class->usd_per_s + (i < taken ? client.client_class->usd_of_update : 0);
    }
  }

  void evaluate() {
    if (plan_.evaluation_every == 0) return;
    const auto due = std::int64_t{run_.exchanges} * rounds_.inner_steps / plan_.evaluation_every;
    at(run_.times, Bucket::evaluation) += (due - evaluations_) * plan_.evaluation;
    evaluations_ = due;
  }

  const CampaignPlan& plan_;
  const RoundsPlan& rounds_;
  Random clients_, speeds_;
  double factor_;
  Ticks base_ = never_answers;  ///< compute time of the fastest class in a round
  Ticks give_up_ = never_answers;
  std::int64_t evaluations_ = 0;
  std::vector<std::uint32_t> ids_, ends_;  ///< of clients; end of each class
  std::vector<float> own_speeds_;          ///< 0: not drawn yet
  std::vector<SelectedClient> selected_;
  CampaignRun run_;
};

}  // namespace

CampaignRun simulate_rounds(const CampaignPlan& plan, int seed) {
  expects(plan.rounds.has_value(), "the campaign has rounds");
  return Rounds{plan, seed}.run();
}

}  // namespace gradway
