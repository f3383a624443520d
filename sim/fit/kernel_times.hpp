// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "sim/cost/kernel_times.hpp"
#include "sim/fit/node_facts.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// The kernels that the samples have times of, in the order of files; one that was timed several times gets
/// the median. Nothing if there are none.
/// @throws ConfigError if the samples are of several GPU models, or nothing says which they are of
std::optional<KernelTimes> fit_kernel_times(const Samples& samples, const NodeFacts& node,
                                            const std::string& source);

/// Writes the part `kernel_times` of a calibration file: a row a kernel, its time in us to four digits.
void write_kernel_times(std::ostream& out, const KernelTimes& times);

}  // namespace gradway
