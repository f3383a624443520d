// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/provenance_fact.hpp"
#include "sim/base/warning.hpp"
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

/// The same in words. @param calibration of the communicator
ProvenanceFact collectives_from(const CollectiveProvenance& collective, const Calibration& calibration);

/// How the use of a table extrapolates its measurements; empty if the job runs what was measured.
/// @pre Source::table
std::vector<Warning> table_extrapolations(const CollectiveProvenance& collective);

/// The same for every source. A lower bound is never extrapolated.
std::vector<Warning> extrapolations_of(const CollectiveProvenance& collective);

}  // namespace gradway
