// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/cost/calibration.hpp"
#include "sim/cost/nccl_model.hpp"

namespace gradway {

/// Time of a size. Between two sizes of the table, it is linear in the size (a latency and a rate), which has
/// half the error of interpolation over logarithms on our samples. Below the smallest size, it is that of the
/// smallest; beyond the largest size, it follows from the bandwidth there, latency included.
/// @pre the table has at least one point
Seconds time_at(const CollectiveTable& table, Bytes size);

/// How a time follows from the tables. If only `table` is set, the size was measured or is between two
/// measured sizes.
struct TableUse {
  const CollectiveTable* table = nullptr;
  const CollectiveTable* upper = nullptr;  ///< interpolated between ranks: the table of more ranks
  bool below_sizes = false;                ///< smaller than all measured sizes
  bool beyond_sizes = false;               ///< larger than all measured sizes
  bool other_ranks = false;                ///< extrapolated from another number of ranks
  bool other_operation = false;            ///< derived from all-reduce or send/recv
  bool other_plan = false;      ///< algorithm or protocol are forced: scaled by NCCL's own estimates
  bool other_channels = false;  ///< the number of channels is limited: scaled by measurements on H200

  bool operator==(const TableUse&) const = default;
};

struct TableTime {
  Seconds time{};
  TableUse use;
};

/// The tables of a calibration that apply to a communicator. The calibration must outlive them.
class CollectiveTables {
 public:
  /// Prefers tables within a node for a communicator within a node, and tables between nodes for others.
  /// @param transport the slowest transport of the communicator
  CollectiveTables(const Calibration& calibration, Transport transport, const CommunicatorFacts& communicator,
                   const NcclSettings& settings);

  bool empty() const { return tables_.empty(); }

  /// Time of a collective without contention. Selects tables in three steps:
  ///   1. operation: its own tables; for an all-to-all, those of send/recv, whose ranks send as much; else
  ///   those
  ///      of all-reduce, scaled by the bus factors;
  ///   2. plan: tables of NCCL's own choice. If NCCL_ALGO or NCCL_PROTO force another plan: tables of that
  ///      algorithm and protocol, else those of NCCL's own choice, scaled by the ratio of NCCL's estimates;
  ///   3. ranks: the table of the communicator's number of ranks; else linear interpolation of bus bandwidth
  ///      and latency between the two nearest numbers; else the bus bandwidth and latency of the nearest,
  ///      plus the latency of the steps that NCCL's model has in addition.
  /// Times below the smallest measured size are scaled by NCCL's estimates. Another number of channels
  /// changes the rate by `share_of_channels`.
  /// @return nothing if no table applies
  std::optional<TableTime> time(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;

 private:
  /// Tables of one operation for several numbers of ranks.
  using Family = std::vector<const CollectiveTable*>;

  Family family(CollectiveKind kind, std::optional<Algorithm> algorithm,
                std::optional<Protocol> protocol) const;
  TableTime at_ranks(const Family& family, CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  TableTime below(TableTime table_time, CollectiveKind kind, Bytes size, Bytes least) const;
  bool is_default_choice(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  Seconds additional_steps(CollectiveKind kind, Bytes size, const CollectivePlan& plan,
                           int measured_ranks) const;
  /// NCCL's estimate for the plan over its estimate for its own choice, which the table was measured with.
  double forced_plan_ratio(CollectiveKind kind, Bytes size, const CollectivePlan& plan) const;
  /// @param time time of `plan` with all channels
  Seconds with_channels(Seconds time, CollectiveKind kind, Bytes size, const CollectivePlan& plan,
                        int channels) const;

  CommunicatorFacts communicator_;
  NcclSettings settings_;
  std::vector<const CollectiveTable*> tables_;  ///< of the transport, in order of ranks
};

}  // namespace gradway
