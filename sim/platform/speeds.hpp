// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradway {

/// A part of the hardware whose speed a what-if run can change.
enum class HardwarePart : std::uint8_t { gpu, cpu, host_memory, pcie, nvlink, inter_socket, network };

inline constexpr std::array all_parts{HardwarePart::gpu,    HardwarePart::cpu,    HardwarePart::host_memory,
                                      HardwarePart::pcie,   HardwarePart::nvlink, HardwarePart::inter_socket,
                                      HardwarePart::network};

/// What-if factors on the speed of each part. 1: as built; NVLink 0: there is none.
///
/// gpu: kernels, but not the gaps between them. cpu: launches and other CPU work of the framework.
/// host_memory: the memory of sockets, copies from pageable memory, and NCCL's copies through host memory
/// (SHM). pcie: PCIe links and NCCL's P2P over them. nvlink: NVLinks, NCCL's P2P over them, and NVLS.
/// inter_socket: links between sockets. network: its links, NICs with the links to their slots, connections,
/// and NCCL's NET. Latencies do not change. A measured collective keeps its latency; the rest of its time is
/// divided by the factor.
class SpeedFactors {
 public:
  double& operator[](HardwarePart part) { return factors_[static_cast<std::size_t>(part)]; }
  double operator[](HardwarePart part) const { return factors_[static_cast<std::size_t>(part)]; }
  bool operator==(const SpeedFactors&) const = default;
  /// Whether all factors are 1.
  bool as_built() const { return *this == SpeedFactors{}; }

 private:
  std::array<double, all_parts.size()> factors_{1, 1, 1, 1, 1, 1, 1};
};

/// The key in a scenario, such as "host_memory".
std::string_view key_of(HardwarePart part);
/// The name in texts, such as "host memory".
std::string_view in_words(HardwarePart part);
/// The factors other than 1, such as "host memory 2 times, NVLink 4 times as fast" or "no NVLink".
/// @pre not as_built()
std::string in_words(const SpeedFactors& speeds);

}  // namespace gradway
