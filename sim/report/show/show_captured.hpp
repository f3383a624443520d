// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/format/style.hpp"
#include "sim/workload/model.hpp"

namespace gradway::report {

/// Writes a captured model: its source, parameters and micro-batch, and per kind of operation their number,
/// FLOPs and bytes. @pre model.captured
void write_captured(std::ostream& out, const Model& model, const Style& style);

}  // namespace gradway::report
