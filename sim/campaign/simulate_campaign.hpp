// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/campaign/plan.hpp"

namespace gradway {

/// Where the time of a campaign goes. The names are those of ML goodput where it has one
/// (AI-Hypercomputer/ml-goodput-measurement 57092cf).
enum class Bucket : std::uint8_t {
  productive,     ///< steps that count, at the time of a step alone
  stragglers,     ///< what slow GPUs and jitter add to them
  narrow,         ///< what fewer nodes add to them
  exchange,       ///< workers wait for each other's weights
  evaluation,     ///< pauses
  saving,         ///< pauses for checkpoints, and what writing one costs the steps beside it
  lost,           ///< steps and evaluations that were done again
  detection,      ///< from a failure until the job is stopped
  requeue,        ///< until it has its nodes again
  communicators,  ///< until all ranks have met
  restoring,      ///< the checkpoint is read
  loading,        ///< until data flow again
  waiting,        ///< for a node, as none is left, or for clients
};
inline constexpr std::size_t bucket_count = 13;
using Buckets = std::array<Ticks, bucket_count>;
constexpr Ticks& at(Buckets& buckets, Bucket bucket) {
  return buckets[static_cast<std::size_t>(bucket)];
}
constexpr Ticks at(const Buckets& buckets, Bucket bucket) {
  return buckets[static_cast<std::size_t>(bucket)];
}

/// An interruption, and when training went on; it may be that another came before.
struct Stop {
  Ticks from = 0;
  Ticks to = 0;
  Ticks before = 0;  ///< progress, in time of steps alone
  Ticks after = 0;
  std::string_view cause{};
};

/// One way in which a campaign may go.
struct CampaignRun {
  Buckets times{};
  Ticks elapsed = 0;        ///< the sum of them
  Ticks work = 0;           ///< all steps alone, as long as they are in this run
  double node_seconds = 0;  ///< paid
  double spot_seconds = 0;  ///< of them those of spot nodes
  int failures = 0;
  int losses = 0;  ///< of spot nodes, each of a group
  int checkpoints = 0;
  int exchanges = 0;          ///< between workers; rounds of clients that counted
  int void_rounds = 0;        ///< that did not
  double asked = 0;           ///< clients, in all rounds
  double updates = 0;         ///< of them that counted
  Bytes sent{};               ///< between workers, or clients and their server
  double storage_usd = 0;     ///< paid for checkpoints: kept, and read back
  double usd_beside = 0;      ///< paid beside nodes: for what was sent, and clients
  bool finished = true;       ///< else it was given up: hardly anything was left of each attempt
  std::vector<Stop> stops{};  ///< only if they were asked for
};

/// How much of a run is told.
enum class Keep : std::uint8_t { figures, stops };

/// Plays a campaign event by event: steps until the next checkpoint, evaluation or interruption. A failure
/// throws away what was done since the last checkpoint on storage began. Failures come at random, also during
/// pauses and restarts (then the restart begins again), but not while the job waits for a node.
/// @param interval of training between checkpoints, kept to whole steps
/// @param seed beside that of the plan: the same numbers give the same run, on every machine
CampaignRun simulate_campaign(const CampaignPlan& plan, Seconds interval, int seed,
                              Keep keep = Keep::figures);

}  // namespace gradway
