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
#include "sim/nccl/shared_path.hpp"

namespace gradway {

/// A part of a collective as one flow. A ring or a tree is tightly coupled: it moves at the pace of its
/// slowest hop. So one flow uses the resources of all its hops at once.
struct CollectiveFlow {
  SharedPath path;
  Bytes amount{};  ///< that each hop carries
  double cap = 0;  ///< bytes a second: what the channels move when no link is in the way
};

/// What bounds NCCL's channels where no link is full.
struct ChannelLimit {
  HardwarePart part = HardwarePart::nvlink;  ///< that they copy through; a what-if of it makes them faster
  std::string_view transport{};              ///< "SHM"
};

/// A collective of a communicator, ready for an engine: the latency, then the flows side by side.
struct LoweredCollective {
  Seconds latency{};
  std::vector<CollectiveFlow> flows{};             ///< empty for one rank
  std::optional<ChannelLimit> limit{};             ///< of the caps; empty without NCCL
  std::vector<CollectiveProvenance> provenance{};  ///< empty for one rank
};

/// Lays the collectives of one communicator, any set of GPUs, over the links of the platform.
///
/// `nccl` platforms: transport hop by hop, channels, algorithm and protocol as NCCL chooses them. Where the
/// calibration has tables of the transport, a collective alone takes just the table's time; else a single
/// measured collective replaces the nominal rate of its transport. `ideal` platforms: a ring at the full rate
/// of its links, one link latency a step.
///
/// On a platform with speeds NCCL still chooses as on the one that was built: a what-if asks what faster
/// hardware gains, not what NCCL would make of another machine. The channels move so many times as fast as
/// the part they copy through, latencies stay, and links that are no faster still bound them.
class Communicator {
 public:
  /// @param routes of the platform; it and the calibration must outlive this
  /// @param gpus one at least, in the order of the ranks
  /// @throws ConfigError if two neighbours have no transport, if NCCL_ALGO and NCCL_PROTO leave nothing, or
  ///         if a measured collective was faster than its latency.
  Communicator(const Routes& routes, NcclSettings settings, const Calibration& calibration, GpuNumbers gpus);

  LoweredCollective lower(CollectiveKind kind, Bytes size) const;
  /// What NCCL would choose. @pre more than one rank, on a platform with NCCL's rules
  CollectivePlan choose(CollectiveKind kind, Bytes size) const;

  const CommunicatorFacts& facts() const { return facts_; }
  /// What such a kernel and collectives of this communicator cost each other, if it was measured.
  const ContentionFactors* contention(const Footprint& kernel) const;
  /// Channels of a large all-reduce. @pre as for `choose`
  int channels() const { return large_.channels; }

 private:
  void measure_against_one_node();
  void take_no_less_than_one_node(LoweredCollective& lowered, CollectiveKind kind, Bytes size,
                                  const CollectivePlan& plan) const;
  CommunicatorFacts facts_as_measured(int ranks) const;
  Transport channels_transport() const;
  Transport transport_of(const CollectivePlan& plan) const;
  HardwarePart part_of_transport() const;
  ChannelLimit limit_of(const CollectivePlan& plan) const;
  BytesPerSecond rate_of(const CollectivePlan& plan, CollectiveKind kind,
                         const CollectivePlan& with_all) const;
  double most_of_streams(double channels) const;
  void find_calibration();
  std::optional<TableTime> table_time(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  CollectiveProvenance provenance_class_of(CollectiveKind kind, const CollectivePlan& plan,
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
  CollectivePlan large_{};                    ///< of a large all-reduce; not used on ideal platforms
  std::optional<CollectiveTables> tables_;    ///< of the calibration; empty on ideal platforms
  const CollectiveSample* sample_ = nullptr;  ///< of the calibration, without tables
  double calibrated_ = 1;                     ///< its rate over the nominal one
  /// The GPUs of one node alone, if something was measured of them: several nodes cannot be faster.
  std::unique_ptr<Communicator> one_node_;
};

}  // namespace gradway
