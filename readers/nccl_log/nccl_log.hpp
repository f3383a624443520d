// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cost/calibration.hpp"

namespace gradway {

/// Connection of a rank to another, over one or more channels.
struct NcclConnection {
  int from = 0;
  int to = 0;
  Transport transport = Transport::none;
  std::string network{};     ///< net: as NCCL names it, such as "IB", "Socket" or "AWS Libfabric".
  std::optional<int> nic{};  ///< net: number of the NIC.
  bool gpudirect = false;    ///< net: the NIC reads or writes the memory of the GPU.
  std::string via{};         ///< As printed: "P2P/CUMEM/read".

  auto operator<=>(const NcclConnection&) const = default;
};

/// Process of a rank.
struct NcclLogRank {
  std::string host;
  std::optional<int> gpu;  ///< Number of the GPU on its node.

  auto operator<=>(const NcclLogRank&) const = default;
};

/// What NCCL printed about a communicator. The log may contain the lines of some ranks only.
struct NcclLogCommunicator {
  int ranks = 0;
  std::optional<int> nodes;
  std::map<int, NcclLogRank> seen;               ///< Ranks whose lines are in the log.
  std::map<std::vector<int>, int> rings;         ///< Number of channels by order of ranks.
  std::map<NcclConnection, std::set<int>> ways;  ///< Channels of each connection.
  std::optional<int> collective_channels;
  std::optional<int> nvls_channels;
  std::optional<int> pair_channels;  ///< For sends and receives.
  bool has_trees = false;
  bool uses_sharp = false;
  bool is_complete = false;  ///< A rank finished its initialisation.

  auto operator<=>(const NcclLogCommunicator&) const = default;
};

/// An algorithm that NCCL's tuner chose (subsystem TUNING).
struct NcclChoice {
  std::string operation;  ///< "AllReduce"
  double bytes = 0;
  std::string algorithm;  ///< "RING", or its number in old versions
  std::string protocol;

  auto operator<=>(const NcclChoice&) const = default;
};

/// A GPU in the topology that NCCL prints (subsystem GRAPH). Rates in GB/s, as NCCL rates them.
struct NcclTopologyGpu {
  double pcie = 0;
  double nvlink = 0;
};

/// Events that explain why NCCL did not use faster hardware.
enum class NcclRemark : std::uint8_t {
  no_infiniband_device,  ///< "NET/IB : No device found."
  no_network_plugin,     ///< libnccl-net.so is missing.
  p2p_not_enabled,       ///< CUDA refused peer access.
  gpudirect_disabled,    ///< "GPU Direct RDMA Disabled", or its kernel module is missing.
};

/// A log of one or more processes with NCCL_DEBUG=INFO.
struct NcclLog {
  std::string version;                           ///< "2.28.9+cuda13.0"; empty if not printed.
  std::set<std::string> networks;                ///< "IB", "Socket", ...
  std::set<std::string> nics;                    ///< "mlx5_0:1/IB"
  std::map<std::string, std::string> variables;  ///< Set in the environment.
  std::set<NcclRemark> remarks;
  std::map<std::string, int> warnings;  ///< How often NCCL printed each warning.
  std::vector<NcclLogCommunicator> communicators;
  std::map<NcclChoice, int> choices;
  std::map<std::string, NcclTopologyGpu> topology;  ///< By NCCL's name of the GPU; empty without GRAPH.
  std::size_t lines = 0;                            ///< Lines of NCCL.
};

/// Reads logs of NCCL 2.10 to 2.29. Several ranks may be interleaved, also within a line. Launchers may
/// print prefixes; output of the program between the lines is ignored. Takes memory for communicators and
/// connections, not for lines.
class NcclLogReader {
 public:
  NcclLogReader();
  ~NcclLogReader();
  NcclLogReader(const NcclLogReader&) = delete;
  NcclLogReader& operator=(const NcclLogReader&) = delete;

  void read(std::istream& lines);
  void read_line(std::string_view line);

  /// @throws ConfigError if nothing was printed by NCCL, or no communicator was initialised
  /// @param file for the message
  NcclLog finish(const std::string& file);

 private:
  void read_whole(std::string_view line);

  class Reading;
  std::unique_ptr<Reading> reading_;
  std::string broken_;       ///< A line of the width of a terminal, which the next one may continue.
  std::size_t longest_ = 0;  ///< Characters of the longest line.
};

}  // namespace gradway
