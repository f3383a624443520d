// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace gradway::probe {

/// Looks at a GPU's clocks now and then, from a thread of its own, until it is asked what it saw.
class ThrottleWatch {
 public:
  explicit ThrottleWatch(int gpu);
  /// Ends the watch. @return what slowed the GPU, in words; empty if nothing did or the driver cannot tell
  std::string verdict();

 private:
  int gpu_;
  std::vector<std::uint64_t> reasons_;
  std::jthread thread_;
};

}  // namespace gradway::probe
