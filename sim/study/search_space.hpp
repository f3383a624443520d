// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/study/bucket_caps.hpp"
#include "sim/study/training.hpp"

namespace gradway {

/// What is searched: the cross product of these. A key that is not searched has one value.
struct SearchSpace {
  std::vector<Scenario> jobs;   ///< as written, then with other keys than those below changed
  bool any_bucket_cap = false;  ///< every whole MiB, beside `bucket_caps`
  std::vector<BucketCap> bucket_caps;
  std::vector<bool> static_graph;
  std::vector<bool> views;  ///< gradient_as_bucket_view
  std::vector<CommHook> hooks;
  std::vector<int> powersgd_ranks;     ///< used by the hook powersgd only
  std::optional<TrainingGoal> goal{};  ///< settings that miss its limits are not ranked, if any keeps them
};

/// Does a hook change the gradients' values?
bool is_lossy(CommHook hook);

/// Is it one of the strategies that are searched?
bool has(const SearchSpace& space, const Ddp& strategy);

/// DDP as PyTorch sets it up when it is told nothing.
Ddp pytorch_defaults();

}  // namespace gradway
