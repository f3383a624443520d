// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cost/basis.hpp"
#include "sim/cost/collective_table.hpp"

namespace gradway {

/// What the time of a collective rests on; it comes with its flows.
struct CollectiveEvidence {
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
  Transport doubted_as = Transport::p2p;  ///< whose doubts count
  int ranks = 0;
  int nodes = 1;
  bool is_floor = false;  ///< of one node alone, which several cannot beat
  TableUse use{};         ///< with Source::table

  bool operator==(const CollectiveEvidence&) const = default;
};

/// Keeps each thing once, in the order in which it came.
void add(std::vector<CollectiveEvidence>& all, const std::vector<CollectiveEvidence>& more);

/// All about the use of a table that was not measured, one sentence each. @pre Source::table
std::vector<std::string> doubts_of(const CollectiveEvidence& evidence);

/// Of which day a table is, how well it fits and how far off it is between its sizes, in one line.
/// @pre Source::table
std::string line_of_table(const CollectiveEvidence& evidence, const Calibration& calibration);

}  // namespace gradway
