// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

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
  Ticks done_at = -1;  ///< progress at the last pause
};

/// State right after a checkpoint or pause.
struct CampaignSnapshot {
  Ticks now = 0, progress = 0, saved = 0;
  Ticks next_slow = 0, slow_until = 0;
  int replicas = 0;
  std::optional<PendingSave> pending;
  Buckets risked{}, times{};
};

/// Nodes that are missing until a date.
struct AbsentNodes {
  Ticks until = 0;
  int nodes = 0;
  bool is_paid = true;
};

}  // namespace gradway
