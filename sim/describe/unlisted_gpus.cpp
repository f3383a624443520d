// SPDX-License-Identifier: Apache-2.0
#include "sim/describe/drafted_platform.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/files/text_file.hpp"

namespace gradway {
namespace {

using Kind = NcclPci::Kind;

void visit(std::vector<NcclPci>& devices, const std::function<void(NcclPci&)>& action) {
  for (auto& device : devices) {
    action(device);
    visit(device.children, action);
  }
}

void visit(NcclTopology& topology, const std::function<void(NcclPci&)>& action) {
  for (auto& cpu : topology.cpus) visit(cpu.devices, action);
}

int count(NcclTopology& topology, Kind kind) {
  int number = 0;
  visit(topology, [&](const NcclPci& device) { number += device.kind == kind ? 1 : 0; });
  return number;
}

/// The lists of devices that may contain a GPU: of the lowest switches, or of the CPUs if there are no
/// switches.
std::vector<std::vector<NcclPci>*> places(NcclTopology& topology) {
  std::vector<std::vector<NcclPci>*> lists;
  visit(topology, [&](NcclPci& device) {
    const auto is_switch = [](const NcclPci& child) { return !child.children.empty(); };
    if (!device.children.empty() && std::ranges::none_of(device.children, is_switch))
      lists.push_back(&device.children);
  });
  if (!lists.empty()) return lists;
  for (auto& cpu : topology.cpus) lists.push_back(&cpu.devices);
  return lists;
}

void check_count(NcclTopology& topology, int named, std::optional<int> gpus) {
  if (!gpus || *gpus == named) return;
  refuse_at(topology.where,
            fmt::format("the file contains {} GPUs instead of the {} of '--gpus'", named, *gpus),
            "remove '--gpus'");
}

void name(NcclTopology& topology, Kind kind) {
  visit(topology, [&](NcclPci& device) {
    if (device.kind == Kind::unnamed) device.kind = kind;
  });
}

}  // namespace

std::vector<std::string> find_unlisted_gpus(NcclTopology& topology, std::optional<int> gpus) {
  const auto named = count(topology, Kind::gpu);
  const auto unnamed = count(topology, Kind::unnamed);
  if (named > 0) {
    check_count(topology, named, gpus);
    name(topology, Kind::other);
    if (unnamed == 0) return {};
    return {fmt::format("{} devices of the file are of unknown kind and ignored", unnamed)};
  }
  const auto lists = places(topology);
  const auto on_switches = !topology.cpus.empty() && lists.front() != &topology.cpus.front().devices;
  const auto* const where = on_switches ? "switches" : "CPUs";
  if (!gpus) {
    refuse_at(topology.where, "the file does not state which of its devices are GPUs",
              fmt::format("give their number with --gpus N: the same number on each of its {} {}",
                          lists.size(), where));
  }
  if (*gpus == unnamed) {
    name(topology, Kind::gpu);
    return {
        fmt::format("the file does not state what its devices are: all {} are assumed to be GPUs", *gpus)};
  }
  const auto places_count = static_cast<int>(lists.size());
  if (*gpus % places_count != 0) {
    refuse_at(topology.where, fmt::format("{} GPUs are not divisible by {} {}", *gpus, places_count, where),
              "add the GPUs to the file as <pci busid=\"...\" class=\"0x030200\"/>");
  }
  const auto share = *gpus / places_count;
  int added = 0;
  for (auto* const list : lists) {
    int missing = share;
    for (auto& device : *list) {
      if (on_switches || missing == 0 || device.kind != Kind::unnamed) continue;
      device.kind = Kind::gpu;
      --missing;
    }
    for (; missing > 0; --missing) {
      NcclPci gpu;
      gpu.kind = Kind::gpu;
      gpu.bus = fmt::format("{}-unlisted-{:06}", list->empty() ? "" : list->front().bus, added++);
      gpu.where = topology.where;
      list->push_back(gpu);
    }
  }
  name(topology, Kind::nic);
  return {
      fmt::format("the file does not list GPUs: {} {} each of its {} {}, and its other devices to be NICs",
                  share, share == 1 ? "is assumed to be on" : "are assumed to be on", places_count, where)};
}

}  // namespace gradway
