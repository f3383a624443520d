// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradway {

/// A part of the hardware that can be imagined faster than it is.
enum class Part : std::uint8_t { gpu, cpu, host_memory, pcie, nvlink, inter_socket, network };

inline constexpr std::array all_parts{Part::gpu,    Part::cpu,          Part::host_memory, Part::pcie,
                                      Part::nvlink, Part::inter_socket, Part::network};

/// What-if: how many times as fast each part is as the platform's own, 1 for as it is.
///
/// gpu: kernels (not the pauses between them). cpu: launches and what else the framework does on the CPU.
/// host_memory: the memory of sockets, copies from pageable memory, and NCCL's copies through it (SHM). pcie:
/// links of PCIe, and NCCL's P2P over them. nvlink: links of NVLink, NCCL's P2P over them, and NVLS.
/// inter_socket: links between sockets. network: its links, NICs with the links to their slots, connections,
/// and NCCL's NET. Latencies stay as they are; a measured collective keeps its latency, and the rest of its
/// time is divided.
class Speeds {
 public:
  double& operator[](Part part) { return times_[static_cast<std::size_t>(part)]; }
  double operator[](Part part) const { return times_[static_cast<std::size_t>(part)]; }
  bool operator==(const Speeds&) const = default;
  /// All parts are as they are.
  bool as_built() const { return *this == Speeds{}; }

 private:
  std::array<double, all_parts.size()> times_{1, 1, 1, 1, 1, 1, 1};
};

/// "host_memory", as the key of a scenario.
std::string_view key_of(Part part);
/// "host memory"
std::string_view in_words(Part part);
/// "host memory 2 times, NVLink 4 times as fast"; only those that are not as built. @pre one is not
std::string in_words(const Speeds& speeds);

}  // namespace gradway
