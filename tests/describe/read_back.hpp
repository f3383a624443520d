// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "sim/config/config.hpp"
#include "sim/platform/routes.hpp"

namespace gradway::test {

/// A platform after writing and reading, with its links by name in GB/s.
class ReadBack {
 public:
  explicit ReadBack(const std::string& yaml) {
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("gradway-platform-{}.yaml", getpid());
    std::ofstream{file} << yaml;
    platform_ = load_platform(file.string(), 1, DataPath{{GRADWAY_SOURCE_DIR}});
    std::filesystem::remove(file);
    for (const auto& link : platform_.links)
      rates_[platform_.name_of(link.resource)] = platform_.resources[link.resource.index()].capacity / 1e9;
  }

  double rate(const std::string& link) const { return rates_.at(link); }
  std::size_t links() const { return rates_.size(); }
  double memory(const std::string& socket) const {
    for (std::size_t i = 0; i < platform_.resources.size(); ++i) {
      if (platform_.name_of(ResourceId{i}) == socket + " memory")
        return platform_.resources[i].capacity / 1e9;
    }
    return 0;
  }
  /// A cell of the matrix that gradway shows; NICs follow the GPUs.
  std::string cell(std::size_t one, std::size_t other) const {
    const Routes routes{platform_};
    const auto a = device(one);
    const auto b = device(other);
    return topo_label(routes.path_type(a, b), routes.nvlinks(a, b));
  }
  const Platform& platform() const { return platform_; }

 private:
  DeviceId device(std::size_t number) const {
    if (number < platform_.gpus.size()) return platform_.gpus[number];
    return Routes{platform_}.on_node(0, DeviceKind::nic).at(number - platform_.gpus.size());
  }

  Platform platform_;
  std::map<std::string, double> rates_;
};

}  // namespace gradway::test
