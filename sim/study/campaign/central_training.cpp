// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/campaign.hpp"

#include <algorithm>

#include "sim/campaign/wan.hpp"
#include "sim/nccl/rank_order.hpp"

namespace gradway {
namespace {

constexpr Bytes gb{1e9};

/// The data of all other workers is sent over the link of the worker that trains.
void add_transfer(CentralTraining& moved, const LocalSgd& local) {
  const auto& wan = *local.wan;
  moved.data = local.data * ((local.workers - 1.0) / local.workers);
  moved.transfer_time =
      moved.data / tcp_rate({wan.rate, wan.rtt, wan.window, wan.loss, wan.streams, wan.congestion});
  moved.transfer_usd = moved.data / gb * wan.usd_per_gb;
}

/// Each client sends its own data while it is available.
void add_transfer(CentralTraining& moved, const ClientSettings& clients) {
  for (const auto& client_class : clients.classes) {
    moved.data += client_class.data * client_class.count;
    moved.transfer_time =
        std::max(moved.transfer_time, client_class.data / client_class.up / client_class.available);
    moved.transfer_usd += client_class.data * client_class.count / gb * client_class.usd_per_gb;
  }
}

}  // namespace

std::optional<CentralTraining> central_training(const Run& run, const CampaignPlan& plan,
                                                const CampaignEstimate& estimate,
                                                const std::optional<UsdPerHour>& node) {
  const auto& local = run.scenario.job.local_sgd;
  if (!local) return std::nullopt;
  CentralTraining moved{.exchanged = Bytes{estimate.mean_sent_bytes}};
  if (local->clients) {
    add_transfer(moved, *local->clients);
  } else {
    add_transfer(moved, *local);
  }
  if (!(moved.data > Bytes{})) return std::nullopt;
  const auto at_once = local->clients ? local->clients->target : local->workers;
  moved.training = run.measured.metrics.step_time * (plan.steps * at_once);
  moved.best_training_time = moved.training / local->workers;
  if (node) {
    const auto nodes = node_count(run.scenario.platform, run.scenario.job.gpus);
    moved.training_usd = moved.training.value() / 3600 * node->value() * nodes;
  }
  return moved;
}

}  // namespace gradway
