// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/schedule/side_table.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/contract.hpp"

namespace gradway {

namespace {

std::size_t own_kind(const Contender& side) {
  return side.kind == Contender::Kind::kernel ? 0 : 1;
}

}  // namespace

SideTable::SideTable(const OpGraph& graph)
    : graph_{graph}, neighbours_(graph.contenders().empty() ? 0 : graph.size(), 0) {
  std::size_t gpus = 0;
  for (const Contender& side : graph.contenders()) {
    expects(std::isfinite(side.slowdown), "a slowdown is finite");
    for (const std::uint32_t gpu : side.gpus) gpus = std::max<std::size_t>(gpus, gpu + 1);
  }
  gpus_.resize(gpus);
}

void SideTable::enter(OpId id, Seconds date) {
  const auto op = static_cast<std::uint32_t>(id.index());
  if (graph_.op(id).contender == Op::absent) return;
  const Contender& side = graph_.contenders()[graph_.op(id).contender];
  const bool susceptible = is_susceptible(op);
  for (const std::uint32_t gpu : side.gpus) {
    OpsInFlow& same = gpus_[gpu][own_kind(side)];
    const OpsInFlow& opposite = gpus_[gpu][1 - own_kind(side)];
    ++same.count;
    if (side.blocks_collectives) same.holders.push_back({op, date});
    if (susceptible) {
      same.susceptible.push_back(op);
      add_neighbours(op, opposite.count);
    }
    for (const std::uint32_t neighbour : opposite.susceptible) add_neighbours(neighbour, 1);
  }
}

void SideTable::leave(OpId id) {
  const auto op = static_cast<std::uint32_t>(id.index());
  if (graph_.op(id).contender == Op::absent) return;
  const Contender& side = graph_.contenders()[graph_.op(id).contender];
  const bool susceptible = is_susceptible(op);
  for (const std::uint32_t gpu : side.gpus) {
    OpsInFlow& same = gpus_[gpu][own_kind(side)];
    --same.count;
    if (side.blocks_collectives)
      std::erase_if(same.holders, [&](const HoldingKernel& holder) { return holder.op == op; });
    if (susceptible) {
      const auto place = std::find(same.susceptible.begin(), same.susceptible.end(), op);
      *place = same.susceptible.back();
      same.susceptible.pop_back();
    }
    for (const std::uint32_t neighbour : gpus_[gpu][1 - own_kind(side)].susceptible)
      remove_neighbours(neighbour, 1);
  }
}

std::vector<OpId> SideTable::holders(OpId id, Seconds date) const {
  std::vector<OpId> kernels;
  for (const std::uint32_t gpu : graph_.contenders()[graph_.op(id).contender].gpus) {
    for (const HoldingKernel& holder : gpus_[gpu][0].holders)
      if (holder.since < date) kernels.emplace_back(holder.op);
  }
  std::ranges::sort(kernels, {}, &OpId::index);
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  return kernels;
}

double SideTable::cap(OpId id) const {
  const Op& op = graph_.op(id);
  const bool slowed = op.contender != Op::absent && neighbours_[id.index()] > 0;
  return slowed ? op.cap / graph_.contenders()[op.contender].slowdown : op.cap;
}

bool SideTable::is_susceptible(std::uint32_t op) const {
  const Op& flow = graph_.ops()[op];
  return std::isfinite(flow.cap) && graph_.contenders()[flow.contender].slowdown > 1;
}

void SideTable::add_neighbours(std::uint32_t op, std::uint32_t count) {
  if (neighbours_[op] == 0 && count > 0) changes_.push_back(OpId{op});
  neighbours_[op] += count;
}

void SideTable::remove_neighbours(std::uint32_t op, std::uint32_t count) {
  neighbours_[op] -= count;
  if (neighbours_[op] == 0 && count > 0) changes_.push_back(OpId{op});
}

}  // namespace gradway
