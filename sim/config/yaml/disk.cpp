// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/disk.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <system_error>

#include "sim/base/open_file.hpp"

namespace gradway::config {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds coarsest_time{2};  // coarsest time stamp of a file system (FAT)

}  // namespace

bool is_file(const fs::path& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_directory(status);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_same_file(const fs::path& first, const fs::path& second) {
  std::error_code ignored;
  return fs::equivalent(first, second, ignored);
}

std::vector<fs::path> files_below(const fs::path& folder, int most_depth) {
  std::vector<fs::path> files;
  std::error_code error;
  auto file = fs::recursive_directory_iterator{folder, fs::directory_options::skip_permission_denied, error};
  for (; !error && file != fs::recursive_directory_iterator{}; file.increment(error)) {
    if (file.depth() > most_depth) file.pop(error);
    if (error || file == fs::recursive_directory_iterator{}) break;
    if (is_file(file->path())) files.push_back(file->path());
  }
  return files;
}

std::optional<std::string> read_bytes(const fs::path& path, std::size_t most) {
  const int file = open_without_waiting(path);
  if (file < 0) return std::nullopt;
  std::string content;
  std::array<char, 16384> block{};
  for (ssize_t count = 1; count > 0 && content.size() <= most;) {
    count = ::read(file, block.data(), block.size());
    if (count > 0) content.append(block.data(), static_cast<std::size_t>(count));
  }
  ::close(file);
  return content;
}

FileState state_of(const fs::path& path) {
  FileState state{path};
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  if (!missing) state.size = size;
  const auto written = fs::last_write_time(path, missing);
  if (!missing) state.written = written;
  return state;
}

bool is_fresh(const FileState& file) {
  return fs::file_time_type::clock::now() - file.written <= coarsest_time;
}

}  // namespace gradway::config
