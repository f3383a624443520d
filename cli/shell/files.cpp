// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ext/stdio_filebuf.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& why) {
  refuse(fmt::format("cannot write to '{}': {}", folder.string(), why), "choose another place for --out");
}

/// 64 unpredictable bits as hexadecimal digits.
std::string random_suffix() {
  std::random_device bits;
  return fmt::format("{:08x}{:08x}", bits(), bits());
}

constexpr std::size_t digits = 16;  ///< of `random_suffix`

/// ".sweep.json.0123456789abcdef"
std::string temporary_name(const std::string& name) {
  return fmt::format(".{}.{}", name, random_suffix());
}

bool is_temporary_name(const std::string& name) {
  if (name.size() < digits + 3 || name.front() != '.' || name[name.size() - digits - 1] != '.') return false;
  return std::all_of(name.end() - digits, name.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// A lock on an open file, which shows other processes that its writer is running.
class Lock {
 public:
  explicit Lock(int file) : file_{::dup(file)} { ::flock(file_, LOCK_EX); }
  Lock(Lock&& other) noexcept : file_{std::exchange(other.file_, -1)} {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

/// A file that did not exist before. Symbolic links with its name are not followed.
class NewFile {
  using Buffer = __gnu_cxx::stdio_filebuf<char>;

 public:
  NewFile(const fs::path& path, std::vector<Lock>& locks) {
    // Another process may remove the file as abandoned before it is locked: then the file is created again.
    for (int attempt = 0; attempt < 3; ++attempt) {
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      if (file < 0) return;
      Lock lock{file};
      struct stat state {};
      if (::fstat(file, &state) == 0 && state.st_nlink > 0) {
        locks.push_back(std::move(lock));
        buffer_ = Buffer{file, std::ios::out | std::ios::binary};
        return;
      }
      ::close(file);
    }
  }

  bool is_open() const { return buffer_.is_open(); }

  /// @return false if the file could not be written completely; errno has the reason
  bool write(const std::function<void(std::ostream&)>& content) {
    if (!is_open()) return false;
    std::ostream out{&buffer_};
    content(out);
    return out.flush() && buffer_.close() != nullptr;
  }

 private:
  Buffer buffer_;
};

/// Writes files under temporary names and renames them when all are complete. Otherwise the destructor
/// removes them.
class FileTransaction {
 public:
  explicit FileTransaction(const fs::path& folder) : folder_{folder} { make(folder); }
  ~FileTransaction() {
    std::error_code ignored;
    for (const auto& [from, to] : names_) fs::remove(from, ignored);
    for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
      fs::remove(*folder, ignored);  // only if empty
  }
  FileTransaction(const FileTransaction&) = delete;

  void add(const OutputFile& file) {
    const auto place = folder_ / file.name;
    make(place.parent_path());
    const auto path = place.parent_path() / temporary_name(place.filename().string());
    errno = 0;
    NewFile target{path, locks_};
    if (target.is_open()) names_.emplace_back(path, place);
    if (!target.write(file.write))
      refuse_folder(folder_, errno == 0 ? "the file is incomplete" : std::strerror(errno));
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
  std::vector<Lock> locks_;  ///< held until all files are renamed
  std::vector<fs::path> made_;
  std::vector<std::pair<fs::path, fs::path>> names_;
};

/// Removes a file unless a process has locked it. The file is locked while it is removed, so that no writer
/// can start to use it.
void remove_if_abandoned(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(path, ignored))) return;
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) fs::remove(path, ignored);
  ::close(file);
}

}  // namespace

void remove_abandoned_files(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator file{folder, error}, end; !error && file != end; file.increment(error)) {
    if (is_temporary_name(file->path().filename().string())) remove_if_abandoned(file->path());
  }
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

void check_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    refuse(fmt::format("'--out {}' is a file, not a folder", folder.string()),
           "choose another name, or move the file");
  }
}

void write_files(const fs::path& folder, const std::vector<OutputFile>& files) {
  check_folder(folder);
  FileTransaction unfinished{folder};
  for (const auto& file : files) unfinished.add(file);
  unfinished.finish();
}

void check_file(const fs::path& file, bool replaces) {
  std::error_code error;
  if (!file.has_filename())
    refuse(fmt::format("'--out {}' does not have a file name", file.string()), "add a file name");
  if (fs::is_directory(file, error)) {
    refuse(fmt::format("'--out {}' is a folder", file.string()),
           fmt::format("write '--out {}'", (file / "calibration.yaml").string()));
  }
  if (fs::exists(file, error) && !replaces)
    refuse(fmt::format("'{}' already exists", file.string()),
           "choose another name, or give --force to replace it");
}

void check_yaml(const fs::path& file, bool replaces, const std::string& contents) {
  if (file.extension() != ".yaml" && file.extension() != ".yml") {
    refuse(fmt::format("'--out {}' does not end in .yaml", file.string()),
           fmt::format("{} are YAML files", contents));
  }
  check_file(file, replaces);
}

void write_with_model(const std::filesystem::path& scenario_file, const std::string& scenario,
                      const std::filesystem::path& model_file, const std::string& model) {
  const auto put = [](const std::string& text) { return [&text](std::ostream& stream) { stream << text; }; };
  write_files(scenario_file.has_parent_path() ? scenario_file.parent_path() : std::filesystem::path{"."},
              {{"models/" + model_file.filename().string(), put(model)},
               {scenario_file.filename().string(), put(scenario)}});
}

void write_file(const fs::path& file, bool replaces, const std::function<void(std::ostream&)>& write) {
  check_file(file, replaces);
  const auto folder = file.has_parent_path() ? file.parent_path() : fs::path{"."};
  remove_abandoned_files(folder);
  FileTransaction unfinished{folder};
  unfinished.add({file.filename().string(), write});
  unfinished.finish();
}

}  // namespace gradway::cli
