// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <vector>

#include "cli/shell/program_digest.hpp"
#include "sim/base/digest.hpp"

namespace gradway::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> data_files(const fs::path& root) {
  constexpr std::array folders{"calibration/results", "models", "platforms", "scenarios"};
  std::vector<fs::path> files;
  for (const auto* folder : folders) {
    std::error_code error;
    for (fs::recursive_directory_iterator file{root / folder, error}, end; !error && file != end;
         file.increment(error)) {
      if (file->path().extension() == ".yaml") files.push_back(file->path().lexically_relative(root));
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string content_of(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) return {};
  std::string content(size, '\0');
  std::ifstream stream;
  stream.rdbuf()->pubsetbuf(nullptr, 0);  // it is read at once
  stream.open(file, std::ios::binary);
  stream.read(content.data(), static_cast<std::streamsize>(size));
  content.resize(static_cast<std::size_t>(stream.gcount()));
  return content;
}

}  // namespace

std::string data_digest(const DataPath& data) {
  Digest digest;
  const auto& root = data.roots.back();
  for (const auto& file : data_files(root)) {
    digest.add(file.generic_string());
    digest.add_in_words(content_of(root / file));
  }
  return digest.hex();
}

}  // namespace gradway::cli
