// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/speeds.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gradway {
namespace {

struct PartNames {
  std::string_view key;
  std::string_view words;
};

// In the order of the enum.
constexpr std::array<PartNames, all_parts.size()> names{{{"gpu", "GPU kernels"},
                                                         {"cpu", "CPU launches"},
                                                         {"host_memory", "host memory"},
                                                         {"pcie", "PCIe"},
                                                         {"nvlink", "NVLink"},
                                                         {"inter_socket", "links between sockets"},
                                                         {"network", "network"}}};

}  // namespace

std::string_view key_of(HardwarePart part) {
  return names[static_cast<std::size_t>(part)].key;
}

std::string_view in_words(HardwarePart part) {
  return names[static_cast<std::size_t>(part)].words;
}

std::string in_words(const SpeedFactors& speeds) {
  std::vector<std::string> changed;
  for (const auto part : all_parts)
    if (speeds[part] != 1 && speeds[part] != 0)
      changed.push_back(fmt::format("{} {:.6g} times", in_words(part), speeds[part]));
  std::vector<std::string> words;
  if (speeds[HardwarePart::nvlink] == 0) words.emplace_back("no NVLink");
  if (!changed.empty()) words.push_back(fmt::format("{} as fast", fmt::join(changed, ", ")));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace gradway
