// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "sim/cost/kernel_times.hpp"
#include "sim/fit/node_facts.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Timed kernels of the samples, in the order of files. A kernel that was timed several times gets its
/// median. Empty if there are none.
/// @throws ConfigError if the samples are of several GPU models, or do not name their GPU model
std::optional<KernelTimes> fit_kernel_times(const Samples& samples, const NodeFacts& node,
                                            const std::string& source);

/// Writes the section `kernel_times` of a calibration file: one row per kernel, with its time in us to four
/// digits.
void write_kernel_times(std::ostream& out, const KernelTimes& times);

}  // namespace gradway
