// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <vector>

#include "sim/base/problem.hpp"

namespace gradway::report {

/// Writes what is wrong with the user's input as one document: a list of objects with `file`, `line`,
/// `column` and `length` (0: none), `text` (the line), `message`, `notes` and `hint`.
void write_json(std::ostream& out, const std::vector<Problem>& problems);

}  // namespace gradway::report
