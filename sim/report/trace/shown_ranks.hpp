// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/lower/folding.hpp"

namespace gradway::report {

/// The ranks that a picture of a run shows, and what it says of the others.
struct ShownRanks {
  std::vector<std::size_t> ranks;  ///< in ascending order
  std::string words;  ///< "all 8 ranks", "rank 0 of 1,024; the others do the same at the same time"
};

/// All ranks of a run of at most `all_up_to`; else one for each class of ranks that do the same, at most
/// `most`.
/// @pre most > 0
ShownRanks shown_ranks(const Folding& folding, std::size_t all_up_to, std::size_t most);

}  // namespace gradway::report
