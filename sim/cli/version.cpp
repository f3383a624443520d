// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/version.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

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

}  // namespace

std::string data_digest(const DataPath& data) {
  Digest digest;
  const auto& root = data.roots.back();
  for (const auto& file : data_files(root)) {
    std::ifstream stream{root / file, std::ios::binary};
    digest.add(file.generic_string());
    digest.add(std::string{std::istreambuf_iterator<char>{stream}, {}});
  }
  return digest.hex();
}

}  // namespace gradway::cli
