// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/campaign/plan.hpp"

namespace gradway {

/// The parts of a campaign's time. Names follow ML goodput where it has one
/// (AI-Hypercomputer/ml-goodput-measurement 57092cf).
enum class Bucket : std::uint8_t {
  productive,     ///< steps that count, at the undisturbed step time
  stragglers,     ///< time added to them by slow nodes and jitter
  narrow,         ///< time added to them because fewer nodes train
  conditions,     ///< time added to them by busy hours, and by storage that has yet to grow
  exchange,       ///< exposed exchange between workers
  evaluation,     ///< pauses for evaluation
  saving,         ///< pauses for checkpoints, and slow-down of steps during writes
  lost,           ///< steps and evaluations that were repeated
  detection,      ///< from a failure to the stop of the job
  requeue,        ///< until its nodes are allocated
  communicators,  ///< initialization of process groups
  restoring,      ///< reading the checkpoint
  loading,        ///< start of the data loaders
  waiting,        ///< for nodes or clients
};
inline constexpr std::size_t bucket_count = 14;
using Buckets = std::array<Ticks, bucket_count>;
constexpr Ticks& at(Buckets& buckets, Bucket bucket) {
  return buckets[static_cast<std::size_t>(bucket)];
}
constexpr Ticks at(const Buckets& buckets, Bucket bucket) {
  return buckets[static_cast<std::size_t>(bucket)];
}

/// An interruption. Its restart may itself be interrupted.
struct InterruptionRecord {
  Ticks from = 0;
  Ticks to = 0;      ///< end of the restart
  Ticks before = 0;  ///< progress before it, in undisturbed time of steps
  Ticks after = 0;   ///< progress of the checkpoint that was restored
  std::string_view cause{};
};

/// A change of the phase or its conditions.
struct ConditionRecord {
  Ticks at = 0;
  Ticks progress = 0;  ///< in undisturbed time of steps
  std::size_t phase = 0;
  std::size_t condition = 0;
};

/// The result of one simulated run of a campaign.
struct CampaignRun {
  Buckets times{};
  Ticks elapsed = 0;        ///< sum of `times`
  Ticks work = 0;           ///< undisturbed time of all steps in this run
  double node_seconds = 0;  ///< paid
  double spot_seconds = 0;  ///< of these, on spot nodes
  int failures = 0;
  int losses = 0;  ///< of groups of spot nodes
  int checkpoints = 0;
  int exchanges = 0;       ///< between workers, or rounds of clients that counted
  int void_rounds = 0;     ///< rounds of clients that did not count
  double asked = 0;        ///< clients selected in all rounds
  double updates = 0;      ///< client updates that counted
  Bytes sent{};            ///< between workers, or between clients and server
  double storage_usd = 0;  ///< for keeping and reading checkpoints
  double data_usd = 0;     ///< for keeping and reading the samples
  double other_usd = 0;    ///< everything except nodes: checkpoints, samples, transfers, clients
  bool finished = true;    ///< false if it was given up (see max_elapsed_factor)
  std::vector<InterruptionRecord> interruptions{};  ///< only with RunDetail::interruptions
  std::vector<ConditionRecord> conditions{};        ///< the same; the first is the start
  std::vector<KeptStorage> kept{};                  ///< the same
};

/// How much of a run is recorded.
enum class RunDetail : std::uint8_t { figures, interruptions };

/// Simulates a campaign event by event: steps until the next checkpoint, evaluation or interruption. A
/// failure loses all progress since the begin of the last checkpoint on storage. Failures occur at random,
/// also during pauses and restarts (the restart then begins again), but not while the job waits for a node.
/// @param interval training time between checkpoints, rounded to whole steps
/// @param seed of the run; with the seed of the plan it gives the same run on every machine
CampaignRun simulate_campaign(const CampaignPlan& plan, Seconds interval, int seed,
                              RunDetail detail = RunDetail::figures);

/// Simulates a campaign round by round. The server selects some of the available clients and takes the first
/// updates, up to its target or until the deadline. A client that drops out does so at a random point of its
/// turn. The time of a round is that of the client that ended it: the compute time of the fastest class is
/// productive, the rest of its compute time counts as straggling, and updates that arrive later are
/// discarded.
/// @pre the plan has rounds
CampaignRun simulate_rounds(const CampaignPlan& plan, int seed);

}  // namespace gradway
