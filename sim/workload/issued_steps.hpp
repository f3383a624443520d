// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "sim/workload/eager.hpp"

namespace gradway {

/// Thread-safe cache of a model's steps by settings. The points of a sweep, and both simulations of a step at
/// the power limit, use the same step.
class IssuedSteps {
 public:
  /// The step of a forward pass, from the cache if possible. @param calls the same forward pass on each call
  std::shared_ptr<const EagerStep> of(const std::function<void(Eager&)>& calls,
                                      const EagerSettings& settings);

 private:
  static constexpr std::size_t most = 16;  ///< the step of a large model needs some megabytes

  struct Issued {
    EagerSettings settings;
    std::shared_ptr<const EagerStep> step;
  };
  std::shared_ptr<const EagerStep> find(const EagerSettings& settings);

  std::mutex mutex_;
  std::list<Issued> latest_;  ///< most recently used first
};

}  // namespace gradway
