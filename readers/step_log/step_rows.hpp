// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/rows.hpp"
#include "sim/base/units.hpp"

namespace gradway {

/// A row of the table of formats: what a number beside a name says of the time of a step.
struct StepFormat {
  enum class Counts { time, total, steps, samples, tokens };
  std::string name;  ///< in lower case
  Counts counts = Counts::time;
  std::optional<Seconds> unit;  ///< of numbers without one
  bool needs_unit = false;
  bool is_before = false;  ///< the number stands before the name
  bool is_per_gpu = false;
  bool is_key = false;  ///< named by the user: the whole name of a value
  std::string with;     ///< a word that the line must have; empty: none

  bool is_rate() const { return counts >= Counts::steps; }
  bool needs_batch() const { return counts > Counts::steps; }
};

/// A number beside a name, and its unit if the line has one.
struct StepNumber {
  double value = 0;
  std::optional<Seconds> unit;
};

/// The table, in order. @param own rows of the user, which come first
/// @throws ConfigError if one of them is no row
std::vector<StepFormat> step_formats(const std::vector<std::string>& own);

/// Rows of the table of another kind.
std::vector<TextRow> step_rows(std::string_view kind);

/// The number at the beginning of a text, which is removed with it: "7,123", "2.31K". Words are none.
std::optional<double> take_number(std::string_view& text);

/// A unit of time at the beginning of a text, not as a part of a word.
std::optional<Seconds> unit_at(std::string_view text);
/// The unit in which the name of a value ends: "step_time_ms", "step_time_seconds".
std::optional<Seconds> unit_in_name(std::string_view name);

/// The number that a format finds in a line. @param text in lower case
std::optional<StepNumber> number_of(const StepFormat& format, std::string_view text);
/// The number after a word, at most a unit in brackets and some punctuation away.
/// @param is_whole the word is not the end of a longer name: "time" is not in "data_time"
std::optional<StepNumber> number_behind(std::string_view text, std::string_view word, bool is_whole = false);

/// Whether a column or key has what a format names: its whole name, the last part of a path, or the name of a
/// run and " - " before it.
bool names_value(const StepFormat& format, std::string_view name);

}  // namespace gradway
