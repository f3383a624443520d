// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nccl.h>

#include "calibration/probe/cuda_check.hpp"

namespace gradway::probe {

/// @throws Failure with what was tried and NCCL's own words
inline void check(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  const std::string detail = ncclGetLastError(nullptr);
  throw Failure{std::string{what} + ": " + ncclGetErrorString(status) +
                (detail.empty() ? "" : ", " + detail)};
}

}  // namespace gradway::probe
