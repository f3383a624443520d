// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace gradway::probe {

/// Samples a GPU's throttle reasons from a separate thread.
class ThrottleWatch {
 public:
  explicit ThrottleWatch(int gpu);
  /// Ends sampling. @return what slowed the GPU, in words; empty if nothing did or the driver cannot report
  /// it
  std::string verdict();

 private:
  int gpu_;
  std::vector<std::uint64_t> reasons_;
  std::jthread thread_;
};

}  // namespace gradway::probe
