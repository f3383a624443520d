// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/collective_table.hpp"
#include "sim/cost/nccl_model.hpp"
#include "sim/lower/collective_evidence.hpp"
#include "sim/lower/collective_ways.hpp"
#include "sim/lower/shared_path.hpp"
#include "sim/plan/scenario.hpp"

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
  Part part = Part::nvlink;      ///< that they copy through; a what-if of it makes them faster
  std::string_view transport{};  ///< "SHM"
};

/// A collective of all ranks, ready for an engine: the latency, then the flows side by side.
struct LoweredCollective {
  Seconds latency{};
  std::vector<CollectiveFlow> flows{};         ///< empty for one rank
  std::optional<ChannelLimit> limit{};         ///< of the caps; empty without NCCL
  std::vector<CollectiveEvidence> rests_on{};  ///< empty for one rank
};

/// Lays the collectives of one communicator (all ranks of the job) over the links of the platform.
///
/// `nccl` platforms: transport hop by hop, channels, algorithm and protocol as NCCL chooses them. Where the
/// calibration has tables of the transport, a collective alone takes just the table's time; else a single
/// measured collective replaces the nominal rate of its transport. `ideal` platforms: a ring at the full rate
/// of its links, one link latency a step.
///
/// On a platform with speeds NCCL still chooses as on the one that was built: a what-if asks what faster
/// hardware gains, not what NCCL would make of another machine. The channels move so many times as fast as
/// the part they copy through, latencies stay, and links that are no faster still bound them.
class CollectiveLowering {
 public:
  /// @throws ConfigError if two neighbours have no transport, if NCCL_ALGO and NCCL_PROTO leave nothing, or
  /// if a
  ///         measured collective was faster than its latency.
  explicit CollectiveLowering(const Scenario& scenario);
  ~CollectiveLowering();

  LoweredCollective lower(CollectiveKind kind, Bytes size) const;
  /// What NCCL would choose. @pre more than one rank, on a platform with NCCL's rules
  CollectivePlan choose(CollectiveKind kind, Bytes size) const;

  const Communicator& communicator() const { return communicator_; }
  /// What such a kernel and collectives of this communicator cost each other, if it was measured.
  const SideBySide* side_by_side(const Footprint& kernel) const;
  /// Channels of a large all-reduce. @pre as for `choose`
  int communicator_channels() const;
  /// A line for what a prediction rests on. @param evidence of what was lowered here
  std::string basis_text(const CollectiveEvidence& evidence) const;
  /// What to know before trusting it.
  std::vector<std::string> warnings_of(const CollectiveEvidence& evidence) const;

 private:
  struct OneNode;
  void measure_against_one_node();
  void take_no_less_than_one_node(LoweredCollective& lowered, CollectiveKind kind, Bytes size,
                                  const CollectivePlan& plan) const;
  Communicator communicator_as_measured(int ranks) const;
  Transport channels_transport() const;
  Transport transport_of(const CollectivePlan& plan) const;
  Part part_of_transport() const;
  ChannelLimit limit_of(const CollectivePlan& plan) const;
  BytesPerSecond rate_of(const CollectivePlan& plan, CollectiveKind kind,
                         const CollectivePlan& with_all) const;
  double most_of_streams(const CollectivePlan& plan, std::size_t flows) const;
  void find_calibration();
  std::optional<TableTime> table_time(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  CollectiveEvidence evidence_of(CollectiveKind kind, const CollectivePlan& plan,
                                 const std::optional<TableTime>& measured) const;
  LoweredCollective ideal(CollectiveKind kind, Bytes size) const;

  const Scenario& scenario_;
  Routes routes_;
  NcclSettings settings_;
  CollectiveWays ways_;
  Communicator communicator_;
  std::optional<CollectiveTables> tables_;    ///< of the calibration; empty on ideal platforms
  const CollectiveSample* sample_ = nullptr;  ///< of the calibration, without tables
  double calibrated_ = 1;                     ///< its rate over the nominal one
  /// The ranks of one node alone, if something was measured of them: several nodes cannot be faster.
  std::unique_ptr<OneNode> one_node_;
};

}  // namespace gradway
