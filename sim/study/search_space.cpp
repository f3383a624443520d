// SPDX-License-Identifier: Apache-2.0
#include "sim/study/search_space.hpp"

#include <algorithm>

namespace gradway {

bool is_lossy(CommHook hook) {
  return hook != CommHook::none;
}

Ddp pytorch_defaults() {
  return Ddp{};
}

bool has(const SearchSpace& space, const Ddp& strategy) {
  const auto is_among = [](const auto& values, const auto& value) {
    return std::ranges::find(values, value) != values.end();
  };
  const bool has_cap =
      is_among(space.bucket_caps, strategy.bucket_cap) || (space.any_bucket_cap && strategy.bucket_cap);
  const bool has_rank =
      strategy.comm_hook != CommHook::powersgd || is_among(space.powersgd_ranks, strategy.powersgd_rank);
  return has_cap && has_rank && is_among(space.static_graph, strategy.static_graph) &&
         is_among(space.views, strategy.gradient_as_bucket_view) && is_among(space.hooks, strategy.comm_hook);
}

}  // namespace gradway
