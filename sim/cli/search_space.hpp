// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/cli/surroundings.hpp"
#include "sim/study/optimize.hpp"

namespace gradway::cli {

/// What is asked of a search.
struct SearchRequest {
  std::string scenario;
  std::vector<std::string> set;   ///< "KEY=VALUE"
  std::vector<std::string> over;  ///< "NAME,NAME,..." or "KEY=V1,V2,..."
  bool lossy = false;             ///< hooks that change the gradients' values are searched too
  PriceChoice price;
};

/// A search and the words for it.
struct AskedSearch {
  SearchSpace space;
  std::vector<std::string> keys;  ///< that are searched, as `--over` names them
  /// By job of the space: "nccl.NCCL_PROTO" and its value where the job differs from the one as written.
  std::vector<std::vector<Override>> changes;
  std::vector<CommHook> lossy_left_out;  ///< hooks that would be searched, were they allowed
};

/// Reads the jobs of a search. Without `over` these are searched: bucket_cap, static_graph,
/// gradient_as_bucket_view and comm_hook, but for those that are set.
/// @throws ConfigError for names that are no settings, settings that are set too, values that a scenario
/// would not take, lossy hooks that are not allowed, and strategies other than DDP.
AskedSearch read_search(const SearchRequest& request, const DataPath& data);

}  // namespace gradway::cli
