// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradway {

/// A place in the user's input. Lines and columns count from 1; 0 means the file as a whole.
struct Where {
  std::string file;  ///< as the user named it, or "--set" for an override
  int line = 0;
  int column = 0;
  int length = 0;    ///< characters to underline; 0 means one
  std::string text;  ///< the line itself, which is shown with a caret; may be empty

  bool operator==(const Where&) const = default;
};

/// Another place that a problem conflicts with, and what is written there.
struct Note {
  Where where;
  std::string what;
};

/// One error in the user's input, as data: what is wrong (with the value), what it conflicts with, and what
/// to do. Texts start in lower case and have no full stop; names are in single quotes.
struct Problem {
  Where where;
  std::string what;
  std::vector<Note> notes;
  std::string hint;  ///< may be empty
};

/// Formats a problem like a compiler: place, message, the line with a caret, notes, hint.
std::string to_text(const Problem& problem);

/// The user's input is wrong. Carries every problem found. Exit status 2. The constructor shortens long texts
/// and escapes control characters in them.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Problem> problems);
  explicit ConfigError(Problem problem) : ConfigError{std::vector<Problem>{std::move(problem)}} {}
  const std::vector<Problem>& problems() const { return *problems_; }

 private:
  explicit ConfigError(std::shared_ptr<const std::vector<Problem>> problems);

  std::shared_ptr<const std::vector<Problem>> problems_;
};

/// Refuses input at its place. @throws ConfigError with one problem
[[noreturn]] void refuse_at(Where where, std::string problem, std::string hint);
/// Refuses what has no place in a file, such as an argument. @throws ConfigError with one problem
[[noreturn]] void refuse(std::string problem, std::string hint);

/// The simulation could not finish, for example because of a deadlock or a crashed engine. Exit status 3.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gradway
