// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/problem.hpp"
#include "sim/base/units.hpp"
#include "sim/platform/price.hpp"
#include "sim/scenario/input.hpp"

namespace gradway {

/// What ranks wait for when a checkpoint is saved.
enum class SaveMode : std::uint8_t {
  sync,   ///< until the checkpoint is on storage
  async,  ///< until it is in host memory; it is written to storage during the next steps
};
inline constexpr std::array<std::string_view, 2> save_mode_words{"sync", "async"};
constexpr std::string_view name_of(SaveMode mode) {
  return save_mode_words[static_cast<std::size_t>(mode)];
}

/// The host memory that an asynchronous checkpoint is copied to.
enum class Staging : std::uint8_t {
  pageable,  ///< allocated for each checkpoint, as dcp.async_save does by default
  pinned,    ///< allocated once per process and reused
};
inline constexpr std::array<std::string_view, 2> staging_words{"pageable", "pinned"};
constexpr std::string_view name_of(Staging staging) {
  return staging_words[static_cast<std::size_t>(staging)];
}

/// How checkpoints are saved and read.
struct CheckpointSettings {
  std::optional<Seconds> interval{};  ///< training time between two checkpoints; empty: the best
  SaveMode mode = SaveMode::sync;
  bool sharded = true;  ///< each rank writes its own shard; false: one rank writes the whole checkpoint
  std::optional<Bytes> size{};           ///< empty: see checkpoint_size
  BytesPerSecond write{};                ///< write bandwidth for all ranks together; 0: see storage
  std::optional<StorageTier> storage{};  ///< instead of the bandwidths
  int keep = 2;  ///< number of checkpoints on the storage; 0: all. ml-engineering 744d01e1: the last one may
                 ///< be incomplete
  double weight = 1;  ///< of writes on a storage tier that also holds the data, whose loaders have 1
  std::optional<BytesPerSecond> read{};         ///< empty: the write bandwidth
  std::optional<BytesPerSecond> per_rank{};     ///< maximum of one rank
  std::optional<Staging> staging{};             ///< empty: see `staging_of`
  std::optional<BytesPerSecond> device_copy{};  ///< from a GPU into host memory
  Seconds overhead{};                           ///< per checkpoint: planning, metadata, barrier
  double slowdown = 1;  ///< async: slow-down of the steps while a checkpoint is written
};

/// Time to resume after an interruption, in addition to reading the checkpoint. The sum is 5 min, as in
/// Meta's estimator (Kokolis et al., arXiv 2410.21680); its parts are assumed.
struct RestartSettings {
  Seconds detection{60};      ///< until the job is stopped
  Seconds requeue{120};       ///< until it has its nodes again and its processes start
  Seconds communicators{60};  ///< until all ranks have initialised their communicators
  Seconds loader{60};         ///< until the data loader delivers the first batch
};

/// Failures that interrupt the training. Rates are one over the mean time between failures.
struct FailureSettings {
  std::string model{};                 ///< name in `failure_models`; "": the rates below
  std::optional<Seconds> node_mttf{};  ///< mean time to failure of a node
  std::optional<Seconds>
      job_mttf{};             ///< of failures whose rate does not grow with the nodes: software, users
  double again = 0;           ///< share of restarts that are followed by another failure
  Seconds again_within{600};  ///< longest time to it: 10 min (Aegis, NSDI 2025)
};

/// Nodes of spare capacity that the provider can take away.
struct SpotSettings {
  std::string model{};                 ///< name in `spot_models`; "": the times below
  std::optional<Seconds> node_up{};    ///< mean time until a node is taken away
  std::optional<Seconds> node_down{};  ///< mean time until it is replaced
  std::optional<int> group{};          ///< nodes that are taken away together
  Seconds notice{120};                 ///< AWS: two minutes
  double share = 1;                    ///< share of the training nodes; the others are on demand
};

/// Episodes in which one node slows down the whole job, and the jitter between ranks in each step.
struct StragglerSettings {
  std::optional<Seconds> node_every{};  ///< mean time between episodes of a node; empty: none
  double slowdown = 1.34;               ///< GREYHOUND, ATC 2025: mean of jobs with 512 GPUs and more
  Seconds lasts{4320};                  ///< the same source: 72 min on average
  double jitter = 0;                    ///< standard deviation of a rank's step time over its mean
};

struct EvaluationSettings {
  int every = 0;  ///< steps between two evaluations; 0: never
  Seconds time{};
};

/// Emissions of a campaign's electricity.
struct CarbonSettings {
  double grams_per_kwh = 0;  ///< carbon intensity of the grid
  Watts node_power{};        ///< of a training node
  double pue = 1;            ///< power of the building over that of its nodes
};

/// A key of the scenario and its value in a part of the campaign.
struct PhaseKey {
  std::string key;    ///< with dots
  std::string value;  ///< YAML text
  Where where{};
};

/// A part of the campaign in which some keys of the scenario have other values: up to an amount of data, or
/// during some hours of each day.
struct CampaignPhase {
  std::optional<double> until{};  ///< tokens or samples, like the length of the campaign
  std::optional<int> by{};        ///< samples by which the global batch grows, up to that of what follows
  std::optional<double> from{}, to{};  ///< hours of the day; a phase may pass midnight
  std::vector<PhaseKey> set{};
};

/// A global batch that follows the bandwidth: the smallest multiple by a power of two whose gradient exchange
/// is hidden.
struct BatchRule {
  double exposed = 0.05;         ///< largest exposed share of a step
  std::optional<int> largest{};  ///< samples; empty: the critical batch, or 64 times the job's own
};

/// What training reaches with how many steps.
struct ConvergenceSettings {
  std::optional<double> critical_batch{};  ///< tokens or samples: the gradient noise scale
  std::optional<double> at_batch{};  ///< batch with which the campaign's length reaches the target; empty:
                                     ///< the job's own
  double more_steps = 1;             ///< factor on the steps, for instance of lossy compression
};

/// Storage that grows under load.
struct StorageGrowth {
  std::vector<std::string> tiers{};  ///< storage tiers that follow input.storage
  Where at{};                        ///< place of their names
  double load = 0.8;                 ///< use of its bandwidth at which it grows
  Seconds delay{};                   ///< from the request until the next tier serves
  Seconds cool_down{};               ///< from a request to the next one
};

/// A whole training, of which a scenario is one step. Exactly one of tokens, samples, epochs and rounds is
/// set.
struct CampaignSettings {
  std::optional<double> tokens{};
  std::optional<double> samples{};
  std::optional<double> epochs{};
  double samples_per_epoch = 0;
  std::optional<int> rounds{};  ///< exchanges of local SGD
  std::optional<CheckpointSettings> checkpoint{};
  RestartSettings restart{};
  std::optional<FailureSettings> failures{};
  std::optional<SpotSettings> spot{};
  StragglerSettings stragglers{};
  EvaluationSettings evaluation{};
  std::optional<int> spares{};  ///< paid spare nodes; empty: a replacement is always available within requeue
  Seconds repair{86400};        ///< until a failed node is back; assumed value
  std::optional<int> elastic_from{};  ///< minimum number of GPUs to continue with; empty: all
  Terms terms = Terms::on_demand;
  std::array<std::optional<UsdPerHour>, terms_words.size()> prices{};  ///< per node
  std::optional<CarbonSettings> carbon{};
  std::vector<CampaignPhase> phases{};
  std::optional<BatchRule> adapt{};
  std::optional<StorageGrowth> storage{};
  std::optional<ConvergenceSettings> convergence{};
  int seed = 1;

  /// Whether parts of the campaign have other settings.
  bool has_phases() const { return !phases.empty() || storage; }
  /// Whether steps differ in the course of the campaign, or their number follows from their batch.
  bool changes_over_time() const { return has_phases() || adapt || convergence; }
};

}  // namespace gradway
