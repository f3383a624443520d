// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/format/style.hpp"
#include "sim/workload/model.hpp"

namespace gradway::report {

/// Writes what a captured model holds: where it comes from, its parameters and micro-batch, and its
/// operations by name with their number, work and the bytes they move. @pre the model was captured
void write_captured(std::ostream& out, const Model& model, const Style& style);

}  // namespace gradway::report
