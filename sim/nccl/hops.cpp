// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl/hops.hpp"

namespace gradway {

void Hops::reserve(std::size_t hops) {
  kind_.reserve(hops);
}

void Hops::add(const Hop& hop) {
  const Kind kind{hop.transport, hop.nvlink, hop.bandwidth, hop.latency};
  const auto [place, is_new] = known_.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(kind);
  kind_.push_back(place->second);
  last_begins_ = path_.size();
  path_.insert(path_.end(), hop.path.begin(), hop.path.end());
}

std::vector<ResourceId> Hops::path_without_last() const {
  return {path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(last_begins_)};
}

}  // namespace gradway
