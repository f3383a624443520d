// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace gradway::probe {

/// How far a run is and how long it will take: estimates of the jobs to come, corrected by how the jobs so
/// far kept to theirs.
class Forecast {
 public:
  explicit Forecast(std::vector<Seconds> estimates) : estimates_{std::move(estimates)} {}

  /// @param job the one that runs; those before it are done
  /// @param part of it that is done, 0 to 1
  /// @param elapsed since the run began
  Seconds left(std::size_t job, double part, Seconds elapsed) const;

 private:
  std::vector<Seconds> estimates_;
};

/// "3 min 20 s", "45 s"
std::string minutes_text(Seconds time);

/// Tells a person how far the run is: on a terminal in one line that is written anew, else a line a job.
class Progress {
 public:
  Progress(std::ostream& out, bool terminal, Forecast forecast, std::size_t jobs);
  ~Progress();
  void begin(std::size_t job, const std::string& name);
  void done(double part);
  /// Writes a line of its own, above the progress.
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
