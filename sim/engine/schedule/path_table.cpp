// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/schedule/path_table.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/contract.hpp"

namespace gradway {

PathTable::PathTable(const Platform& platform, const OpGraph& graph) {
  constexpr std::uint32_t unused = UINT32_MAX;
  constexpr std::uint32_t used = 0;
  std::vector<std::uint32_t> number(platform.resources.size(), unused);
  for (const auto& path : graph.paths()) {
    for (const ResourceId id : path) {
      expects(id.index() < number.size(), "a path names resources of the platform");
      const double rate = platform.resources[id.index()].rate();
      expects(rate >= 0, "a capacity is a number of at least zero");
      if (std::isfinite(rate)) number[id.index()] = used;
    }
  }
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (number[i] == unused) continue;
    number[i] = static_cast<std::uint32_t>(resources_.size());
    resources_.emplace_back(i);
    capacities_.push_back(platform.resources[i].rate());
  }
  std::vector<std::uint32_t> resources;
  for (const auto& path : graph.paths()) {
    resources.clear();
    for (const ResourceId id : path)
      if (number[id.index()] != unused) resources.push_back(number[id.index()]);
    add(resources);
  }
}

std::optional<std::uint32_t> PathTable::number(ResourceId resource) const {
  const auto place = std::ranges::lower_bound(resources_, resource);
  if (place == resources_.end() || *place != resource) return std::nullopt;
  return static_cast<std::uint32_t>(place - resources_.begin());
}

void PathTable::add(std::vector<std::uint32_t>& resources) {
  std::sort(resources.begin(), resources.end());
  bool blocked = false;
  for (const std::uint32_t resource : resources) {
    blocked = blocked || capacities_[resource] == 0;
    if (uses_.size() > first_.back() && uses_.back().resource == resource) {
      ++uses_.back().times;
    } else {
      uses_.push_back({resource, 1});
    }
  }
  longest_ = std::max(longest_, uses_.size() - first_.back());
  first_.push_back(uses_.size());
  blocked_.push_back(blocked);
}

}  // namespace gradway
