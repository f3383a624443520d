// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/cost/basis.hpp"
#include "sim/cost/collective_table.hpp"

namespace gradway {

/// Where the time of a collective comes from. It is returned with the collective's flows and refers to the
/// calibration, which must outlive it.
struct CollectiveProvenance {
  enum class Source {
    ideal,    ///< rules, not NCCL
    table,    ///< times by size of the calibration: see `use`
    sample,   ///< one measured collective of the calibration sets the rate
    nominal,  ///< the rates that NCCL assumes of its channels
    nvls,     ///< NVIDIA's figure of 8 H100, scaled as NCCL's own estimates are
  };
  Source source = Source::nominal;
  Basis basis = Basis::nominal;
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::p2p;              ///< of the channels
  Transport uncertainty_transport = Transport::p2p;  ///< whose uncertainties count
  int ranks = 0;
  int nodes = 1;
  bool nvlink = false;                       ///< every hop inside a node
  bool rccl = false;                         ///< GPUs of AMD
  std::optional<double> adapted{};           ///< uncertainty of tables that were adapted to the machine
  bool is_floor = false;                     ///< the time of one node alone, a lower bound of several nodes
  TableUse use{};                            ///< with Source::table
  const CollectiveSample* sample = nullptr;  ///< of the calibration, with Source::sample

  bool operator==(const CollectiveProvenance&) const = default;
};

/// Appends the items that are not in the list yet.
void add(std::vector<CollectiveProvenance>& collectives, const std::vector<CollectiveProvenance>& additions);

namespace provenance {

/// Ideal rings over the platform's links, without NCCL.
struct IdealRings {
  bool operator==(const IdealRings&) const = default;
};

/// A calibration's table of times by size.
struct CollectiveTimes {
  CollectiveKind kind = CollectiveKind::all_reduce;  ///< that was measured
  std::optional<Algorithm> algorithm{};              ///< that was forced
  std::optional<Protocol> protocol{};                ///< the same
  std::string calibration;
  std::string date;                   ///< of the calibration; may be empty
  int ranks = 0;                      ///< of the job
  std::vector<int> measured_ranks{};  ///< one or, where they are interpolated, two numbers; empty: the job's
  Bytes smallest{};
  Bytes largest{};
  std::string predicted_from{};  ///< empty: measured
  std::optional<FitError> residual{};
  std::optional<FitError> interpolation{};
  std::optional<double> adapted{};  ///< to the machine, with a 90 % prediction interval of this half-width

  bool operator==(const CollectiveTimes&) const = default;
};

/// The rates that NCCL or RCCL assumes of its channels.
struct NominalRates {
  bool rccl = false;

  bool operator==(const NominalRates&) const = default;
};

/// NCCL's own estimate of NVLS, scaled to a published measurement (`nvls_reached`).
struct NvlsEstimate {
  bool operator==(const NvlsEstimate&) const = default;
};

/// Where the times of a transport's collectives come from.
struct Collectives {
  Transport transport = Transport::none;  ///< none with ideal rings and NVLS
  bool is_floor = false;                  ///< of one node, as a lower bound of several
  std::variant<IdealRings, CollectiveTimes, CollectiveSample, NominalRates, NvlsEstimate> from{};

  bool operator==(const Collectives&) const = default;
};

}  // namespace provenance

/// The same by value. @param calibration of the communicator
provenance::Collectives collectives_from(const CollectiveProvenance& collective,
                                         const Calibration& calibration);

/// Why a collective's time is extrapolated.
namespace extrapolation {

/// The table was predicted from other measurements.
struct PredictedTable {
  std::string from;
  bool operator==(const PredictedTable&) const = default;
};
/// The table of another operation is scaled by the bytes that each moves.
struct OtherOperation {
  CollectiveKind measured = CollectiveKind::all_reduce;
  bool operator==(const OtherOperation&) const = default;
};
/// NCCL's variables force another algorithm or protocol than was measured.
struct OtherPlan {
  bool operator==(const OtherPlan&) const = default;
};
/// NCCL's variables force another number of channels than was measured.
struct OtherChannels {
  bool operator==(const OtherChannels&) const = default;
};
/// All operations of the transport were measured on another number of ranks.
struct OtherRanks {
  int measured = 0;
  int ranks = 0;  ///< of the job
  bool operator==(const OtherRanks&) const = default;
};
/// The table was measured inside one node.
struct MoreNodes {
  int nodes = 0;  ///< of the job
  bool operator==(const MoreNodes&) const = default;
};
struct BelowSizes {
  Bytes smallest{};  ///< that was measured
  bool operator==(const BelowSizes&) const = default;
};
struct BeyondSizes {
  Bytes largest{};  ///< that was measured
  bool operator==(const BeyondSizes&) const = default;
};
/// No collective of the transport was measured: NCCL's nominal rates apply.
struct NotMeasured {
  bool rccl = false;

  bool operator==(const NotMeasured&) const = default;
};

using Reason = std::variant<PredictedTable, OtherOperation, OtherPlan, OtherChannels, OtherRanks, MoreNodes,
                            BelowSizes, BeyondSizes, NotMeasured>;

}  // namespace extrapolation

namespace warning {

struct ExtrapolatedCollectives {
  static constexpr std::string_view code = "extrapolated-collectives";
  Transport transport = Transport::p2p;
  std::optional<CollectiveKind> kind{};  ///< empty: all collectives of the transport
  extrapolation::Reason reason{};

  bool operator==(const ExtrapolatedCollectives&) const = default;
};

}  // namespace warning

/// How the use of a table extrapolates its measurements; empty if the job runs what was measured.
/// @pre Source::table
std::vector<warning::ExtrapolatedCollectives> table_extrapolations(const CollectiveProvenance& collective);

/// The same for every source. A lower bound is never extrapolated.
std::vector<warning::ExtrapolatedCollectives> extrapolations_of(const CollectiveProvenance& collective);

}  // namespace gradway
