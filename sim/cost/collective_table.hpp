// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_model.hpp"

namespace gradway {

/// Time of a size. Between two sizes of the table: a latency and a rate, so a straight line over the size,
/// which halves the error of a straight line over logarithms on our samples. Below the smallest size: its
/// time. Beyond the largest: its bandwidth, latency included.
/// @pre the table has a point
Seconds time_at(const CollectiveTable& table, Bytes size);

/// What a time of the tables rests on. Nothing but `table`: it was measured, or lies between two measured
/// sizes.
struct TableUse {
  const CollectiveTable* table = nullptr;
  const CollectiveTable* upper = nullptr;  ///< between two numbers of ranks: the table of more
  bool below_sizes = false;                ///< smaller than anything measured
  bool beyond_sizes = false;               ///< larger than anything measured
  bool other_ranks = false;                ///< from a number of ranks beside which nothing was measured
  bool other_operation = false;            ///< all-reduce, or send/recv, stands for another collective
  bool other_plan = false;      ///< NCCL was told how to run it: scaled as NCCL's own estimates say
  bool other_channels = false;  ///< and how many channels: scaled as they were measured on H200s

  bool operator==(const TableUse&) const = default;
};

struct TableTime {
  Seconds time{};
  TableUse use;
};

/// The tables of a calibration that one communicator can use. The calibration must outlive them.
class CollectiveTables {
 public:
  /// Tables within a node for a communicator within a node and tables between nodes for others, if there are
  /// such. @param transport that limits the communicator
  CollectiveTables(const Calibration& calibration, Transport transport, const CommunicatorFacts& communicator,
                   const NcclSettings& settings);

  bool empty() const { return tables_.empty(); }

  /// Time of a collective alone, first match:
  ///   1. its own tables, else those of all-reduce scaled by the bus factors; an all-to-all first those of
  ///   send/recv,
  ///      whose ranks send as much;
  ///   2. of these, what NCCL chose by itself; if NCCL_ALGO or NCCL_PROTO demand what it would not choose,
  ///   the
  ///      algorithm and protocol of the plan, else what NCCL chose, scaled by the ratio of NCCL's own
  ///      estimates;
  ///   3. of these, the communicator's number of ranks; else between the two nearest: bus bandwidth and
  ///   latency
  ///      each on a straight line; else the nearest: its bus bandwidth, and its latency plus the steps that
  ///      NCCL's own model has more.
  /// Sizes below the smallest measured one take as much less as NCCL's own estimates say. Another number of
  /// channels changes the rate by `share_of_channels`.
  /// @return nothing if no table fits
  std::optional<TableTime> time(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;

 private:
  /// Tables of one operation that differ in their ranks.
  using Family = std::vector<const CollectiveTable*>;

  Family family(CollectiveKind kind, std::optional<Algorithm> algorithm,
                std::optional<Protocol> protocol) const;
  TableTime at_ranks(const Family& family, CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  TableTime below(TableTime found, CollectiveKind kind, Bytes size, Bytes least) const;
  bool is_free_choice(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  Seconds more_steps(CollectiveKind kind, Bytes size, const CollectivePlan& plan, int measured_ranks) const;
  /// NCCL's estimate of the plan over that of how the table was measured. @param same_plan the table's
  /// algorithm and protocol are the plan's
  double told_ratio(CollectiveKind kind, Bytes size, const CollectivePlan& plan, bool same_plan) const;
  /// @param time of `plan` with all channels
  Seconds with_channels(Seconds time, CollectiveKind kind, Bytes size, const CollectivePlan& plan,
                        int channels) const;

  CommunicatorFacts communicator_;
  NcclSettings settings_;
  std::vector<const CollectiveTable*> tables_;  ///< of the transport, by ranks
};

}  // namespace gradway
