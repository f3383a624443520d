// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/campaign/formulas.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/failure_models.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway {

/// Nanoseconds: whole numbers, so that parts of a campaign add up exactly.
using Ticks = std::int64_t;
Ticks ticks_of(Seconds time);
Seconds seconds_of(Ticks ticks);

/// What saving and reading back takes.
struct CheckpointCost {
  Bytes size{};
  Ticks pause = 0;            ///< that ranks wait
  Ticks allocation = 0;       ///< more, for the first since the processes began
  Ticks write = 0;            ///< after it, until all is on storage
  Ticks read = 0;             ///< back
  double slowdown = 1;        ///< of steps while it is written
  int keep = 0;               ///< that stay on storage; 0: all
  double usd_per_s = 0;       ///< of one that stays
  double usd_of_reading = 0;  ///< of one
};

/// What takes nodes of spare capacity away.
struct SpotPlan {
  SpotModel model;
  int nodes = 0;            ///< of those that train
  bool all_spares = false;  ///< those that stand by are such nodes, too
  Ticks notice = 0;
};

/// Clients that are alike, in a round.
struct ClientClassPlan {
  int count = 0;
  Ticks down = 0, compute = 0, up = 0;
  double available = 1;      ///< share of the time that it can be asked
  double spread = 0;         ///< standard deviation of a client's compute over the class' mean
  double usd_per_s = 0;      ///< while it works
  double usd_of_update = 0;  ///< for what it sends
};

/// Rounds of a server that asks some of many clients.
struct RoundsPlan {
  std::vector<ClientClassPlan> classes;
  int inner_steps = 1;
  int target = 1, asked = 1, least = 1;
  double drop_out = 0;
  Ticks deadline = 0;  ///< 0: none
  Ticks retry = 0;
  double rounds = 0;   ///< until all is done; 0: see updates
  double updates = 0;  ///< that must come until all is done
  Bytes model{}, update{};
  double usd_of_model = 0;  ///< for what the server sends to one
};

/// A campaign in the few numbers that its simulation needs.
struct CampaignPlan {
  double steps = 0;            ///< whole ones
  Seconds step{};              ///< as predicted
  TimeRange step_range{};      ///< nine of ten
  double jitter = 1;           ///< a step takes so many times as long as one without
  int nodes = 1;               ///< that train
  int spares = 0;              ///< that stand by
  bool endless_spares = true;  ///< another node always comes
  int replicas = 1;            ///< that share a batch when all nodes train
  double nodes_of_replica = 1;
  int least_replicas = 1;  ///< with which it goes on
  CheckpointCost checkpoint{};
  bool saves = false;
  std::optional<Seconds> interval{};  ///< of training between checkpoints; empty: the best is to be found
  Ticks detection = 0, requeue = 0, communicators = 0, loader = 0, repair = 0;
  double failures_per_s = 0;               ///< of all nodes together
  double job_failures_per_s = 0;           ///< of what does not grow with them
  std::span<const FailureCause> causes{};  ///< of the former; empty: "node"
  double again = 0;
  Ticks again_within = 0;
  std::optional<SpotPlan> spot{};
  double slow_per_s = 0;  ///< episodes of slow nodes, of all together
  double slow_factor = 1;
  Ticks slow_lasts = 0;
  int workers = 1;                     ///< that train by themselves
  double exchange_every = 0;           ///< steps; 0: never
  Ticks exchange = 0;                  ///< between workers
  int exchange_overlap = 0;            ///< ... beside so many steps
  Bytes exchanged{};                   ///< that all workers send, each time
  double exchange_usd = 0;             ///< for that
  std::optional<RoundsPlan> rounds{};  ///< of clients; most of the rest then means nothing
  double epoch_every = 0;              ///< steps; 0: loaders are not simulated
  Ticks epoch_start = 0;               ///< what the next epoch takes longer than its steps
  int evaluation_every = 0;
  Ticks evaluation = 0;
  int seed = 1;

  /// For which workers wait. @param step_of_run its time in nanoseconds
  Ticks exchange_pause(double step_of_run) const;
  /// From an interruption to the next step, if nothing comes between.
  Ticks restart() const { return detection + requeue + communicators + checkpoint.read + loader; }
  /// Failures and losses of spot nodes together; infinite if there are none.
  Seconds mttf() const;
  Interruptions interruptions() const;
  /// That the numbers of a run are drawn from.
  std::uint64_t stream(int run) const {
    return (static_cast<std::uint64_t>(seed) << 32U) + static_cast<std::uint64_t>(run);
  }
  /// How far off the predicted step is in a run: all steps are off by the same. Its logarithm is normal on
  /// both sides, as far as nine of ten cases reach.
  double step_factor(int run) const;
};

/// What is saved of a training: weights, the optimizer's states, and a master copy in fp32 where weights are
/// of 16 bits. With bf16 weights and AdamW 14 bytes a parameter, as MLPerf Storage has it (mlcommons/storage
/// caa90c9c). Frozen parameters are not saved.
Bytes checkpoint_size(const Scenario& scenario);

/// Steps that a campaign takes; those of several workers are made at once, of clients those of a round's
/// target.
double campaign_steps(const Scenario& scenario, const Metrics& metrics);

/// @param client_steps the time of a step on each class of clients, if there are any
/// @pre the scenario has a campaign, whose goal fits its model
CampaignPlan plan_campaign(const Scenario& scenario, const Metrics& metrics, const TimeRange& range,
                           const std::vector<Seconds>& client_steps = {});

/// The same campaign on nodes of the settings' terms: only spot nodes are taken away.
CampaignPlan with_terms(CampaignPlan plan, const CampaignSettings& settings);

}  // namespace gradway
