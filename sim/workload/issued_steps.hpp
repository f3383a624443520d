// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "sim/workload/eager.hpp"

namespace gradway {

/// What a forward pass issued, by settings. The points of a sweep, and both runs of a step at the power
/// limit, ask for the same again; to write it down takes longer than to look it up. Several threads may ask.
class IssuedSteps {
 public:
  /// Of `calls` under the settings: found, or issued now. @param calls the same each time
  std::shared_ptr<const EagerStep> of(const std::function<void(Eager&)>& calls,
                                      const EagerSettings& settings);

 private:
  static constexpr std::size_t most = 16;  ///< a large model's is some megabytes

  struct Issued {
    EagerSettings settings;
    std::shared_ptr<const EagerStep> step;
  };
  std::shared_ptr<const EagerStep> find(const EagerSettings& settings);

  std::mutex mutex_;
  std::list<Issued> latest_;  ///< that were asked for, the last one first
};

}  // namespace gradway
