// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "sim/report/format/style.hpp"
#include "sim/study/diagnose/diagnose.hpp"

namespace gradway::report {

/// Prints what a run is, how it compares with the expectation, and the verdict.
void write_diagnosis(std::ostream& out, const JobRun& run, const DiagnosisBasis& basis,
                     const Diagnosis& diagnosis, const Style& style);

}  // namespace gradway::report
