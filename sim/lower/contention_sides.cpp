// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/contention_sides.hpp"

#include <cmath>

#include "sim/cost/contention.hpp"

namespace gradway {

ContentionSides::ContentionSides(Precision precision, int multiprocessors)
    : default_kernel_{KernelClass::matrix, precision, 0, 0}, multiprocessors_{multiprocessors} {}

std::uint32_t ContentionSides::collective_side(OpGraph& graph, const Communicator& communicator,
                                               const std::vector<std::uint32_t>& actors) const {
  if (!communicator.occupies_multiprocessors()) return Op::absent;
  const auto* entry = communicator.contention(default_kernel_);
  return graph.add_contender({Contender::Kind::collective, entry ? entry->collective_slowdown : 1, actors});
}

ContentionSides::Effect ContentionSides::effect_of(const Footprint& kernel,
                                                   const Communicator& communicator) const {
  if (!communicator.occupies_multiprocessors()) return {};
  const auto* entry = communicator.contention(kernel);
  if (entry && entry->channels == 0)
    return {static_cast<int>(std::lround(entry->kernel_slowdown * 1000)), false, false};
  const auto channels = communicator.channels();
  const double beyond = entry ? entry->kernel_slowdown : 1;
  const double slowdown = beyond * wave_slowdown(kernel, multiprocessors_, channels);
  return {static_cast<int>(std::lround(slowdown * 1000)),
          blocks_collective(kernel, multiprocessors_, channels), false};
}

std::uint32_t ContentionSides::kernel_side(OpGraph& graph, std::uint32_t actor,
                                           const std::optional<Footprint>& footprint,
                                           const std::vector<const Communicator*>& communicators) {
  const auto kernel = footprint.value_or(default_kernel_);
  Effect strongest;
  for (const auto* communicator : communicators) {
    auto effect = effects_.find({communicator, kernel});
    if (effect == effects_.end())
      effect = effects_.emplace(std::pair{communicator, kernel}, effect_of(kernel, *communicator)).first;
    strongest = std::max(strongest, effect->second);
  }
  if (strongest.is_none) return Op::absent;
  const auto [side, is_new] = known_.try_emplace({actor, strongest}, 0);
  if (is_new)
    side->second = graph.add_contender(
        {Contender::Kind::kernel, strongest.thousandths / 1000.0, {actor}, strongest.holds});
  return side->second;
}

}  // namespace gradway
