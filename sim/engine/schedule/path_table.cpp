// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/schedule/path_table.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/contract.hpp"

namespace gradway {

PathTable::PathTable(const Platform& platform, const OpGraph& graph) {
  capacities_.reserve(platform.resources.size());
  for (const Resource& resource : platform.resources) {
    expects(resource.rate() >= 0, "a capacity is a number, not below zero");
    capacities_.push_back(resource.rate());
  }
  std::vector<std::uint32_t> resources;
  for (const auto& path : graph.paths()) {
    resources.clear();
    for (const ResourceId id : path) {
      expects(id.index() < capacities_.size(), "a path names resources of the platform");
      if (std::isfinite(capacities_[id.index()])) resources.push_back(static_cast<std::uint32_t>(id.index()));
    }
    add(resources);
  }
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
