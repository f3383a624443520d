// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "readers/nccl_log/nccl_log.hpp"
#include "sim/config/config.hpp"

namespace gradway {

/// A choice of NCCL that a platform determines.
enum class NcclAspect : std::uint8_t {
  inside_nodes,   ///< transport between GPUs of a node
  between_nodes,  ///< transport between GPUs of different nodes
  network,        ///< kind of the network
  nics,           ///< number of NICs of a node that NCCL uses
  gpudirect,      ///< NICs read and write the memory of GPUs
  nvls,           ///< reductions in NVSwitches
  channels,       ///< number of channels of collectives
  nvlinks,        ///< rate of a GPU's NVLinks
  pcie,           ///< rate of a GPU's PCIe link
};

/// What lets NICs reach the memory of GPUs.
enum class GpudirectBy : std::uint8_t { nvidia_driver, amd_driver, network_plugin };

/// What NCCL did, and what was expected of the platform without any variables.
struct NcclComparison {
  NcclAspect aspect{};
  std::string expected{};
  std::string found{};
  bool agrees = true;
  int pairs = 0;      ///< Connected pairs of ranks that were compared; 0: not of pairs.
  int differing = 0;  ///< Pairs that differ.
  std::optional<std::pair<int, int>> example{};  ///< Ranks of a pair that differs.
  std::vector<std::string> causes{};             ///< Variables in the log that explain the difference.
  std::vector<NcclRemark> evidence{};            ///< What NCCL printed about it.
  std::optional<NcclAspect> follows_from{};      ///< Another difference, which is the cause of this one.
  GpudirectBy gpudirect_by{};                    ///< Of gpudirect.
};

/// A large all-reduce of the communicator, alone on the platform.
struct NcclLogEffect {
  Bytes size{};
  Seconds expected{};
  Seconds found{};  ///< with the transports, NVLS and channels of the log
};

struct CheckedCommunicator {
  std::vector<NcclComparison> comparisons;
  std::optional<NcclLogEffect> effect;  ///< Empty if the log agrees with the platform.
};

/// Compares each communicator of a log with what NCCL is expected to choose on a platform. There is nothing
/// to compare for a single rank.
/// @param platform its name
/// @throws ConfigError if the platform has too few nodes, or its nodes too few GPUs
std::vector<CheckedCommunicator> check_nccl_log(const NcclLog& log, const std::string& platform,
                                                const DataPath& data);

}  // namespace gradway
