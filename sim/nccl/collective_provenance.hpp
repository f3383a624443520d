// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cost/basis.hpp"
#include "sim/cost/collective_table.hpp"

namespace gradway {

/// What the time of a collective rests on; it comes with its flows.
struct CollectiveProvenance {
  enum class Source {
    ideal,    ///< rules, not NCCL
    table,    ///< times by size of the calibration: see `use`
    sample,   ///< one measured collective of the calibration sets the rate
    nominal,  ///< what NCCL assumes of its channels
    nvls,     ///< what NVIDIA says of 8 H100, scaled as NCCL's own estimates are
  };
  Source source = Source::nominal;
  Basis basis = Basis::nominal;
  CollectiveKind kind = CollectiveKind::all_reduce;
  Transport transport = Transport::p2p;   ///< that the channels take
  Transport doubted_as = Transport::p2p;  ///< whose uncertainties count
  int ranks = 0;
  int nodes = 1;
  bool nvlink = false;                       ///< every hop inside a node
  std::optional<double> adapted{};           ///< uncertainty of tables that were adapted to the machine
  bool is_floor = false;                     ///< of one node alone, which several cannot beat
  TableUse use{};                            ///< with Source::table
  const CollectiveSample* sample = nullptr;  ///< of the calibration, with Source::sample

  bool operator==(const CollectiveProvenance&) const = default;
};

/// Keeps each thing once, in the order in which it came.
void add(std::vector<CollectiveProvenance>& all, const std::vector<CollectiveProvenance>& more);

/// A line for what a prediction rests on: of a table its day, how well it fits and how far off it is between
/// its sizes. @param calibration that the communicator had
std::string basis_text(const CollectiveProvenance& evidence, const Calibration& calibration);

/// All about the use of a table that was not measured, one sentence each. @pre Source::table
std::vector<std::string> uncertainties_of(const CollectiveProvenance& evidence);

/// What to know before trusting it.
std::vector<std::string> warnings_of(const CollectiveProvenance& evidence);

}  // namespace gradway
