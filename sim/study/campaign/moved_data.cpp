// SPDX-License-Identifier: Apache-2.0
#include "sim/study/campaign/moved_data.hpp"

#include <algorithm>

#include "sim/campaign/wan.hpp"
#include "sim/nccl/rank_order.hpp"

namespace gradway {
namespace {

constexpr Bytes gb{1e9};

/// Those of all workers but the one that trains come over its own way.
void add_way(MovedData& moved, const LocalSgd& local) {
  const auto& wan = *local.wan;
  moved.moved = local.data * ((local.workers - 1.0) / local.workers);
  moved.moving = moved.moved / tcp_rate({wan.rate, wan.rtt, wan.window, wan.loss, wan.streams});
  moved.moving_usd = moved.moved / gb * wan.usd_per_gb;
}

/// Each client sends its own, while it is there.
void add_way(MovedData& moved, const ClientSettings& clients) {
  for (const auto& one : clients.classes) {
    moved.moved += one.data * one.count;
    moved.moving = std::max(moved.moving, one.data / one.up / one.available);
    moved.moving_usd += one.data * one.count / gb * one.usd_per_gb;
  }
}

}  // namespace

std::optional<MovedData> moved_data(const Run& run, const CampaignPlan& plan,
                                    const CampaignEstimate& estimate, const std::optional<UsdPerHour>& node) {
  const auto& local = run.scenario.job.local_sgd;
  if (!local) return std::nullopt;
  MovedData moved{.exchanged = Bytes{estimate.mean_sent_bytes}};
  if (local->clients) {
    add_way(moved, *local->clients);
  } else {
    add_way(moved, *local);
  }
  if (!(moved.moved > Bytes{})) return std::nullopt;
  const auto at_once = local->clients ? local->clients->target : local->workers;
  moved.training = run.measured.metrics.step_time * (plan.steps * at_once);
  moved.at_best = moved.training / local->workers;
  if (node) {
    const auto nodes = node_count(run.scenario.platform, run.scenario.job.gpus);
    moved.training_usd = moved.training.value() / 3600 * node->value() * nodes;
  }
  return moved;
}

}  // namespace gradway
