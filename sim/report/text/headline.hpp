// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/text/style.hpp"
#include "sim/run/simulate.hpp"

namespace gradway::report {

/// The first lines of a job that would run out of memory: all that follows is what it would take if it did
/// not.
void write_whether_it_fits(std::ostream& out, const Run& run, const Style& style);

}  // namespace gradway::report
