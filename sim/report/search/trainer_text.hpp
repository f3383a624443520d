// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/dialects/dialect.hpp"
#include "sim/scenario/job.hpp"

namespace gradway::report {

/// The settings of a trainer that reproduce a job, by the trainer's dialect.
class TrainerText {
 public:
  TrainerText(const Dialect& dialect, const Job& job) : dialect_{dialect}, job_{job} {}

  // Settings of which code knows the value, by their names of today; texts are in quotes.
  void put(std::string_view setting, std::string value);
  void put(std::string_view setting, std::int64_t number);
  /// Puts the other settings: those whose value follows from the job by their rows. @return comments on
  /// values that the trainer lacks
  std::string put_rows();

  // The settings in the order of the dialect.
  std::string toml() const;
  std::string arguments() const;  ///< One or several that belong together on a line.
  std::string json() const;

 private:
  std::vector<std::pair<const TrainerSetting*, std::string>> in_order() const;

  const Dialect& dialect_;
  const Job& job_;
  std::map<std::string_view, std::string> values_{};
};

/// A text in quotes, as in TOML and JSON.
std::string in_quotes(std::string_view text);

/// The value of a key of `job`, `parallel` or `strategy` as a scenario writes it, such as "parallel.tensor".
/// "" if it is the default, and for keys that no table of fields has a member for, except "strategy.kind".
std::string setting_text(const Job& job, std::string_view key);

}  // namespace gradway::report
