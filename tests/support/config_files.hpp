// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "sim/base/problem.hpp"

namespace gradway::test {

/// Makes a folder the working folder while it lives, so that files can be named as a user would name them.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::filesystem::path& folder) : before_{std::filesystem::current_path()} {
    std::filesystem::current_path(folder);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

/// The message of the ConfigError that `load` throws, or "" if it throws none.
template <class Load>
std::string message_of(const Load& load) {
  try {
    static_cast<void>(load());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace gradway::test
