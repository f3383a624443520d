// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway::probe {

/// Forecast of the remaining time of a run: estimates of the remaining jobs, corrected by how long the
/// finished jobs took compared to theirs.
class Forecast {
 public:
  explicit Forecast(std::vector<Seconds> estimates) : estimates_{std::move(estimates)} {}

  /// @param job the running job; earlier ones are done
  /// @param part completed share of it, 0 to 1
  /// @param elapsed since the run began
  Seconds left(std::size_t job, double part, Seconds elapsed) const;

 private:
  std::vector<Seconds> estimates_;
};

/// Such as "3 min 20 s" or "45 s".
std::string minutes_text(Seconds time);

/// Shows the progress of a run: on a terminal in one line that is updated, otherwise one line per job.
class Progress {
 public:
  Progress(std::ostream& out, bool terminal, Forecast forecast, std::size_t jobs);
  ~Progress();
  void begin(std::size_t job, const std::string& name);
  void done(double part);
  /// Writes a separate line above the progress.
  void say(const std::string& line);

 private:
  void show(double part);

  std::ostream* out_;
  bool terminal_;
  Forecast forecast_;
  std::size_t jobs_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t job_ = 0;
  std::string name_;
};

}  // namespace gradway::probe
