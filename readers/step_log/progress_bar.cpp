// SPDX-License-Identifier: Apache-2.0
#include "readers/step_log/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "sim/base/text.hpp"

namespace gradway {
namespace {

using Bars = std::span<const ProgressBar>;

/// A bar that begins at a later step, after a restart, begins shortly before its first line.
double steps_between(Bars bars, std::size_t i) {
  if (i > 0) return bars[i].steps - bars[i - 1].steps;
  return bars.size() > 1 ? std::min(bars[0].steps, bars[1].steps - bars[0].steps) : bars[0].steps;
}

/// Undoes tqdm's exponential average; empty if a time would be negative.
std::vector<double> unsmoothed(Bars bars) {
  constexpr double smoothing = 0.3;
  std::vector<double> times;
  double steps = 0;  // averages of steps and of seconds between two lines
  double seconds = 0;
  double error = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto added = steps_between(bars, i);
    const auto kept = 1 - smoothing;
    steps = smoothing * added + kept * steps;
    const auto difference = bars[i].time * steps - kept * seconds;
    const auto largest_error = bars[i].rounding * steps + kept * error;
    if (difference < -largest_error) return {};
    times.push_back(std::max(difference, largest_error) / smoothing / added);
    seconds = bars[i].time * steps;
    error = bars[i].rounding * steps;
  }
  return times;
}

/// When the steps of a line had ended: the earliest and latest moment that its figures allow.
struct Moment {
  double earliest;
  double latest;
};

/// The moments of lines whose times are averages since the start; empty if they are none.
std::vector<Moment> moments_of_averages(Bars bars) {
  std::vector<Moment> moments;
  for (const auto& bar : bars) {
    moments.push_back({std::max(bar.elapsed, bar.steps * (bar.time - bar.rounding)),
                       std::min(bar.elapsed + 1, bar.steps * (bar.time + bar.rounding))});
    if (moments.back().earliest > moments.back().latest) return {};
  }
  return moments;
}

/// Times of steps that change as seldom as the moments allow: a string pulled taut between them.
std::vector<double> taut_times(Bars bars, const std::vector<Moment>& moments) {
  std::vector<double> times(bars.size());
  double reached = 0;  // where the string is fixed so far, in seconds since the start
  double begin_middle = 0;
  for (std::size_t begin = 0; begin < bars.size();) {
    const auto steps = begin == 0 ? 0 : bars[begin - 1].steps;
    double least = 0;
    double most = std::numeric_limits<double>::max();
    std::size_t of_least = begin;
    std::size_t of_most = begin;
    auto end = begin;
    auto time = 0.0;
    for (auto i = begin;; ++i) {
      const bool is_last = i == bars.size();
      const auto low =
          is_last ? (least + most) / 2 : (moments[i].earliest - reached) / (bars[i].steps - steps);
      const auto high = is_last ? low : (moments[i].latest - reached) / (bars[i].steps - steps);
      if (is_last || low > most || high < least) {
        time = is_last ? low : low > most ? most : least;
        end = (is_last ? i - 1 : low > most ? of_most : of_least) + 1;
        break;
      }
      if (low >= least) of_least = i;
      if (high <= most) of_most = i;
      least = std::max(least, low);
      most = std::min(most, high);
    }
    reached += time * (bars[end - 1].steps - steps);
    // The string bends at the edge of what is possible; the middle is likelier.
    const auto middle = (moments[end - 1].earliest + moments[end - 1].latest) / 2;
    std::fill(times.begin() + static_cast<std::ptrdiff_t>(begin),
              times.begin() + static_cast<std::ptrdiff_t>(end),
              (middle - begin_middle) / (bars[end - 1].steps - steps));
    begin_middle = middle;
    begin = end;
  }
  return times;
}

std::vector<double> times_of_bar(Bars bars) {
  if (const auto moments = moments_of_averages(bars); !moments.empty()) return taut_times(bars, moments);
  auto times = unsmoothed(bars);
  if (!times.empty()) return times;
  for (const auto& bar : bars) times.push_back(bar.time);
  return times;
}

}  // namespace

std::optional<ProgressBar> progress_bar(std::string_view line) {
  for (auto bracket = line.find(" ["); bracket != std::string_view::npos;
       bracket = line.find(" [", bracket + 1)) {
    const auto slash = line.substr(0, bracket).rfind('/');
    if (slash == std::string_view::npos || !is_digits(line.substr(slash + 1, bracket - slash - 1))) continue;
    const auto before = line.substr(0, slash).find_last_not_of("0123456789");
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    const auto steps = leading_number(line.substr(begin, slash - begin));
    const auto clock = line.substr(bracket + 2, line.find('<', bracket) - bracket - 2);
    if (!steps || clock.find(':') == std::string_view::npos) continue;
    ProgressBar bar{.steps = static_cast<double>(*steps)};
    for (auto digits = clock; !digits.empty();) {
      const auto colon = std::min(digits.find(':'), digits.size());
      if (!is_digits(digits.substr(0, colon))) return std::nullopt;
      constexpr double next_unit = 60;
      bar.elapsed = next_unit * bar.elapsed + leading_number(digits.substr(0, colon)).value_or(0);
      digits.remove_prefix(std::min(colon + 1, digits.size()));
    }
    return bar;
  }
  return std::nullopt;
}

std::vector<double> step_times(const std::vector<ProgressBar>& bars) {
  std::vector<double> times;
  for (std::size_t begin = 0; begin < bars.size();) {
    auto end = begin + 1;
    while (end < bars.size() && bars[end].steps > bars[end - 1].steps)
      ++end;  // An epoch has a bar of its own.
    const auto of_bar = times_of_bar(Bars{bars}.subspan(begin, end - begin));
    times.insert(times.end(), of_bar.begin(), of_bar.end());
    begin = end;
  }
  return times;
}

}  // namespace gradway
