// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/progress.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include <fmt/format.h>

namespace gradway::probe {
namespace {

constexpr auto* clear_line = "\r\033[K";
// Before a tenth of the work is done, the jobs' own estimates are better than a correction.
constexpr double known_part = 0.1;

}  // namespace

Seconds Forecast::left(std::size_t job, double part, Seconds elapsed) const {
  const auto here = std::min(job, estimates_.size());
  auto done =
      std::accumulate(estimates_.begin(), estimates_.begin() + static_cast<std::ptrdiff_t>(here), Seconds{});
  const auto all = std::accumulate(estimates_.begin(), estimates_.end(), Seconds{});
  if (here < estimates_.size()) done += part * estimates_[here];
  if (all <= Seconds{}) return Seconds{};
  const auto pace = done / all < known_part ? 1.0 : elapsed / done;
  return pace * (all - done);
}

std::string minutes_text(Seconds time) {
  const auto seconds = std::lround(std::max(time.value(), 0.0));
  if (seconds < 60) return fmt::format("{} s", seconds);
  return fmt::format("{} min {} s", seconds / 60, seconds % 60);
}

Progress::Progress(std::ostream& out, bool terminal, Forecast forecast, std::size_t jobs)
    : out_{&out}, terminal_{terminal}, forecast_{std::move(forecast)}, jobs_{jobs} {}

Progress::~Progress() {
  if (terminal_) *out_ << clear_line << std::flush;
}

void Progress::begin(std::size_t job, const std::string& name) {
  job_ = job;
  name_ = name;
  show(0);
}

void Progress::done(double part) {
  if (terminal_) show(part);
}

void Progress::say(const std::string& line) {
  *out_ << (terminal_ ? clear_line : "") << line << '\n' << std::flush;
}

void Progress::show(double part) {
  const Seconds elapsed{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()};
  const auto left = minutes_text(forecast_.left(job_, part, elapsed));
  if (terminal_) {
    *out_ << fmt::format("{}[{} of {}] {}: {:.0f} %, about {} left", clear_line, job_ + 1, jobs_, name_,
                         100 * part, left)
          << std::flush;
  } else {
    *out_ << fmt::format("[{} of {}] {}, about {} left", job_ + 1, jobs_, name_, left) << std::endl;
  }
}

}  // namespace gradway::probe
