// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/metrics/bottleneck.hpp"

namespace gradway::report {

/// A bottleneck as users read it.
struct BottleneckWords {
  std::string resource;  ///< "host memory (SHM)"
  std::string why;       ///< a sentence without a full stop
};

BottleneckWords in_words(const Bottleneck& bottleneck);

}  // namespace gradway::report
