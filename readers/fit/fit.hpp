// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "readers/fit/node_facts.hpp"
#include "readers/samples/samples.hpp"

namespace gradway {

/// Title of a calibration file.
struct CalibrationTitle {
  std::string source;
  std::string date;  ///< Date of the measurement, year-month-day; empty if unknown.
};

/// Fits a calibration to all samples of a node, and adds the errors of a second fit on held-back samples.
/// @throws ConfigError if no sample can be fitted
/// @param node facts that the samples lack; without them, contention is fitted as plain slow-downs
Calibration fit(const Samples& samples, const CalibrationTitle& title, const NodeFacts& node = {});

/// Samples split into those for a second fit and those that it has to predict.
struct SplitSamples {
  Samples kept;
  Samples held;
};

/// Holds back samples by a rule that depends neither on the order of rows nor on their times: of each table,
/// link, product shape, kernel, optimizer and attention the second, fifth, eighth, ... size, but never the
/// largest; of each transport, ranks, precision and channels of contention the middle experiment (by product,
/// then size), if there are two. All rows of a size go together. Patterns and launch costs are kept, as each
/// of them is single.
SplitSamples hold_back(const Samples& samples);

}  // namespace gradway
