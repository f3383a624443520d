// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/campaign/formulas.hpp"
#include "sim/campaign/over_time.hpp"
#include "sim/metrics/metrics.hpp"
#include "sim/scenario/campaign.hpp"
#include "sim/scenario/failure_models.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/trust/step_range.hpp"

namespace gradway {

Ticks ticks_of(Seconds time);
Seconds seconds_of(Ticks ticks);

/// Times and money of saving and restoring a checkpoint.
struct CheckpointCost {
  Bytes size{};
  Ticks pause = 0;            ///< for which ranks wait
  Ticks allocation = 0;       ///< additional pause of the first save after a start
  Ticks write = 0;            ///< after the pause, until the checkpoint is on storage
  Ticks read = 0;             ///< restoring
  double slowdown = 1;        ///< of steps during the write
  int keep = 0;               ///< number of checkpoints kept on storage; 0: all
  double usd_per_s = 0;       ///< for each kept checkpoint
  double usd_of_reading = 0;  ///< for each restore
};

/// Money for samples on storage.
struct DataCost {
  double usd_per_s = 0;       ///< for keeping the dataset
  double usd_of_step = 0;     ///< requests and egress, also of steps that are repeated
  double usd_of_filling = 0;  ///< of caches in the first epoch
};

/// Reclaim of spot nodes.
struct SpotPlan {
  SpotModel model;
  int nodes = 0;            ///< spot nodes among those that train
  bool all_spares = false;  ///< spares are spot nodes, too
  Ticks notice = 0;         ///< between announcement and loss
};

/// Clients with the same hardware and connection.
struct ClientClassPlan {
  int count = 0;
  Ticks down = 0, compute = 0, up = 0;  ///< in a round
  double available = 1;                 ///< probability that a client can be selected
  double spread = 0;         ///< standard deviation of compute time between clients, relative to the mean
  double usd_per_s = 0;      ///< while a client works
  double usd_of_update = 0;  ///< for the transfer of an update
};

/// Rounds of a server that selects some of many clients.
struct RoundsPlan {
  std::vector<ClientClassPlan> classes;
  int inner_steps = 1;
  int target = 1, asked = 1, least = 1;  ///< updates wanted, clients selected, fewest updates that count
  double drop_out = 0;                   ///< probability for a selected client
  Ticks deadline = 0;                    ///< 0: none
  Ticks retry = 0;                       ///< wait if too few clients are available
  double rounds = 0;                     ///< of the campaign; 0: `updates` decides
  double updates = 0;                    ///< of the campaign
  Bytes model{}, update{};
  double usd_of_model = 0;  ///< for sending the model to one client
};

/// The numbers that the simulation of a campaign needs.
struct CampaignPlan {
  double steps = 0;            ///< whole steps
  Seconds step{};              ///< predicted time
  TimeRange step_range{};      ///< 90 % prediction interval
  double jitter = 1;           ///< factor on the time of a step
  int nodes = 1;               ///< nodes that train
  int spares = 0;              ///< spare nodes
  bool endless_spares = true;  ///< a replacement is always available
  int replicas = 1;            ///< data-parallel replicas when all nodes train
  double nodes_of_replica = 1;
  int least_replicas = 1;  ///< fewest replicas that train
  CheckpointCost checkpoint{};
  bool saves = false;
  DataCost data{};
  std::optional<Seconds> interval{};  ///< training time between checkpoints; empty: to be optimized
  Ticks detection = 0, requeue = 0, communicators = 0, loader = 0, repair = 0;
  double failures_per_s = 0;               ///< of nodes, all together
  double job_failures_per_s = 0;           ///< of the job, independent of the number of nodes
  std::span<const FailureCause> causes{};  ///< of node failures; empty: "node"
  double repeat_probability = 0;           ///< that another failure follows a restart
  Ticks repeat_within = 0;
  std::optional<SpotPlan> spot{};
  double slow_per_s = 0;  ///< rate of slow-node episodes, over all nodes
  double slow_factor = 1;
  Ticks slow_lasts = 0;                ///< mean
  int workers = 1;                     ///< of local SGD
  double exchange_every = 0;           ///< steps; 0: never
  Ticks exchange = 0;                  ///< between workers
  int exchange_overlap = 0;            ///< steps that an exchange may overlap
  Bytes exchanged{};                   ///< sent by all workers in an exchange
  double exchange_usd = 0;             ///< for an exchange
  std::optional<RoundsPlan> rounds{};  ///< federated clients; most other members are then unused
  Ticks staging = 0;       ///< of the dataset: before the first step, or added to the first epochs
  double epoch_every = 0;  ///< steps; 0: loaders are not simulated
  Ticks epoch_start = 0;   ///< pause at the start of each epoch
  std::optional<OverTimePlan> over_time{};  ///< of campaigns whose steps differ; `step` is then their mean
  std::optional<TargetData> target{};       ///< of campaigns in phases
  double samples = 0;                       ///< of the campaign; 0: of clients
  double samples_per_step = 0;              ///< mean
  int evaluation_every = 0;                 ///< steps; 0: never
  Ticks evaluation = 0;
  int seed = 1;

  /// The exposed part of an exchange. @param step_of_run step time in nanoseconds
  Ticks exchange_pause(double step_of_run) const;
  /// From a failure to the next step, without further failures.
  Ticks restart() const { return detection + requeue + communicators + checkpoint.read + loader; }
  /// Mean time between failures and losses of spot nodes; infinite if there are none.
  Seconds mttf() const;
  Interruptions interruptions() const;
  /// Random stream of a run.
  std::uint64_t stream(int run) const {
    return (static_cast<std::uint64_t>(seed) << 32U) + static_cast<std::uint64_t>(run);
  }
  /// Ratio of the step time in a run to the predicted one, the same for all steps. It is log-normal on each
  /// side, with the 90 % prediction interval of the step as its quantiles.
  double step_factor(int run) const;
};

/// Size of a checkpoint: weights, optimizer state, and a master copy in fp32 if weights have 16 bits. With
/// bf16 weights and AdamW it is 14 bytes per parameter, as in MLPerf Storage (mlcommons/storage caa90c9c).
/// Frozen parameters are not saved.
Bytes checkpoint_size(const Scenario& scenario);

/// Number of steps of a campaign. Workers of local SGD, or the target clients of a round, make steps in
/// parallel.
double campaign_steps(const Scenario& scenario, const Metrics& metrics);

/// @param client_steps step time on each class of clients, if there are clients
/// @param phases steps of a campaign that changes in its course; empty: all are as measured
/// @pre the scenario has a campaign with a goal that its model can reach
CampaignPlan plan_campaign(const Scenario& scenario, const Metrics& metrics, const TimeRange& range,
                           const std::vector<Seconds>& client_steps = {},
                           std::vector<PhaseSteps> phases = {});

/// The same campaign with the capacity terms of the settings: only spot nodes are reclaimed.
CampaignPlan with_terms(CampaignPlan plan, const CampaignSettings& settings);

}  // namespace gradway
