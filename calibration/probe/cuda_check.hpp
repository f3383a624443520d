// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

namespace gradway::probe {

/// A probe cannot go on; the text says why. Other probes can.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws Failure with what was tried and CUDA's own words
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Failure{std::string{what} + ": " + cudaGetErrorString(status)};
}

}  // namespace gradway::probe
