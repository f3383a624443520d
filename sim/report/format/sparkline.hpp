// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gradway::report {

/// A column of text a value, from the least (▁) to the most (█) in eight levels; values that do not differ
/// in the four digits that a table shows are all ▄. What is not finite is a blank.
std::string sparkline(const std::vector<double>& values);

}  // namespace gradway::report
