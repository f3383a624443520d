// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/platform/data_paths.hpp"
#include "sim/platform/with_speeds.hpp"
#include "tests/support/builders.hpp"

using namespace gradway;
using namespace gradway::test;

namespace {

SpeedFactors all_different() {
  SpeedFactors speeds;
  double factor = 2;
  for (const auto part : all_parts) speeds[part] = factor++;
  return speeds;
}

const Resource& resource(const Platform& platform, const std::string& name) {
  for (std::size_t i = 0; i < platform.resources.size(); ++i)
    if (platform.name_of(ResourceId{i}) == name) return platform.resources[i];
  throw std::runtime_error{name};
}

}  // namespace

TEST_CASE(
    "links and memories get the speed factor of their part, a NIC's link to its slot that of the network") {
  const auto built = built_platform(nvswitch_node(2), 2, star_fabric());
  const auto speeds = all_different();
  const auto faster = with_speeds(built, speeds);
  const auto times = [&](const std::string& name) {
    return resource(faster, name).rate() / resource(built, name).rate();
  };
  CHECK(times("node0.cpu0 memory") == speeds[HardwarePart::host_memory]);
  CHECK(times("node0.gpu0 -> node0.plx0") == speeds[HardwarePart::pcie]);
  CHECK(times("node1.nvswitch -> node1.gpu1") == speeds[HardwarePart::nvlink]);
  CHECK(times("node1.nic0 -> fabric") == speeds[HardwarePart::network]);
  CHECK(times("node1.plx1 -> node1.nic1") == speeds[HardwarePart::network]);
  CHECK(times("node0.gpu0") == 1);
  const auto tree = with_speeds(built_platform(tree_node()), speeds);
  CHECK(resource(tree, "cpu1 -> cpu0").rate() == 20e9 * speeds[HardwarePart::inter_socket]);
}

TEST_CASE("new speed factors replace earlier ones, and capacities stay as built") {
  const auto built = built_platform(nvswitch_node(2), 2, star_fabric());
  auto twice = with_speeds(with_speeds(built, all_different()), all_different());
  CHECK(twice.speeds == all_different());
  for (std::size_t i = 0; i < built.resources.size(); ++i) {
    CHECK(twice.resources[i].rate() == with_speeds(built, all_different()).resources[i].rate());
    CHECK(twice.resources[i].capacity == built.resources[i].capacity);
  }
  twice = with_speeds(std::move(twice), {});
  CHECK(twice.speeds.as_built());
  for (std::size_t i = 0; i < built.resources.size(); ++i)
    CHECK(twice.resources[i].rate() == built.resources[i].capacity);
}

TEST_CASE("only speed factors other than 1 are named") {
  SpeedFactors speeds;
  CHECK(speeds.as_built());
  speeds[HardwarePart::host_memory] = 2;
  CHECK(in_words(speeds) == "host memory 2 times as fast");
  speeds[HardwarePart::gpu] = 0.5;
  CHECK(in_words(speeds) == "GPU kernels 0.5 times, host memory 2 times as fast");
  speeds[HardwarePart::nvlink] = 0;
  CHECK(in_words(speeds) == "no NVLink, GPU kernels 0.5 times, host memory 2 times as fast");
  CHECK(key_of(HardwarePart::inter_socket) == "inter_socket");
}
