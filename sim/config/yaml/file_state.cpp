// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml/file_state.hpp"

#include <chrono>
#include <system_error>

namespace gradway::config {
namespace {

constexpr std::chrono::seconds coarsest_time{2};  // coarsest time stamp of a file system (FAT)

}  // namespace

FileState state_of(const std::filesystem::path& path) {
  FileState state{path};
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  if (!missing) state.size = size;
  const auto written = std::filesystem::last_write_time(path, missing);
  if (!missing) state.written = written;
  return state;
}

bool is_fresh(const FileState& file) {
  return std::filesystem::file_time_type::clock::now() - file.written <= coarsest_time;
}

}  // namespace gradway::config
