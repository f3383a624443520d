// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/progress.hpp"

#include <cmath>
#include <csignal>

#include <fmt/format.h>

#include "sim/report/format/text.hpp"

namespace gradway::cli {
namespace {

// With fewer GPUs a simulation takes less than two seconds.
constexpr std::size_t many_gpus = 200000;
// DDP of gpt2 on dgx-h100 with 131,072 and with 1,000,000 GPUs; 11.5 resources per GPU.
// @source own measurement, 2026-11-25, one core of an EPYC
constexpr double cpu_seconds_per_resource = 0.62e-6;
constexpr double bytes_per_resource = 190;

constexpr std::size_t bar_width = 30;
constexpr std::chrono::milliseconds delay_of_first_line{1000};
constexpr std::chrono::milliseconds repaint_interval{200};
constexpr std::chrono::milliseconds line_interval{5000};

// Share that must be done before the remaining time is estimated.
constexpr double least_share = 0.02;

/// "40 s", "3 min", "2.5 h"
std::string duration_text(double seconds) {
  constexpr double minute = 60;
  constexpr double hour = 3600;
  if (seconds < 2 * minute) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 2 * hour) return fmt::format("{:.0f} min", seconds / minute);
  return fmt::format("{:.1f} h", seconds / hour);
}

}  // namespace

void announce_large_platform(const CommandContext& context, const Platform& platform) {
  if (platform.gpus.size() < many_gpus) return;
  const auto resources = static_cast<double>(platform.resources.size());
  context.messages
      << fmt::format("gradway: a simulation of {} GPUs takes about {} of CPU time and {:.1f} GB of memory",
                     report::thousands_text(static_cast<std::int64_t>(platform.gpus.size())),
                     duration_text(resources * cpu_seconds_per_resource),
                     resources * bytes_per_resource * 1e-9)
      << std::endl;
}

Progress::Progress(const CommandContext& context, std::string noun, std::size_t count,
                   WithoutTerminal without_terminal)
    : context_{context}, without_terminal_{without_terminal}, what_{std::move(noun)}, count_{count} {
  if (is_watched() || without_terminal == WithoutTerminal::lines)
    painter_ = std::jthread{[this](const std::stop_token& stop) { paint_until_stopped(stop); }};
}

Progress::Progress(const CommandContext& context, WithoutTerminal without_terminal)
    : Progress{context, "starting", 0, without_terminal} {}

Progress::~Progress() {
  if (painter_.joinable()) {
    painter_.request_stop();
    painter_.join();
  }
  if (painted_) context_.messages << "\r\x1b[K" << std::flush;
}

void Progress::step() {
  const std::scoped_lock lock{mutex_};
  ++done_;
  share_ = static_cast<double>(done_) / static_cast<double>(count_);
}

ProgressCallback Progress::callback() {
  if (!is_watched() && without_terminal_ == WithoutTerminal::silent) return {};
  return [this](std::string_view activity, std::optional<double> done) {
    const std::scoped_lock lock{mutex_};
    if (activity != what_) {
      what_ = activity;
      began_ = Clock::now();
    }
    share_ = done;
  };
}

/// Runs in a thread of its own, because long work does not report progress all the time.
void Progress::paint_until_stopped(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  const auto interval = is_watched() ? repaint_interval : line_interval;
  for (auto wait = is_terminal() ? delay_of_first_line : interval;; wait = interval) {
    if (ends_.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); })) return;
    if (context_.on_progress) {
      context_.on_progress(words(), share_);
      continue;
    }
    if (!is_terminal()) {
      context_.messages << "gradway: " << words() << std::endl;
      continue;
    }
    context_.messages << "\r\x1b[K" << line() << std::flush;
    painted_ = true;
  }
}

/// Narrower than the terminal, because a line that wraps cannot be erased. @pre the words are ASCII
std::string Progress::line() const {
  auto text = words();
  if (count_ > 0) {
    const std::string done(bar_width * done_ / count_, '=');
    const auto with_bar = fmt::format("[{:<{}}] {}", done, bar_width, text);
    if (with_bar.size() < context_.progress_columns) text = with_bar;
  }
  return text.substr(0, context_.progress_columns - 1);
}

/// "point 12 of 400, about 3 min left"
std::string Progress::words() const {
  const std::chrono::duration<double> taken = Clock::now() - began_;
  auto text = what_;
  if (count_ > 0) {
    text = fmt::format("{} {} of {}", what_, done_, count_);
  } else if (share_) {
    text += fmt::format(", {:.0f} % done", std::floor(100 * *share_));
  }
  if (share_ && *share_ >= least_share)
    return text + fmt::format(", about {} left", duration_text(taken.count() * (1 - *share_) / *share_));
  return taken < delay_of_first_line
             ? text
             : text + fmt::format(", for {}", duration_text(std::floor(taken.count())));
}

namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_interrupt(int) {
  noted = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptNote::InterruptNote() {
  noted = 0;
  std::signal(SIGINT, note_interrupt);
}

InterruptNote::~InterruptNote() {
  std::signal(SIGINT, SIG_DFL);
}

bool InterruptNote::is_interrupted() {
  return noted != 0;
}

}  // namespace gradway::cli
