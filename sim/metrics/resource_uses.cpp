// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/measure.hpp"

#include <algorithm>
#include <map>

#include "sim/metrics/ops_of_steps.hpp"

namespace gradway {
namespace {

struct Amounts {
  std::vector<double> carried;  ///< by resource: bytes of the step's flows
  std::map<ResourceId, double>
      wanted;  ///< bytes per second that endless flows demand; few resources have any
};

Amounts amounts(const StepWindow& window, const Platform& platform, const OpGraph& ops,
                const Timeline& timeline) {
  Amounts totals{.carried = std::vector<double>(platform.resources.size(), 0), .wanted = {}};
  for (std::size_t i = 0; i < first_op_of(0, ops); ++i) {
    const auto& op = ops.op(OpId{i});
    if (!op.is_endless()) continue;
    const auto share = op.period > Seconds{} ? op.on / op.period : 1;
    for (const auto resource : ops.path(op.path)) totals.wanted[resource] += op.cap * share;
  }
  const auto end = first_op_of(window.step + 1, ops);
  for (auto i = first_op_of(window.step - window.steps + 1, ops); i < end; ++i) {
    const auto& op = ops.op(OpId{i});
    if (op.kind != OpKind::flow) continue;
    const auto times = window.repeated.has(timeline.start[i]) ? 1 + window.repeated.left_out : 1;
    for (const auto resource : ops.path(op.path)) totals.carried[resource.index()] += op.amount * times;
  }
  for (auto& carried : totals.carried) carried /= window.steps;
  return totals;
}

double spread_of(const Platform& platform, const Resource& resource) {
  if (resource.kind != ResourceKind::link || !platform.network) return 1;
  return is_between_switches(platform, platform.links[resource.of]) ? platform.network->spread : 1;
}

}  // namespace

ResourceUses use_of_resources(const StepWindow& window, const Platform& platform, const Lowered& lowered,
                              const Timeline& timeline) {
  const auto totals = amounts(window, platform, lowered.ops, timeline);
  const auto& representative = lowered.folding.resources;
  const auto is_used = [&](ResourceId id) {
    const auto kind = platform.resources[id.index()].kind;
    return kind != ResourceKind::gpu && kind != ResourceKind::cores &&
           totals.carried[representative.of(id).index()] != 0;
  };
  std::size_t used = 0;
  std::map<ResourceId, std::size_t> alike;  // by representative resource
  for (std::size_t i = 0; i < platform.resources.size(); ++i) {
    if (!is_used(ResourceId{i})) continue;
    ++used;
    ++alike[representative.of(ResourceId{i})];
  }
  ResourceUses uses;
  const bool is_large = used > most_links_listed;
  for (std::size_t i = 0; i < platform.resources.size(); ++i) {
    const ResourceId id{i};
    if (!is_used(id)) continue;
    const auto& resource = platform.resources[i];
    const auto stands_for = representative.of(id);
    const auto bytes = totals.carried[stands_for.index()];
    if (stands_for == id) uses.carried.emplace_back(id, Bytes{bytes});
    if (is_large && stands_for != id) continue;
    // A loader reads for the first steps of an epoch before they start.
    const auto busy = std::min(1.0, bytes / (resource.rate() * window.each().value()));
    const auto wanted = totals.wanted.find(stands_for);
    uses.links.push_back({platform.name_of(id), busy, Bytes{bytes},
                          wanted == totals.wanted.end() ? 0 : wanted->second / resource.rate(),
                          is_large ? alike.at(id) - 1 : 0, spread_of(platform, resource)});
  }
  std::ranges::stable_sort(uses.links, std::ranges::greater{}, &ResourceUse::busy_fraction);
  return uses;
}

}  // namespace gradway
