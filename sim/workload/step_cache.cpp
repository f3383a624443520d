// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <list>
#include <memory>

#include "sim/base/contract.hpp"
#include "sim/base/mutex.hpp"
#include "sim/workload/eager/eager_step.hpp"

namespace gradway {

/// Thread-safe cache of a model's steps by settings. The points of a sweep, and both simulations of a step at
/// the power limit, use the same step.
class ForwardPass::StepCache {
 public:
  /// The step of a forward pass, from the cache if possible. @param calls the same forward pass on each call
  std::shared_ptr<const EagerStep> of(const std::function<void(Eager&)>& calls,
                                      const EagerSettings& settings);

 private:
  static constexpr std::size_t most = 16;  ///< the step of a large model needs some megabytes

  struct Entry {
    EagerSettings settings;
    std::shared_ptr<const EagerStep> step;
  };
  std::shared_ptr<const EagerStep> find(const EagerSettings& settings);

  Mutex mutex_;
  std::list<Entry> latest_;  ///< most recently used first
};

std::shared_ptr<const EagerStep> ForwardPass::StepCache::find(const EagerSettings& settings) {
  const std::lock_guard lock{mutex_};
  const auto entry = std::ranges::find(latest_, settings, &Entry::settings);
  if (entry == latest_.end()) return nullptr;
  latest_.splice(latest_.begin(), latest_, entry);
  return entry->step;
}

std::shared_ptr<const EagerStep> ForwardPass::StepCache::of(const std::function<void(Eager&)>& calls,
                                                            const EagerSettings& settings) {
  if (auto known = find(settings)) return known;
  Eager eager{settings};
  calls(eager);
  eager.finish();
  auto step = std::make_shared<const EagerStep>(eager.take_operations(), eager.take_layers(), eager.memory());
  const std::lock_guard lock{mutex_};
  latest_.push_front({settings, step});
  if (latest_.size() > most) latest_.pop_back();
  return step;
}

ForwardPass::ForwardPass(std::function<void(Eager&)> calls)
    : calls_{std::move(calls)}, steps_{std::make_shared<StepCache>()} {}

std::shared_ptr<const EagerStep> ForwardPass::step(const EagerSettings& settings) const {
  expects(static_cast<bool>(calls_), "a model must have a forward pass");
  return steps_->of(calls_, settings);
}

}  // namespace gradway
