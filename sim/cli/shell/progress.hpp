// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "sim/base/progress.hpp"
#include "sim/cli/shell/command_context.hpp"
#include "sim/platform/platform.hpp"

namespace gradway::cli {

/// Says on standard error, before it begins, what a simulation of very many GPUs takes: folded ranks cost
/// nothing, but each part and link of the platform does.
void announce_large_platform(const CommandContext& context, const Platform& platform);

/// A line on the terminal that says what long work is at and how long it will be; silent elsewhere, and for
/// the first second. Can be told from several threads; is gone when it goes out of scope.
class Progress {
 public:
  /// Of work that has parts to count: "point 12 of 400" with a bar.
  Progress(const CommandContext& context, std::string what, std::size_t count);
  /// Where standard error is no terminal: nothing, or for work of minutes a line now and then.
  enum class Elsewhere { silent, lines };
  /// Of one piece of work, told by `watch`.
  explicit Progress(const CommandContext& context, Elsewhere elsewhere = Elsewhere::silent);
  ~Progress();
  Progress(const Progress&) = delete;

  /// One part more is done.
  void step();
  /// Valid as long as this.
  ProgressCallback callback();

 private:
  using Clock = std::chrono::steady_clock;

  void keep_painting(const std::stop_token& stop);
  std::string line() const;
  std::string words() const;

  bool is_terminal() const { return context_.progress_columns > 0; }

  const CommandContext& context_;
  Elsewhere elsewhere_ = Elsewhere::silent;
  std::string what_;
  std::size_t count_ = 0;
  std::size_t done_ = 0;
  std::optional<double> share_;
  Clock::time_point began_ = Clock::now();  ///< what it is at
  bool painted_ = false;
  std::mutex mutex_;
  std::condition_variable_any ends_;
  std::jthread painter_;
};

}  // namespace gradway::cli
