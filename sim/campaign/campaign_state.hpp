// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/campaign/simulate_campaign.hpp"

// State of a simulated campaign between its events.
namespace gradway {

/// A campaign is given up when it takes this many times the undisturbed time of its steps, plus a month.
inline constexpr double max_elapsed_factor = 50;

/// A checkpoint that is being written.
struct PendingSave {
  Ticks progress = 0;
  Ticks durable_at = 0;
  Buckets risked{};  ///< time spent on its progress
};

/// A pause at regular intervals of progress.
struct PeriodicPause {
  Ticks every = 0;
  Ticks time = 0;
  Bucket bucket{};
  std::vector<Ticks> due{};  ///< progress of each pause, if the steps between them differ; `every` is then 0
  Ticks done_at = -1;        ///< progress at the last pause

  /// The first progress after this one at which the pause is due.
  Ticks after(Ticks progress) const {
    if (every > 0) return (progress / every + 1) * every;
    const auto next = std::ranges::upper_bound(due, progress);
    return next == due.end() ? never : *next;
  }
  bool is_due(Ticks progress) const {
    return every > 0 ? progress % every == 0 : std::ranges::binary_search(due, progress);
  }
};

/// State right after a checkpoint or pause.
struct CampaignSnapshot {
  Ticks now = 0, progress = 0, saved = 0;
  Ticks next_slow = 0, slow_until = 0;
  int replicas = 0;
  int changes = 0;  ///< of conditions
  std::optional<PendingSave> pending;
  Buckets risked{}, times{};
};

/// Nodes that are missing until a date.
struct AbsentNodes {
  Ticks until = 0;
  int nodes = 0;
  bool is_paid = true;
};

/// Factors on the time of steps, except for stragglers and jitter.
struct SlowDowns {
  double conditions = 1, width = 1, write = 1;
};

/// Divides the time of steps into its causes. @param time taken @param done undisturbed time
std::array<std::pair<Bucket, Ticks>, 5> parts_of_steps(Ticks time, Ticks done, const SlowDowns& slow_downs);

/// The cause at a share of the sum of all counts; null without causes.
const FailureCause* cause_at(std::span<const FailureCause> causes, double share);

/// Price of keeping data on storage up to a time.
double keeping_usd(const std::vector<KeptStorage>& kept, Ticks end);

}  // namespace gradway
