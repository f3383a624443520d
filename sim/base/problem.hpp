// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradway {

/// A place in what the user wrote. Line and column count from 1; 0 means "the file as a whole".
struct Where {
  std::string file;  ///< as the user named it, or "--set" for an override
  int line = 0;
  int column = 0;
  int length = 0;    ///< characters to underline; 0 for one
  std::string text;  ///< the line itself, for the picture under the message; may be empty

  bool operator==(const Where&) const = default;
};

/// What a problem clashes with: another place and what stands there.
struct Note {
  Where where;
  std::string what;
};

/// One thing that is wrong with the user's input, as data: what is wrong (with the value), what it clashes
/// with, what to do. Lower case, no full stop, names in single quotes.
struct Problem {
  Where where;
  std::string what;
  std::vector<Note> notes;
  std::string hint;  ///< empty if there is nothing to suggest
};

/// Renders a problem the way a compiler does: place, message, the line with a caret, notes, hint.
std::string to_text(const Problem& problem);

/// The user's input is wrong; carries every problem found. Exit status 2. Texts of problems are made fit to
/// be shown: values of megabytes are cut in their middle, control characters escaped.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Problem> problems);
  explicit ConfigError(Problem problem) : ConfigError{std::vector<Problem>{std::move(problem)}} {}
  const std::vector<Problem>& problems() const { return *problems_; }

 private:
  explicit ConfigError(std::shared_ptr<const std::vector<Problem>> problems);

  std::shared_ptr<const std::vector<Problem>> problems_;
};

/// The simulation could not finish (ops that wait for each other, an engine that died). Exit status 3.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gradway
