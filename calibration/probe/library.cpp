// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/library.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include "calibration/harness/library_places.hpp"

namespace gradway::probe {
namespace {

std::vector<std::filesystem::path>& named_folders() {
  static std::vector<std::filesystem::path> folders;
  return folders;
}

std::string file_of(void* handle) {
  const link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

}  // namespace

Library::Library(const Description& description) {
  std::string broken;
  for (const auto& place : library_places(description.names, named_folders(), std::getenv)) {
    handle_ = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      file_ = file_of(handle_);
      return;
    }
    // An existing file may fail to load because of another library, which is then missing.
    if (const std::string why = dlerror(); place.find('/') != std::string::npos && broken.empty())
      broken = fmt::format(" ({})", why);
  }
  throw Refusal{
      fmt::format("{} was not found{}: install {}, or give the folder of {} with --libraries DIR, such as "
                  "the site-packages of PyTorch",
                  description.what, broken, description.package, fmt::join(description.names, " or "))};
}

void Library::look_below(std::vector<std::filesystem::path> folders) {
  named_folders() = std::move(folders);
}

int cuda_of_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 0;
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  return get_version != nullptr && get_version(&version) == 0 ? version : 0;
}

std::string library_version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace gradway::probe
