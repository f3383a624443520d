// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/study/compare/training.hpp"
#include "sim/study/search/bucket_caps.hpp"
#include "sim/study/search/sharding_settings.hpp"

namespace gradway {

/// The same job without and with activation checkpointing, which is tried with what does not fit without.
struct RecomputeToTry {
  std::size_t without = 0;  ///< a job of the search space
  std::size_t with = 0;
};

/// A key that is no setting of the strategy, and what it is searched with.
struct JobSetting {
  std::string key;  ///< "input.loader_workers"
  std::vector<std::string> values;
};

/// What is searched: the cross product of these. A key that is not searched has one value.
struct SearchSpace {
  std::vector<Scenario> jobs;  ///< as written, then with other keys than those below changed
  /// By job: "nccl.NCCL_PROTO" and its value where the job differs from the one as written.
  std::vector<std::vector<Override>> changes{};
  std::vector<JobSetting> job_settings{};
  std::vector<RecomputeToTry> recompute{};
  std::vector<ShardingSetting> sharding{};  ///< of a strategy that shards; the others are DDP's
  bool any_bucket_cap = false;              ///< every whole MiB, beside `bucket_caps`
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

/// What is asked of a search.
struct SearchRequest {
  std::string scenario;
  std::vector<Override> set;
  std::vector<std::string> over;  ///< "NAME,NAME,..." or "KEY=V1,V2,..."
  bool lossy = false;             ///< hooks that change the gradients' values are searched too
  PriceChoice price;
};

/// A search and the words for it.
struct ParsedSearch {
  SearchSpace space;
  std::vector<std::string> keys;         ///< that are searched, as `--over` names them
  std::vector<CommHook> lossy_left_out;  ///< hooks that would be searched, were they allowed
};

/// Reads the jobs of a search. Keys of the input that are named without values take those of
/// study/search/input_settings.hpp. Without `over` these are searched, but for those that are set: of DDP
/// bucket_cap, static_graph, gradient_as_bucket_view and comm_hook; of FSDP2, FSDP1 and ZeRO all their
/// settings (study/search/sharding_settings.hpp) and, where memory asks for it, recompute.
/// @throws ConfigError for names that are no settings, settings that are set too, values that a scenario
/// would not take, lossy hooks that are not allowed, and other strategies.
ParsedSearch read_search(const SearchRequest& request, const DataPath& data);

}  // namespace gradway
