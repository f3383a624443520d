// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/measure.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "sim/metrics/ops_of_steps.hpp"

namespace gradway {
namespace {

struct Amounts {
  std::map<ResourceId, double> carried;  ///< bytes of the step's flows
  std::map<ResourceId, double>
      wanted;  ///< bytes per second that endless flows demand; few resources have any
};

Amounts amounts(const StepWindow& window, const Platform& platform, const OpGraph& ops,
                const Timeline& timeline) {
  Amounts totals;
  for (std::size_t i = 0; i < first_op_of(0, ops); ++i) {
    const auto& op = ops.op(OpId{i});
    if (!op.is_endless()) continue;
    const auto share = op.period > Seconds{} ? op.on / op.period : 1;
    for (const auto resource : ops.path(op.path)) totals.wanted[resource] += op.cap * share;
  }
  std::vector<std::vector<double*>> carried_by(ops.paths().size());  // by path; found with its first flow
  const auto end = first_op_of(window.step + 1, ops);
  for (auto i = first_op_of(window.step - window.steps + 1, ops); i < end; ++i) {
    const auto& op = ops.op(OpId{i});
    if (op.kind != OpKind::flow) continue;
    const auto times = window.repeated.has(timeline.start[i]) ? 1 + window.repeated.left_out : 1;
    auto& carried = carried_by[op.path];
    if (carried.empty())
      for (const auto resource : ops.path(op.path)) carried.push_back(&totals.carried[resource]);
    for (auto* bytes : carried) *bytes += op.amount * times;
  }
  for (auto& [resource, bytes] : totals.carried) bytes /= window.steps;
  std::erase_if(totals.carried, [&](const auto& carried) {
    const auto kind = platform.resources[carried.first.index()].kind;
    return kind == ResourceKind::gpu || kind == ResourceKind::cores || carried.second == 0;
  });
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
  const auto& representatives = lowered.folding.resources;
  std::size_t used = 0;
  ResourceUses uses;
  for (const auto& [id, bytes] : totals.carried) {
    used += representatives.represented_by(id);
    uses.carried.emplace_back(id, Bytes{bytes});
  }
  const bool is_large = used > most_links_listed;
  const auto list = [&](ResourceId id, ResourceId stands_for, double bytes) {
    const auto& resource = platform.resources[id.index()];
    // A loader reads for the first steps of an epoch before they start.
    const auto busy = std::min(1.0, bytes / (resource.rate() * window.each().value()));
    const auto wanted = totals.wanted.find(stands_for);
    uses.links.push_back({platform.name_of(id), busy, Bytes{bytes},
                          wanted == totals.wanted.end() ? 0 : wanted->second / resource.rate(),
                          is_large ? representatives.represented_by(id) - 1 : 0,
                          spread_of(platform, resource)});
  };
  if (is_large)
    for (const auto& [id, bytes] : totals.carried) list(id, id, bytes);
  for (std::size_t i = 0; !is_large && i < platform.resources.size(); ++i) {
    const auto stands_for = representatives.of(ResourceId{i});
    const auto carried = totals.carried.find(stands_for);
    if (carried != totals.carried.end()) list(ResourceId{i}, stands_for, carried->second);
  }
  std::ranges::stable_sort(uses.links, std::ranges::greater{}, &ResourceUse::busy_fraction);
  return uses;
}

}  // namespace gradway
