// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "sim/cli/commands.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& why) {
  refuse(fmt::format("cannot write to '{}': {}", folder.string(), why),
         "give --out a place that can be written to");
}

/// Files under names of their own until all are complete. What is left when this goes away is removed.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& folder) : folder_{folder} { make(folder); }
  ~Unfinished() {
    std::error_code ignored;
    for (const auto& [from, to] : names_) fs::remove(from, ignored);
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
      fs::remove(*folder, ignored);  // only if empty
  }
  Unfinished(const Unfinished&) = delete;

  void add(const OutputFile& file) {
    const auto place = folder_ / file.name;
    make(place.parent_path());
    const auto path = place.parent_path() / fmt::format(".{}.{}", place.filename().string(), getpid());
    names_.emplace_back(path, place);
    errno = 0;
    std::ofstream out{path, std::ios::binary};
    if (out) file.write(out);
    out.close();
    if (!out) refuse_folder(folder_, errno == 0 ? "the file is not complete" : std::strerror(errno));
  }

  void finish() {
    for (const auto& [from, to] : names_) {
      std::error_code error;
      if (fs::is_directory(to, error)) refuse_folder(folder_, fmt::format("'{}' is a folder", to.string()));
    }
    for (const auto& [from, to] : names_) {
      std::error_code error;
      fs::rename(from, to, error);
      if (error) refuse_folder(folder_, error.message());
    }
    names_.clear();
    made_.clear();
  }

 private:
  void make(const fs::path& folder) {
    std::error_code error;
    if (fs::create_directories(folder, error)) made_.push_back(folder);
    if (error) refuse_folder(folder, error.message());
  }

  fs::path folder_;
  std::vector<fs::path> made_;
  std::vector<std::pair<fs::path, fs::path>> names_;
};

}  // namespace

void check_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty()) refuse("'--out' has an empty name", "give it a folder");
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    refuse(fmt::format("'--out {}' is a file, not a folder", folder.string()),
           "give another name, or move the file away");
  }
}

void write_files(const fs::path& folder, const std::vector<OutputFile>& files) {
  check_folder(folder);
  Unfinished unfinished{folder};
  for (const auto& file : files) unfinished.add(file);
  unfinished.finish();
}

void check_file(const fs::path& file, bool replaces) {
  std::error_code error;
  if (!file.has_filename())
    refuse(fmt::format("'--out {}' is no name of a file", file.string()), "add a name");
  if (fs::is_directory(file, error)) {
    refuse(fmt::format("'--out {}' is a folder", file.string()),
           fmt::format("write '--out {}'", (file / "calibration.yaml").string()));
  }
  if (fs::exists(file, error) && !replaces)
    refuse(fmt::format("'{}' is there already", file.string()),
           "give another name, or --force to replace it");
}

void check_yaml(const fs::path& file, bool replaces, const std::string& what) {
  if (file.extension() != ".yaml" && file.extension() != ".yml") {
    refuse(fmt::format("'--out {}' does not end in .yaml", file.string()),
           fmt::format("{} are YAML files", what));
  }
  check_file(file, replaces);
}

void write_file(const fs::path& file, bool replaces, const std::function<void(std::ostream&)>& write) {
  check_file(file, replaces);
  Unfinished unfinished{file.has_parent_path() ? file.parent_path() : fs::path{"."}};
  unfinished.add({file.filename().string(), write});
  unfinished.finish();
}

}  // namespace gradway::cli
