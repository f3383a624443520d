// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/program_digest.hpp"
#include "sim/base/digest.hpp"
#include "sim/base/open_file.hpp"
#include "sim/config/config.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

/// Paths below the root, sorted. Texts, because paths are slow to compare.
std::vector<std::string> data_files(const fs::path& root) {
  constexpr std::array folders{"calibration/results", "models", "platforms", "scenarios"};
  std::vector<std::string> files;
  for (const std::string folder : folders) {
    const auto length = (root / folder).native().size();
    std::error_code error;
    for (fs::recursive_directory_iterator file{root / folder, error}, end; !error && file != end;
         file.increment(error)) {
      const auto& path = file->path().native();
      if (path.ends_with(".yaml")) files.push_back(folder + path.substr(length));
    }
  }
  std::ranges::sort(files);
  return files;
}

/// The content of a file; empty if it cannot be read. @param buffer of which it becomes a part
std::string_view content_of(const fs::path& path, std::vector<char>& buffer) {
  const int file = open_without_waiting(path);
  std::size_t size = 0;
  for (ssize_t count = file < 0 ? 0 : 1; count > 0; size += static_cast<std::size_t>(count)) {
    if (size == buffer.size()) buffer.resize(2 * size + (1 << 16));
    count = std::max<ssize_t>(0, ::read(file, buffer.data() + size, buffer.size() - size));
  }
  if (file >= 0) ::close(file);
  return {buffer.data(), size};
}

}  // namespace

std::string data_digest(const DataPath& data) {
  Digest digest;
  std::vector<char> buffer;
  const auto& root = data.roots.back();
  for (const auto& file : data_files(root)) {
    digest.add(file);
    digest.add_in_words(content_of(root / file, buffer));
  }
  return digest.hex();
}

}  // namespace gradway::cli
