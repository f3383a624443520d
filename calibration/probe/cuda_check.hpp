// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

namespace gradway::probe {

/// A probe cannot continue, for the reason in the message. Other probes can.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @throws Failure with what was tried and CUDA's message
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Failure{std::string{what} + ": " + cudaGetErrorString(status)};
}

}  // namespace gradway::probe
