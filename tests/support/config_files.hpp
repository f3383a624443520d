// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "sim/base/problem.hpp"

namespace gradway::test {

/// Changes the working directory during its lifetime, so that files are named as a user would name them.
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

/// A directory that is removed when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gradway-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder for temporary files"};
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream{path_ / name} << text;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The message of the ConfigError that `load` throws; "" if it throws none.
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
