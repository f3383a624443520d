// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace/shown_ranks.hpp"

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/format/text.hpp"

namespace gradway::report {

ShownRanks shown_ranks(const Folding& folding, std::size_t all_up_to, std::size_t most) {
  const auto count = folding.ranks;
  ShownRanks shown;
  if (count <= all_up_to) {
    shown.ranks.resize(count);
    std::iota(shown.ranks.begin(), shown.ranks.end(), std::size_t{0});
  } else {
    for (std::size_t rank = 0; rank < count && shown.ranks.size() < most; ++rank) {
      if (folding.is_representative(ActorId{rank})) shown.ranks.push_back(rank);
    }
  }
  const auto total = thousands_text(count);
  const auto classes = folding.simulated_ranks();
  if (shown.ranks.size() == count) {
    shown.words = count == 1 ? "the only rank" : fmt::format("all {} ranks", total);
  } else if (classes == 1) {
    shown.words = fmt::format("rank 0 of {}; the others behave identically", total);
  } else if (shown.ranks.size() == classes) {
    shown.words = fmt::format("ranks {} of {}; each of the others behaves like one of these",
                              fmt::join(shown.ranks, ", "), total);
  } else {
    shown.words = fmt::format("ranks {} of {}; other ranks behave differently and are not shown",
                              fmt::join(shown.ranks, ", "), total);
  }
  return shown;
}

}  // namespace gradway::report
