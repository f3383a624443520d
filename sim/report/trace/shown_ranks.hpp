// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/lower/folding.hpp"

namespace gradway::report {

/// The ranks that a trace or page shows, and a note on the others.
struct ShownRanks {
  std::vector<std::size_t> ranks;  ///< in ascending order
  std::string words;               ///< "all 8 ranks", "rank 0 of 1,024; the others behave identically"
};

/// All ranks of runs of at most `all_up_to` ranks; otherwise one for each class of identical ranks, at most
/// `most`.
/// @pre most > 0
ShownRanks shown_ranks(const Folding& folding, std::size_t all_up_to, std::size_t most);

}  // namespace gradway::report
