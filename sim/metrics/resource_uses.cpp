// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/resource_uses.hpp"

#include <algorithm>

namespace gradway {
namespace {

/// By resource: what flows of the step carry, and what endless ones would like to.
struct Amounts {
  explicit Amounts(std::size_t resources) : carried(resources, 0), wanted(resources, 0) {}

  std::vector<double> carried;
  std::vector<double> wanted;
};

Amounts amounts(const StepWindow& window, const Platform& platform, const OpGraph& ops) {
  Amounts of{platform.resources.size()};
  for (const auto& op : ops.ops()) {
    if (op.is_endless()) {
      for (const auto resource : ops.path(op.path)) of.wanted[resource.index()] += op.cap;
    }
    if (op.kind != OpKind::flow || !window.has(op.origin.step)) continue;
    for (const auto resource : ops.path(op.path)) of.carried[resource.index()] += op.amount;
  }
  for (auto& carried : of.carried) carried /= window.steps;
  return of;
}

}  // namespace

ResourceUses use_of_resources(const StepWindow& window, const Platform& platform, const Lowered& lowered) {
  const auto of = amounts(window, platform, lowered.ops);
  const auto& representative = lowered.folding.resource_representative;
  std::vector<ResourceId> used;
  std::vector<std::uint32_t> alike(platform.resources.size(), 0);  // by resource that stands for itself
  for (std::size_t i = 0; i < platform.resources.size(); ++i) {
    const auto stands_for = representative[i];
    const auto kind = platform.resources[i].kind;
    if (kind == ResourceKind::gpu || kind == ResourceKind::cores || of.carried[stands_for.index()] == 0)
      continue;
    used.emplace_back(i);
    ++alike[stands_for.index()];
  }
  ResourceUses uses;
  const bool is_large = used.size() > most_links_listed;
  for (const auto id : used) {
    const auto& resource = platform.resources[id.index()];
    const auto stands_for = representative[id.index()];
    const auto bytes = of.carried[stands_for.index()];
    if (stands_for == id) uses.carried.emplace_back(id, Bytes{bytes});
    if (is_large && stands_for != id) continue;
    // What a loader reads for the first steps of an epoch comes before them.
    const auto busy = std::min(1.0, bytes / (resource.rate() * window.each().value()));
    uses.links.push_back({platform.name_of(id), busy, Bytes{bytes},
                          of.wanted[stands_for.index()] / resource.rate(),
                          is_large ? alike[id.index()] - 1 : 0});
  }
  std::ranges::stable_sort(uses.links, std::ranges::greater{}, &ResourceUse::busy_fraction);
  return uses;
}

}  // namespace gradway
