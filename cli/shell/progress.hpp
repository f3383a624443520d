// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/shell/command_context.hpp"
#include "sim/base/progress.hpp"
#include "sim/platform/platform.hpp"

#pragma once

namespace gradway::cli {

/// Announces on standard error the time and memory of a simulation of very many GPUs. Folded ranks cost
/// nothing, but each part and link of the platform does.
void announce_large_platform(const CommandContext& context, const Platform& platform);

/// A line on the terminal with the progress and the remaining time of long work. It appears after a second
/// and is erased by the destructor. The same words go to the context's `on_progress`, if it has one.
/// Thread-safe.
class Progress {
 public:
  /// If there is neither a terminal nor `on_progress`: no output, or a line every 5 seconds.
  enum class WithoutTerminal { silent, lines };
  /// For work with parts to count: "point 12 of 400" with a bar.
  Progress(const CommandContext& context, std::string noun, std::size_t count,
           WithoutTerminal without_terminal = WithoutTerminal::silent);
  /// For work that reports its progress to `callback()`.
  explicit Progress(const CommandContext& context,
                    WithoutTerminal without_terminal = WithoutTerminal::silent);
  ~Progress();
  Progress(const Progress&) = delete;

  /// Counts one more part as done.
  void step();
  /// Valid as long as this object.
  ProgressCallback callback();

 private:
  using Clock = std::chrono::steady_clock;

  void paint_until_stopped(const std::stop_token& stop);
  std::string line() const;
  std::string words() const;

  bool is_terminal() const { return context_.progress_columns > 0; }
  /// Whether somebody watches all the time.
  bool is_watched() const { return is_terminal() || context_.on_progress; }

  const CommandContext& context_;
  WithoutTerminal without_terminal_ = WithoutTerminal::silent;
  std::string what_;
  std::size_t count_ = 0;
  std::size_t done_ = 0;
  std::optional<double> share_;
  Clock::time_point began_ = Clock::now();  ///< start of the current work
  bool painted_ = false;
  std::mutex mutex_;
  std::condition_variable_any ends_;
  std::jthread painter_;
};

/// While it lives, the first interrupt (Ctrl-C, SIGINT) is noted, so that long work can end with what it has.
/// The second ends the program.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  static bool is_interrupted();
};

}  // namespace gradway::cli
