// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/scenario/input.hpp"

namespace gradway {

/// What ranks wait for when a training is saved.
enum class SaveMode : std::uint8_t {
  sync,   ///< until all is on storage
  async,  ///< until all is in host memory; it goes to storage beside the next steps
};
inline constexpr std::array<std::string_view, 2> save_mode_words{"sync", "async"};
constexpr std::string_view name_of(SaveMode mode) {
  return save_mode_words[static_cast<std::size_t>(mode)];
}

/// The host memory that an asynchronous checkpoint is copied to.
enum class Staging : std::uint8_t {
  pageable,  ///< allocated for each checkpoint: PyTorch's dcp.async_save by itself
  pinned,    ///< allocated once a process, and kept
};
inline constexpr std::array<std::string_view, 2> staging_words{"pageable", "pinned"};
constexpr std::string_view name_of(Staging staging) {
  return staging_words[static_cast<std::size_t>(staging)];
}

/// How a training is saved, and read back.
struct CheckpointSettings {
  std::optional<Seconds> interval{};  ///< of training between two; empty: the best
  SaveMode mode = SaveMode::sync;
  bool sharded = true;                   ///< each rank writes its own part; else one writes all
  std::optional<Bytes> size{};           ///< empty: see checkpoint_size
  BytesPerSecond write{};                ///< of the storage, all ranks together; 0: see storage
  std::optional<StorageTier> storage{};  ///< instead of rates
  int keep = 2;  ///< checkpoints on it; 0: all. ml-engineering 744d01e1: the last may be torn
  std::optional<BytesPerSecond> read{};         ///< empty: as it writes
  std::optional<BytesPerSecond> per_rank{};     ///< most that one rank writes or reads
  std::optional<Staging> staging{};             ///< empty: see `staging_of`
  std::optional<BytesPerSecond> device_copy{};  ///< from a GPU into host memory
  Seconds overhead{};                           ///< of each: planning, metadata, barrier
  double slowdown = 1;  ///< async: steps take so many times as long while a checkpoint is written
};

/// What it takes to go on after an interruption, beside reading the checkpoint. Together 5 min, which Meta's
/// estimator assumes (Kokolis et al., arXiv 2410.21680); how they divide is assumed.
struct RestartSettings {
  Seconds detection{60};      ///< until the job is stopped
  Seconds requeue{120};       ///< until it has its nodes again and processes start
  Seconds communicators{60};  ///< until all ranks have met
  Seconds loader{60};         ///< until data flow again
};

/// What interrupts a training. Rates are one over the mean time between two.
struct FailureSettings {
  std::string model{};                 ///< of `failure_models`; "": of one's own
  std::optional<Seconds> node_mttf{};  ///< mean time to failure of a node
  std::optional<Seconds> job_mttf{};   ///< of faults that do not grow with nodes: software, users
  double again = 0;                    ///< share of restarts that fail once more soon after
  Seconds again_within{600};           ///< how soon at most: 10 min (Aegis, NSDI 2025)
};

/// Nodes of others' spare capacity that can be taken away.
struct SpotSettings {
  std::string model{};                 ///< of `spot_models`; "": of one's own
  std::optional<Seconds> node_up{};    ///< mean time that a node stays
  std::optional<Seconds> node_down{};  ///< mean time until another stands in for it
  std::optional<int> group{};          ///< nodes that go together
  Seconds notice{120};                 ///< AWS: two minutes
  double share = 1;                    ///< of the nodes that train; the rest is on demand
};

/// Episodes in which one node is slow, and the whole job with it; and what differs between ranks in each
/// step.
struct StragglerSettings {
  std::optional<Seconds> node_every{};  ///< mean time between episodes of a node; empty: none
  double slowdown = 1.34;               ///< GREYHOUND, ATC 2025: jobs of 512 GPUs and more, on average
  Seconds lasts{4320};                  ///< the same: 72 min on average
  double jitter = 0;                    ///< standard deviation of a rank's step over its mean
};

struct EvaluationSettings {
  int every = 0;  ///< steps; 0: never
  Seconds time{};
};

/// How nodes are paid for.
enum class Terms : std::uint8_t { on_demand, spot, reserved };
inline constexpr std::array<std::string_view, 3> terms_words{"on_demand", "spot", "reserved"};
constexpr std::string_view name_of(Terms terms) {
  return terms_words[static_cast<std::size_t>(terms)];
}

/// What the electricity of a campaign emits.
struct CarbonSettings {
  double grams_per_kwh = 0;  ///< of the grid
  Watts node_power{};        ///< of a node that trains
  double pue = 1;            ///< power of the building over that of its nodes
};

/// A whole training, of which a scenario is one step: tokens, samples, epochs or rounds.
struct CampaignSettings {
  std::optional<double> tokens{};
  std::optional<double> samples{};
  std::optional<double> epochs{};
  double samples_per_epoch = 0;
  std::optional<int> rounds{};  ///< of workers that meet now and then
  std::optional<CheckpointSettings> checkpoint{};
  RestartSettings restart{};
  std::optional<FailureSettings> failures{};
  std::optional<SpotSettings> spot{};
  StragglerSettings stragglers{};
  EvaluationSettings evaluation{};
  std::optional<int> spares{};  ///< nodes that stand by, paid; empty: another node always comes at requeue
  Seconds repair{86400};        ///< until a failed node is back; assumed
  std::optional<int> elastic_from{};  ///< goes on with so many; empty: all
  Terms terms = Terms::on_demand;
  std::array<std::optional<UsdPerHour>, terms_words.size()> prices{};  ///< of a node
  std::optional<CarbonSettings> carbon{};
  int seed = 1;
};

}  // namespace gradway
