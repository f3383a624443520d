// SPDX-License-Identifier: Apache-2.0
#include "observe/watch/watch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/contract.hpp"
#include "sim/base/quantiles.hpp"

namespace gradway {
namespace {

using Values = std::vector<double>;

constexpr std::size_t window = 5;            ///< of the moving median
constexpr std::size_t shortest = 10;         ///< steps of a segment
constexpr double least_change = 0.02;        ///< of a level, relative
constexpr double standard_errors = 8;        ///< the moving median is correlated over its window
constexpr double stall_factor = 1.3;         ///< of a stall over its level
constexpr double normal_deviation = 1.4826;  ///< standard deviation over median absolute deviation

Values moving_median(const Values& values) {
  Values result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto begin = i < window / 2 ? 0 : i - window / 2;
    const auto end = std::min(i + window / 2 + 1, values.size());
    result[i] = median({values.begin() + static_cast<std::ptrdiff_t>(begin),
                        values.begin() + static_cast<std::ptrdiff_t>(end)});
  }
  return result;
}

/// Standard deviation of single steps, from differences of neighbours, which levels and drifts hardly change.
double deviation_of(const Values& values) {
  Values differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(std::abs(values[i] - values[i - 1]));
  constexpr double least = 1e-3;  // of the median: clocks are no better
  return std::max(normal_deviation * median(differences) / std::sqrt(2.0), least * median(values));
}

/// Sums of values and squares, for means and errors of any range in constant time.
class Sums {
 public:
  explicit Sums(const Values& values) : sum_(values.size() + 1), squares_(values.size() + 1) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum_[i + 1] = sum_[i] + values[i];
      squares_[i + 1] = squares_[i] + values[i] * values[i];
    }
  }
  double mean(std::size_t begin, std::size_t end) const {
    return (sum_[end] - sum_[begin]) / static_cast<double>(end - begin);
  }
  double error(std::size_t begin, std::size_t end) const {
    const auto sum = sum_[end] - sum_[begin];
    return squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin);
  }

 private:
  Values sum_;
  Values squares_;
};

/// First steps of the segments with constant level, by binary segmentation.
void split(const Sums& sums, std::size_t begin, std::size_t end, double deviation,
           std::vector<std::size_t>& starts) {
  if (end - begin < 2 * shortest) return;
  auto best = begin;
  auto least = sums.error(begin, end);
  for (auto cut = begin + shortest; cut + shortest <= end; ++cut) {
    const auto error = sums.error(begin, cut) + sums.error(cut, end);
    if (error < least) {
      least = error;
      best = cut;
    }
  }
  if (best == begin) return;
  const auto before = sums.mean(begin, best);
  const auto after = sums.mean(best, end);
  const auto noise =
      deviation * std::sqrt(1 / static_cast<double>(best - begin) + 1 / static_cast<double>(end - best));
  if (std::abs(after - before) < std::max(least_change * before, standard_errors * noise)) return;
  split(sums, begin, best, deviation, starts);
  starts.push_back(best);
  split(sums, best, end, deviation, starts);
}

struct Line {
  double at_start = 0;
  double slope = 0;  ///< per step
  double error = 0;  ///< sum of squares

  double at(std::size_t step) const { return at_start + slope * static_cast<double>(step); }
};

Line fit_line(const Values& values) {
  const auto n = static_cast<double>(values.size());
  const auto middle = (n - 1) / 2;
  const auto mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(i) - middle;
    products += x * (values[i] - mean);
    squares += x * x;
  }
  Line line{mean - products / squares * middle, products / squares};
  for (std::size_t i = 0; i < values.size(); ++i) line.error += std::pow(values[i] - line.at(i), 2);
  return line;
}

/// Steps at the start that take longer while allocators and autotuners learn: those before five steps in a
/// row are near the median.
std::size_t warm_up_of(const Values& values) {
  constexpr double near = 1.25;
  const auto level = median(values);
  const auto most = values.size() / 5;
  for (std::size_t i = 0; i < most; ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::all_of(first, first + window, [&](double value) { return value <= near * level; })) return i;
  }
  return 0;
}

/// The stalls that lie at equal distances: the period and phase that most of them share.
std::vector<std::size_t> periodic(const std::vector<std::size_t>& stalls, std::size_t steps,
                                  std::size_t& period) {
  constexpr std::size_t fewest = 3;
  constexpr double share = 0.8;  // of the stalls that a period demands
  std::vector<std::size_t> best;
  constexpr std::size_t most_starts = 20;
  for (std::size_t i = 0; i < std::min(stalls.size(), most_starts); ++i) {
    for (std::size_t j = i + 1; j < std::min(stalls.size(), i + 1 + most_starts); ++j) {
      const auto distance = stalls[j] - stalls[i];
      if (distance < 2) continue;
      std::vector<std::size_t> members;
      for (const auto stall : stalls) {
        if (stall % distance == stalls[i] % distance) members.push_back(stall);
      }
      const auto phase = stalls[i] % distance;
      const auto demanded = (steps - phase + distance - 1) / distance;
      const bool fits = members.size() >= fewest &&
                        static_cast<double>(members.size()) >= share * static_cast<double>(demanded);
      if (fits && members.size() > best.size()) {
        best = std::move(members);
        period = distance;
      }
    }
  }
  return best;
}

class Watcher {
 public:
  Watcher(const std::vector<Seconds>& times, const std::optional<ExpectedSteps>& expected) {
    Values values;
    for (const auto time : times) values.push_back(time.value());
    run_.steps = times.size();
    run_.warm_up = warm_up_of(values);
    run_.expected = expected;
    values_.assign(values.begin() + static_cast<std::ptrdiff_t>(run_.warm_up), values.end());
  }

  WatchedRun watch() {
    run_.median = Seconds{median(values_)};
    run_.total = Seconds{std::accumulate(values_.begin(), values_.end(), 0.0)};
    constexpr double tail = 0.05;
    run_.low = Seconds{quantile(values_, tail)};
    run_.high = Seconds{quantile(values_, 1 - tail)};
    find_levels();
    find_stalls();
    compare_with_expected();
    std::ranges::stable_sort(run_.findings, std::ranges::greater{}, &WatchFinding::lost);
    return std::move(run_);
  }

 private:
  void add(WatchFinding finding) {
    finding.first += run_.warm_up;
    finding.last += run_.warm_up;
    run_.findings.push_back(finding);
  }

  void find_levels() {
    const auto smooth = moving_median(values_);
    const auto deviation = deviation_of(values_);
    const Sums sums{smooth};
    std::vector<std::size_t> starts{0};
    split(sums, 0, smooth.size(), deviation, starts);
    starts.push_back(smooth.size());
    levels_.resize(values_.size());
    double error = 0;
    for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
      error += sums.error(starts[k], starts[k + 1]);
      std::fill(levels_.begin() + static_cast<std::ptrdiff_t>(starts[k]),
                levels_.begin() + static_cast<std::ptrdiff_t>(starts[k + 1]),
                sums.mean(starts[k], starts[k + 1]));
    }
    const auto line = fit_line(smooth);
    const auto last = smooth.size() - 1;
    const bool is_drift = starts.size() > 2 && line.error < error &&
                          std::abs(line.at(last) - line.at(0)) >= least_change * line.at(0);
    if (is_drift) {
      add_drift(line);
    } else {
      add_jumps(starts);
    }
  }

  void add_drift(const Line& line) {
    const auto last = values_.size() - 1;
    const auto least = std::min(line.at(0), line.at(last));
    double lost = 0;
    for (std::size_t i = 0; i <= last; ++i) {
      levels_[i] = line.at(i);
      lost += line.at(i) - least;
    }
    if (line.slope < 0) lost = 0;
    add({WatchKind::drift, 0, last, last + 1, Seconds{line.at(0)}, Seconds{line.at(last)}, Seconds{lost}});
  }

  void add_jumps(const std::vector<std::size_t>& starts) {
    const auto least = std::ranges::min(levels_);
    for (std::size_t k = 1; k + 1 < starts.size(); ++k) {
      const auto before = levels_[starts[k] - 1];
      const auto after = levels_[starts[k]];
      const auto steps = starts[k + 1] - starts[k];
      const auto lost = after > before
                            ? (after - std::max(least, std::min(before, after))) * static_cast<double>(steps)
                            : 0;
      add({WatchKind::jump, starts[k], starts[k + 1] - 1, steps, Seconds{before}, Seconds{after},
           Seconds{lost}});
    }
  }

  void find_stalls() {
    const auto deviation = deviation_of(values_);
    std::vector<std::size_t> stalls;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto limit = std::max(stall_factor * levels_[i], levels_[i] + standard_errors * deviation);
      if (values_[i] > limit) stalls.push_back(i);
    }
    std::size_t period = 0;
    const auto regular = periodic(stalls, values_.size(), period);
    add_stalls(WatchKind::periodic_stalls, regular, period);
    std::vector<std::size_t> irregular;
    std::ranges::set_difference(stalls, regular, std::back_inserter(irregular));
    add_stalls(WatchKind::random_stalls, irregular, 0);
  }

  void add_stalls(WatchKind kind, const std::vector<std::size_t>& stalls, std::size_t period) {
    if (stalls.empty()) return;
    double lost = 0;
    Values lengths;
    Values levels;
    for (const auto stall : stalls) {
      lost += values_[stall] - levels_[stall];
      lengths.push_back(values_[stall]);
      levels.push_back(levels_[stall]);
    }
    add({kind, stalls.front(), stalls.back(), stalls.size(), Seconds{median(levels)},
         Seconds{median(lengths)}, Seconds{lost}, period});
  }

  void compare_with_expected() {
    if (!run_.expected) return;
    const auto n = values_.size();
    const auto median = run_.median;
    const auto& expected = *run_.expected;
    if (median > expected.high) {
      add({WatchKind::slower_than_expected, 0, n - 1, n, expected.high, median,
           static_cast<double>(n) * (median - expected.high)});
    } else if (median < expected.low) {
      add({WatchKind::faster_than_expected, 0, n - 1, n, expected.low, median, Seconds{}});
    }
  }

  WatchedRun run_;
  Values values_;  ///< after the warm-up
  Values levels_;  ///< of each step without stalls
};

}  // namespace

double WatchedRun::lost_share() const {
  Seconds lost{};
  for (const auto& finding : findings) lost += finding.lost;
  return lost / total;
}

WatchedRun watch_steps(const std::vector<Seconds>& times, const std::optional<ExpectedSteps>& expected) {
  expects(times.size() >= 2 * shortest, "a run needs steps in which levels can be found");
  return Watcher{times, expected}.watch();
}

}  // namespace gradway
