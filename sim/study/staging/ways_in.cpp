// SPDX-License-Identifier: Apache-2.0
#include "sim/study/staging/ways_in.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "sim/metrics/loading.hpp"
#include "sim/scenario/shared_by_loaders.hpp"
#include "sim/study/ask/ask.hpp"
#include "sim/study/parallel.hpp"

namespace gradway {
namespace {

constexpr int shares = 8;        ///< of unstaged samples that are simulated, besides none
constexpr int slices = 4000;     ///< of an epoch that is integrated
constexpr double hardly = 1e-6;  ///< unstaged, while the copy still runs
constexpr int most_epochs = 1000;

/// Steps that are simulated, in this order.
enum Simulated : std::size_t { hot_first, hot_later, direct_first, direct_later, staging };

using ChangeInput = std::function<void(InputSettings&)>;

std::vector<Metrics> simulated(const Scenario& scenario, const std::vector<ChangeInput>& changes,
                               std::string_view engine, int threads) {
  std::vector<Metrics> metrics(changes.size());
  for_each_in_parallel(changes.size(), threads, [&](std::size_t i) {
    auto job = scenario.job;
    changes[i](job.input);
    metrics[i] = ask(scenario, std::move(job), {.engine = engine}).measured.metrics;
  });
  return metrics;
}

std::vector<ChangeInput> changes_of_input() {
  std::vector<ChangeInput> changes(staging);
  for (const bool first : {true, false}) {
    changes[first ? hot_first : hot_later] = [first](InputSettings& input) {
      input.unstaged = 0;
      input.first_epoch = first;
    };
    changes[first ? direct_first : direct_later] = [first](InputSettings& input) {
      input.storage = std::exchange(input.staged_from, std::nullopt);
      input.first_epoch = first;
    };
  }
  for (int i = 0; i <= shares; ++i) {
    changes.emplace_back([i](InputSettings& input) {
      input.unstaged = std::max(hardly, static_cast<double>(i) / shares);
      input.first_epoch = true;
    });
  }
  return changes;
}

/// The job and the copy while a share of the samples is not staged yet.
struct Pace {
  Seconds step{};
  BytesPerSecond copy{};
};

class Integration {
 public:
  Integration(const StageInCopy& copy, const std::vector<Metrics>& metrics, int epoch_nodes)
      : copy_{copy}, hot_{metrics[hot_first]}, nodes_{static_cast<double>(epoch_nodes)} {
    for (int i = 0; i <= shares; ++i) {
      const auto& staged = metrics[staging + static_cast<std::size_t>(i)];
      paces_[static_cast<std::size_t>(i)] = pace_of(staged, static_cast<double>(i) / shares);
    }
  }

  /// Steps of one epoch. @return their time
  Seconds epoch(double steps) {
    Seconds time{};
    const auto slice_steps = steps / slices;
    for (int i = 0; i < slices; ++i) {
      if (unstaged_ <= 0) {
        time += hot_.step_time * slice_steps;
        continue;
      }
      const double read = (i + 0.5) / slices / nodes_;  // share that a node has read in this epoch
      const auto middle = std::max(0.0, unstaged_ - decrease(unstaged_, slice_steps, read) / 2);
      const auto slice = pace(middle).step * slice_steps;
      const auto less = decrease(middle, slice_steps, read);
      cold_reads_ += middle / slices;
      if (less >= unstaged_) staged_ = elapsed_ + time + slice * (unstaged_ / less);
      unstaged_ = std::max(0.0, unstaged_ - less);
      time += slice;
    }
    elapsed_ += time;
    // What a node has read is staged there.
    unstaged_ *= 1 - 1.0 / nodes_;
    if (unstaged_ == 0 && !staged_) staged_ = elapsed_;
    return time;
  }

  bool is_staged() const { return staged_.has_value(); }
  Seconds staged() const { return staged_.value_or(elapsed_); }
  double cold_reads() const { return cold_reads_; }

 private:
  /// What loaders leave of both tiers, at most the rate of the copy alone.
  Pace pace_of(const Metrics& metrics, double unstaged) const {
    const auto read = metrics.loading->read / metrics.step_time;
    const auto cold_left = copy_.cold - read * unstaged;
    const auto hot_left = copy_.hot_write * std::max(0.0, 1 - read * (1 - unstaged) / copy_.hot_read);
    const auto least = std::min(copy_.cold, copy_.hot_write) * 0.5;
    return {metrics.step_time, std::min(copy_.rate, std::max(least, std::min(cold_left, hot_left)))};
  }

  Pace pace(double unstaged) const {
    const auto position = std::clamp(unstaged, 0.0, 1.0) * shares;
    const auto below = std::min<std::size_t>(shares - 1, static_cast<std::size_t>(position));
    const auto weight = position - static_cast<double>(below);
    const auto &a = paces_[below], &b = paces_[below + 1];
    return {a.step * (1 - weight) + b.step * weight, a.copy * (1 - weight) + b.copy * weight};
  }

  /// Of the share among samples that a node has yet to read: the copy takes no others.
  double decrease(double unstaged, double steps, double read) const {
    const auto current = pace(unstaged);
    return (current.copy * (current.step * steps)) / copy_.bytes / (1 - read);
  }

  const StageInCopy& copy_;
  const Metrics& hot_;
  double nodes_;
  std::array<Pace, shares + 1> paces_{};
  double unstaged_ = 1;
  double cold_reads_ = 0;
  Seconds elapsed_{};
  std::optional<Seconds> staged_{};
};

WayIn way_of(const Metrics& first, const Metrics& later) {
  return {.first_batch = first.loading->first_batch,
          .first_epoch = epoch_time(first, *first.loading),
          .later_epoch = epoch_time(later, *later.loading)};
}

/// @param input as read by later epochs
void add_money(WayIn& way, InputSettings input, double usd_per_s) {
  way.usd_per_s = usd_per_s;
  input.first_epoch = false;
  const auto cost = samples_cost(input);
  if (!cost) return;
  way.usd_per_s += cost->usd_per_s;
  way.usd_per_epoch = cost->usd_of_sample() * input.dataset->samples;
  way.usd_once = cost->usd_of_filling;
}

void integrate(WaysIn& ways, const std::vector<Metrics>& metrics, bool is_local) {
  const auto& fill = *metrics[staging + shares].loading;
  auto& way = ways.during;
  Integration integration{ways.copy, metrics, is_local ? ways.copy.nodes : 1};
  const auto steps = fill.epoch_steps;
  way.first_batch = fill.first_batch;
  way.first_epoch = integration.epoch(steps) + fill.epoch_start;
  ways.cold_reads = integration.cold_reads();
  const auto usual = way.later_epoch - metrics[hot_later].loading->epoch_start;
  for (int i = 0; i < most_epochs && !integration.is_staged(); ++i)
    way.catching_up += std::max(Seconds{}, integration.epoch(steps) - usual);
  ways.staged = integration.staged() + fill.epoch_start;
}

template <class Amount>
std::optional<double> epochs_until_less(Amount after_one, Amount after_two, Amount per_epoch) {
  if (after_one <= Amount{}) return 1;
  if (after_two <= Amount{}) return 2;
  if (per_epoch >= Amount{}) return std::nullopt;
  return 2 + std::ceil(after_two / (Amount{} - per_epoch));
}

}  // namespace

Seconds WayIn::time_of(double epochs) const {
  return staging + first_epoch + (epochs > 1 ? catching_up : Seconds{}) + later_epoch * (epochs - 1);
}

double WayIn::usd_of(double epochs) const {
  return usd_once + usd_per_epoch * epochs + usd_per_s * time_of(epochs).value();
}

std::optional<double> epochs_until_faster(const WayIn& way, const WayIn& rival) {
  return epochs_until_less(way.time_of(1) - rival.time_of(1), way.time_of(2) - rival.time_of(2),
                           way.later_epoch - rival.later_epoch);
}

std::optional<double> epochs_until_cheaper(const WayIn& way, const WayIn& rival) {
  const auto excess = [&](double epochs) { return way.usd_of(epochs) - rival.usd_of(epochs); };
  return epochs_until_less(excess(1), excess(2), excess(3) - excess(2));
}

std::optional<WaysIn> ways_in(const Scenario& scenario, std::string_view engine, int threads) {
  const auto copy = stage_in_copy(scenario.job, scenario.platform);
  if (!copy) return std::nullopt;
  const auto metrics = simulated(scenario, changes_of_input(), engine, threads);
  WaysIn ways{.copy = *copy,
              .has_node_price = scenario.platform.price.has_value(),
              .before = way_of(metrics[hot_first], metrics[hot_later]),
              .during = way_of(metrics[hot_first], metrics[hot_later]),
              .direct = way_of(metrics[direct_first], metrics[direct_later])};
  ways.before.staging = copy->time();
  ways.before.first_batch += copy->time();
  integrate(ways, metrics, scenario.job.input.storage->is_local());
  const auto& input = scenario.job.input;
  auto cold = input;
  cold.storage = std::exchange(cold.staged_from, std::nullopt);
  constexpr double seconds_per_hour = 3600;
  const auto of_nodes =
      ways.has_node_price ? scenario.platform.price->per_node.value() * copy->nodes / seconds_per_hour : 0;
  add_money(ways.direct, cold, of_nodes);
  for (auto* way : {&ways.before, &ways.during}) {
    add_money(*way, input, ways.direct.usd_per_s);  // the cold tier keeps its copy
    way->usd_once += copy->usd();
  }
  ways.during.usd_once -= ways.during.usd_per_epoch * ways.cold_reads;
  return ways;
}

}  // namespace gradway
