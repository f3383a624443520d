// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/measure.hpp"

#include <algorithm>
#include <array>

namespace gradway {
namespace {

// Share of a link in use during collectives from which on it limits them; below it, their own channels do.
constexpr double saturated = 0.9;

/// Collectives are bound by latency if it is at least this fraction of their time.
constexpr double mostly = 0.5;

Bottleneck communication(const Metrics& metrics, const std::vector<ResourceUse>& links,
                         const std::optional<NcclUse>& nccl, double share) {
  bottleneck::Communication found{.share = share,
                                  .sent = metrics.bytes_sent_per_gpu,
                                  .rate = metrics.bytes_sent_per_gpu / metrics.communication,
                                  .limit = {}};
  if (links.empty()) return found;
  const auto active = metrics.step_time / metrics.communication;
  const auto full = std::ranges::find_if(links, [&](const ResourceUse& link) {
    return link.busy_fraction * active + link.wanted_by_others >= saturated;
  });
  const auto& busiest = links.front();
  const auto used = busiest.busy_fraction * active;
  if (full != links.end()) {
    found.limit = bottleneck::FullLink{full->name, full->wanted_by_others > 0, full->spread};
  } else if (!nccl) {
    found.limit = bottleneck::Latency{busiest.name, used, {}};
  } else if (const auto latency = nccl->latency / metrics.communication; latency >= mostly) {
    found.limit = bottleneck::Latency{busiest.name, used, latency};
  } else {
    found.limit = bottleneck::Channels{busiest.name, used, nccl->limit.part,
                                       std::string{nccl->limit.transport}, nccl->limit.far};
  }
  return found;
}

/// The stage of the loader that limits it: a saturated shared resource, or each worker by itself.
bottleneck::LoaderLimit limit_of_loader(const Loading& loading, int workers) {
  constexpr double used_up = 0.95;
  if (loading.storage_busy.value_or(0) >= used_up) return bottleneck::LoaderLimit::storage;
  if (loading.cores_busy.value_or(0) >= used_up) return bottleneck::LoaderLimit::cores;
  return workers == 0 ? bottleneck::LoaderLimit::training_process : bottleneck::LoaderLimit::workers;
}

bottleneck::Wait wait_when_idle(const InputSettings& input) {
  if (input.background_copy > 0_B) return bottleneck::Wait::background_copy;
  return input.prefetch ? bottleneck::Wait::prefetch : bottleneck::Wait::other;
}

}  // namespace

Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl) {
  enum Share { compute, optimizer, exposed, input, launch, idle };
  const std::array<Seconds, 6> parts{metrics.compute,    metrics.optimizer,    metrics.exposed_communication,
                                     metrics.input_wait, metrics.launch_bound, metrics.idle};
  if (metrics.step_time == Seconds{}) return bottleneck::EmptyStep{};
  const auto largest = std::ranges::max_element(parts);
  const auto share = *largest / metrics.step_time;
  const auto& settings = scenario.job.input;
  // A step never waits for a fast enough loader. A late one limits it, however long kernels run.
  constexpr double late = 0.05;
  if (metrics.loading && metrics.input_wait > late * metrics.step_time)
    return bottleneck::Loader{.share = metrics.input_wait / metrics.step_time,
                              .limit = limit_of_loader(*metrics.loading, settings.loader_workers),
                              .workers = settings.loader_workers,
                              .batch = metrics.loading->batch};
  const auto& gpu = scenario.platform.gpu_models.front().name;
  switch (static_cast<Share>(largest - parts.begin())) {
    case compute:
      return bottleneck::Kernels{gpu, share};
    case optimizer:
      return bottleneck::Optimizer{gpu, share};
    case exposed:
      return communication(metrics, links, nccl, share);
    case input:
      return bottleneck::Idle{bottleneck::Wait::input_copy, share};
    case launch:
      return bottleneck::Idle{bottleneck::Wait::launches, share};
    case idle:
      break;
  }
  return bottleneck::Idle{wait_when_idle(settings), share};
}

}  // namespace gradway
