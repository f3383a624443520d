// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sim/campaign/simulate_campaign.hpp"

// What a simulated campaign remembers between its events.
namespace gradway {

/// Written, but not yet on storage.
struct PendingSave {
  Ticks progress = 0;
  Ticks durable_at = 0;
  Buckets risked{};  ///< time up to its begin
};

/// A pause each time that so much more is done.
struct PeriodicPause {
  Ticks every = 0;
  Ticks time = 0;
  Bucket bucket{};
  Ticks done_at = -1;  ///< progress at which it was last made
};

/// How it stands right after a checkpoint.
struct CampaignMark {
  Ticks now = 0, progress = 0, saved = 0;
  Ticks next_slow = 0, slow_until = 0;
  int replicas = 0;
  std::optional<PendingSave> pending;
  Buckets risked{}, times{};
};

/// Nodes that are missing until then.
struct AbsentNodes {
  Ticks until = 0;
  int nodes = 0;
  bool is_paid = true;
};

}  // namespace gradway
