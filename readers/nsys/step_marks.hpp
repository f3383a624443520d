// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "readers/nsys/export_rows.hpp"

namespace gradway::nsys {

/// The ranges with which a process marks its steps: of those with a name like "step 3", the ones during which
/// most kernels are launched, and of these the fewest. Empty if none contain half of the launches.
/// @param launches times of launches of kernels
std::vector<const Range*> step_marks(const std::vector<Range>& ranges, std::int64_t process,
                                     std::vector<std::int64_t> launches);

}  // namespace gradway::nsys
