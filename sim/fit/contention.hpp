// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/fit/samples.hpp"

namespace gradway {

/// What the fit must know of the GPUs and of NCCL, which the rows do not say.
struct NodeFacts {
  int multiprocessors = 0;                            ///< of a GPU; 0: not known
  std::map<std::pair<Transport, int>, int> channels;  ///< of a large all-reduce, by transport and ranks
};

/// One experiment: products in a row on one stream, all-reduces in a row on another, begun together.
struct SideBySideTrial {
  Seconds kernel{};  ///< one alone
  int kernels = 0;
  Seconds collective{};  ///< one alone
  int collectives = 0;
};

/// When each of the two rows ends.
struct SideBySideEnds {
  Seconds kernels{};
  Seconds collectives{};
};

/// The experiment by the law of the engines: while both are under way each takes its slow-down longer; if
/// `held`, a collective that follows another starts when the kernel then running ends.
SideBySideEnds side_by_side_ends(const SideBySideTrial& trial, double kernel_slowdown,
                                 double collective_slowdown, bool held);

/// Slow-downs by transport, ranks and precision: those with which the experiment ends as it was measured.
/// What the multiprocessors that the collective takes explain is divided out of the kernels' slow-down; of
/// pairs that fit alike the smallest wins. Rows alone and together of the same transport, ranks and product
/// belong together; others are left out.
std::vector<SideBySide> fit_contention(const std::vector<ContentionRow>& rows, const NodeFacts& node);

}  // namespace gradway
