// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/collective_table.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/nccl/collective_provenance.hpp"
#include "sim/nccl/collective_ways.hpp"
#include "sim/nccl/connections.hpp"
#include "sim/nccl/far_network.hpp"
#include "sim/nccl/shared_path.hpp"

namespace gradway {

/// A part of a collective as one flow. A ring or a tree is tightly coupled: its slowest hop sets the rate of
/// all. So one flow uses the resources of all its hops at once.
struct CollectiveFlow {
  SharedPath path;
  Bytes amount{};  ///< that each hop carries
  double cap = 0;  ///< bytes per second that the channels move if no link limits them
};

/// The limit of NCCL's channels if no link is saturated.
struct ChannelLimit {
  HardwarePart part = HardwarePart::nvlink;  ///< through which they copy; a what-if of it makes them faster
  std::string_view transport{};              ///< "SHM"
  FarLimit far = FarLimit::none;             ///< of channels between far nodes, if that is less
};

/// A collective of a communicator, ready for an engine: the latency, then all flows at the same time.
struct LoweredCollective {
  Seconds latency{};
  std::vector<CollectiveFlow> flows{};             ///< empty for one rank
  std::optional<ChannelLimit> limit{};             ///< of the caps; empty without NCCL
  std::vector<CollectiveProvenance> provenance{};  ///< empty for one rank
};

/// Maps the collectives of one communicator, any set of GPUs, to the links of the platform.
///
/// `nccl` platforms: transport hop by hop, channels, algorithm and protocol as NCCL chooses them. Where the
/// calibration has tables of the transport, a collective alone takes just the table's time; else a single
/// measured collective replaces the nominal rate of its transport. `ideal` platforms: a ring at the full rate
/// of its links, one link latency a step.
///
/// On a platform with what-if speeds NCCL still chooses as on the platform as built: a what-if shows the gain
/// of faster hardware, not other choices of NCCL. The rate of channels is multiplied by the speed of the part
/// through which they copy; latencies stay, and links that are not faster still limit them.
class Communicator {
 public:
  /// @param routes of the platform; it and the calibration must outlive this
  /// @param gpus at least one, in the order of the ranks
  /// @throws ConfigError if two neighbours have no transport, if NCCL_ALGO and NCCL_PROTO exclude every plan,
  ///         or if a measured collective is faster than its latency
  Communicator(const Routes& routes, NcclSettings settings, const Calibration& calibration, GpuNumbers gpus);

  LoweredCollective lower(CollectiveKind kind, Bytes size) const;
  /// NCCL's choice. @pre more than one rank, on a platform with NCCL's rules
  CollectivePlan choose(CollectiveKind kind, Bytes size) const;

  const CommunicatorFacts& facts() const { return facts_; }
  /// Measured contention of such a kernel with collectives of this communicator; null: not measured.
  const ContentionFactors* contention(const Footprint& kernel) const;
  /// Whether collectives occupy multiprocessors at all.
  bool occupies_multiprocessors() const;
  /// Channels of a large all-reduce. @pre as for `choose`
  int channels() const { return large_.channels; }
  /// What a collective connects. @pre as for `choose`
  Connections connections_for(CollectiveKind kind, Bytes size) const {
    return connections_of(kind, choose(kind, size).algorithm);
  }
  /// What they take of the memory of a GPU. @pre a platform with NCCL's rules
  Bytes memory_of(const Connections& connections) const;

 private:
  void build_single_node_reference();
  void clamp_to_single_node(LoweredCollective& lowered, CollectiveKind kind, Bytes size,
                            const CollectivePlan& plan) const;
  CommunicatorFacts facts_as_measured(int ranks) const;
  Transport channels_transport() const;
  Transport transport_of(const CollectivePlan& plan) const;
  HardwarePart part_of_transport() const;
  ChannelLimit limit_of(const CollectivePlan& plan) const;
  BytesPerSecond rate_of(const CollectivePlan& plan, CollectiveKind kind,
                         const CollectivePlan& with_all) const;
  double most_of_streams(double channels) const;
  void add_distance(LoweredCollective& lowered, CollectiveKind kind, const CollectivePlan& plan) const;
  int streams() const;
  void find_calibration();
  std::optional<TableTime> table_time(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  CollectiveProvenance provenance_of(CollectiveKind kind, const CollectivePlan& plan,
                                     const std::optional<TableTime>& measured) const;
  LoweredCollective ideal(CollectiveKind kind, Bytes size) const;
  std::vector<CollectiveFlow> flows_of(CollectiveKind kind, Bytes size, const CollectivePlan& plan,
                                       bool is_measured) const;
  std::vector<CollectiveFlow> flows_of_pairs(Bytes size, const CollectivePlan& plan, bool is_measured) const;

  const Platform& platform() const { return routes_.platform(); }

  const Routes& routes_;
  NcclSettings settings_;
  const Calibration& calibration_;
  GpuNumbers gpus_;
  CollectiveWays ways_;
  CommunicatorFacts facts_;
  int far_places_ = 1;
  CollectivePlan large_{};                    ///< of a large all-reduce; unused on ideal platforms
  std::optional<CollectiveTables> tables_;    ///< of the calibration; empty on ideal platforms
  const CollectiveSample* sample_ = nullptr;  ///< of the calibration, without tables
  double calibrated_ = 1;                     ///< rate of the sample over the nominal one
  /// The GPUs of one node, if the calibration has measurements: several nodes cannot be faster.
  std::unique_ptr<Communicator> one_node_;
};

}  // namespace gradway
