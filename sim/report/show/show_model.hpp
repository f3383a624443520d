// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/text/style.hpp"
#include "sim/workload/model.hpp"

namespace gradway::report {

/// Writes what gradway understood of a model: each layer with its tensors, parameters and operations, the
/// totals, and the measured steps that its compute costs are anchored to.
void write_model(std::ostream& out, const Model& model, const Style& style);

}  // namespace gradway::report
