// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "observe/diagnose/diagnose.hpp"
#include "sim/config/config.hpp"

namespace gradway::test {

inline const DataPath shipped_data{{GRADWAY_SOURCE_DIR}};

/// A shipped platform, with its calibration.
inline DiagnosisBasis basis_on(const std::string& platform, int gpus) {
  DiagnosisBasis basis;
  basis.platform_name = platform;
  basis.platform = load_platform(platform, gpus, shipped_data, &basis.calibration);
  return basis;
}

}  // namespace gradway::test
