// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/issued_steps.hpp"

#include <algorithm>

#include "sim/base/contract.hpp"

namespace gradway {

std::shared_ptr<const EagerStep> IssuedSteps::find(const EagerSettings& settings) {
  const std::lock_guard lock{mutex_};
  const auto found = std::ranges::find(latest_, settings, &Issued::settings);
  if (found == latest_.end()) return nullptr;
  latest_.splice(latest_.begin(), latest_, found);
  return found->step;
}

std::shared_ptr<const EagerStep> IssuedSteps::of(const std::function<void(Eager&)>& calls,
                                                 const EagerSettings& settings) {
  if (auto known = find(settings)) return known;
  Eager eager{settings};
  calls(eager);
  eager.finish();
  auto step = std::make_shared<const EagerStep>(eager.operations(), eager.take_layers(), eager.memory());
  const std::lock_guard lock{mutex_};
  latest_.push_front({settings, step});
  if (latest_.size() > most) latest_.pop_back();
  return step;
}

ForwardPass::ForwardPass(std::function<void(Eager&)> calls)
    : calls_{std::move(calls)}, issued_{std::make_shared<IssuedSteps>()} {}

std::shared_ptr<const EagerStep> ForwardPass::step(const EagerSettings& settings) const {
  expects(static_cast<bool>(calls_), "a model must have a forward pass");
  return issued_->of(calls_, settings);
}

}  // namespace gradway
