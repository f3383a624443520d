// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/digest.hpp"
#include "sim/base/problem.hpp"
#include "sim/config/yaml/file_state.hpp"
#include "sim/scenario/scenario_warnings.hpp"

namespace gradway::config {

/// What there is to say of what was read. Collects what is wrong so that reading can go on (thrown as one
/// ConfigError at the end), a digest of every text that was read,
/// and the files that had them.
class Problems {
 public:
  void add(Problem problem) { list_.push_back(std::move(problem)); }
  void add(const ConfigError& error);
  /// All that another reading told.
  void add(const Problems& others);
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }

  /// What `read` gives, or an empty value if it throws ConfigError, whose problems are kept.
  template <class Read>
  auto attempt(const Read& read) -> std::invoke_result_t<Read> {
    try {
      return read();
    } catch (const ConfigError& error) {
      add(error);
    }
    return std::invoke_result_t<Read>();
  }

  /// Adds a warning, once.
  void warn(ScenarioWarning warning);
  const std::vector<ScenarioWarning>& warnings() const { return warnings_; }

  void saw(std::string_view text);
  Digest seen() const;

  void opened(FileState file) { files_.push_back(std::move(file)); }
  const std::vector<FileState>& files() const { return files_; }

  /// Throws what was collected, if anything: file by file as they were met, each in the order of its lines.
  void raise() const;

 private:
  std::vector<Problem> list_;
  std::vector<ScenarioWarning> warnings_;
  std::vector<Digest> seen_;  ///< of each text, so that a text that is read once counts its bytes once
  std::vector<FileState> files_;
};

/// Throws one problem.
[[noreturn]] void fail(const Where& where, std::string what, std::string hint = "");
[[noreturn]] void fail(const Where& where, std::string what, std::vector<Note> notes, std::string hint);

}  // namespace gradway::config
