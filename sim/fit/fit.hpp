// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/fit/node_facts.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// What a calibration says about itself.
struct CalibrationTitle {
  std::string source;
  std::string date;  ///< of the measurement, year-month-day; empty if it is not known
};

/// Everything the samples tell of their node, from all of them; and what a second fit, which a part of them
/// was held back from, says of that part. @throws ConfigError if that is nothing
/// @param node without it, what kernels and collectives cost each other is fitted as plain factors
Calibration fit(const Samples& samples, const CalibrationTitle& title, const NodeFacts& node = {});

}  // namespace gradway
