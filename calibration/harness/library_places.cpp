// SPDX-License-Identifier: Apache-2.0
#include "calibration/harness/library_places.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gradway::probe {
namespace {

namespace files = std::filesystem;
using Folders = std::vector<files::path>;

constexpr std::array homes{"NCCL_HOME", "CUDNN_HOME",  "CUDA_HOME",
                           "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"};

/// Contents of a folder, sorted by name; empty if it cannot be read.
Folders content(const files::path& folder) {
  Folders found;
  std::error_code error;
  for (files::directory_iterator at{folder, error}; !error && at != files::directory_iterator{};
       at.increment(error))
    found.push_back(at->path());
  std::ranges::sort(found);
  return found;
}

/// Package folders of a Python environment.
Folders packages_of(const files::path& environment) {
  Folders found;
  for (const auto& python : content(environment / "lib")) {
    if (!python.filename().string().starts_with("python3")) continue;
    found.push_back(python / "site-packages");
    found.push_back(python / "dist-packages");
  }
  return found;
}

Folders folders_below(const files::path& root) {
  Folders folders{root, root / "lib", root / "lib64"};
  Folders packages = packages_of(root);
  packages.push_back(root);
  for (const auto& place : packages) {
    // Each package of NVIDIA has its own folder: nvidia/nccl/lib, nvidia/cu13/lib.
    for (const auto& package : content(place / "nvidia")) folders.push_back(package / "lib");
  }
  return folders;
}

/// The environment of the Python that a shell would start: the parent of its bin folder.
Folders python_in(std::string_view path) {
  std::error_code error;
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    const files::path folder{path.substr(0, end)};
    if (!folder.empty() && files::exists(folder / "python3", error)) return {folder.parent_path()};
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

}  // namespace

std::vector<std::string> library_places(const std::vector<std::string>& names, const Folders& named,
                                        const std::function<const char*(const char*)>& variable) {
  std::vector<std::string> places;
  const auto look_below = [&](const files::path& root) {
    std::error_code error;
    const auto folders = folders_below(root);
    for (const auto& name : names) {
      for (const auto& folder : folders) {
        if (files::exists(folder / name, error)) places.push_back((folder / name).string());
      }
    }
  };
  std::ranges::for_each(named, look_below);
  for (const auto* home : homes) {
    if (const auto* folder = variable(home); folder != nullptr && *folder != '\0') look_below(folder);
  }
  places.insert(places.end(), names.begin(), names.end());
  look_below("/usr/local/cuda");
  if (const auto* path = variable("PATH")) std::ranges::for_each(python_in(path), look_below);
  return places;
}

}  // namespace gradway::probe
