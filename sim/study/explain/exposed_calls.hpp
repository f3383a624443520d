// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/run/simulate.hpp"

namespace gradway {

/// Collectives of a step that no kernel hides, and what they waited for.
struct ExposedCalls {
  std::string name;  ///< "block all-gather": those of all blocks together
  int calls = 0;
  Seconds exposed{};  ///< under way while the GPU computes nothing
  std::string why;    ///< what the start of most of this time waited for
};

/// Of the first rank, in the last of the reported steps; the longest first. Such as take less than a
/// thousandth of the step are left out.
std::vector<ExposedCalls> exposed_calls(const Run& run);

}  // namespace gradway
