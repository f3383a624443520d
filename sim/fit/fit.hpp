// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/fit/node_facts.hpp"
#include "sim/samples/samples.hpp"

namespace gradway {

/// Title of a calibration file.
struct CalibrationTitle {
  std::string source;
  std::string date;  ///< date of the measurement, year-month-day; empty if unknown
};

/// Fits a calibration to all samples of a node, and adds the errors of a second fit on samples that were held
/// back from it. @throws ConfigError if no sample can be fitted
/// @param node facts that the samples lack; without them, contention is fitted as plain slow-downs
Calibration fit(const Samples& samples, const CalibrationTitle& title, const NodeFacts& node = {});

}  // namespace gradway
