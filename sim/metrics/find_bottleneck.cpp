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

bottleneck::Communication communication(const Metrics& metrics, const std::vector<ResourceUse>& links,
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

/// A saturated shared resource, or each worker by itself.
bottleneck::LoaderLimit limit_of_loader(const Loading& loading, const InputSettings& input) {
  constexpr double used_up = 0.95;
  if (loading.storage_busy.value_or(0) >= used_up) return bottleneck::LoaderLimit::storage;
  if (loading.cores_busy.value_or(0) >= used_up) return bottleneck::LoaderLimit::cores;
  if (input.loader != LoaderKind::pytorch) return bottleneck::LoaderLimit::stage;
  return input.loader_workers == 0 ? bottleneck::LoaderLimit::training_process
                                   : bottleneck::LoaderLimit::workers;
}

/// Adds the longest stage of the loader. DALI's stages work at the same time, the others one after the other.
void add_stage(bottleneck::Loader& found, const Scenario& scenario, const Loading& loading) {
  const auto cost = batch_cost(scenario);
  const double batches = scenario.job.accumulate;
  std::array<Seconds, loader_stages> times{};
  const auto mapped = scenario.job.input.dataset->format == SampleFormat::mapped;
  const auto at = [&](LoaderStage stage) -> Seconds& { return times[static_cast<std::size_t>(stage)]; };
  if (cost->core > Seconds{})
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = loading.making * (cost->on_core[i] / cost->core);
  at(mapped ? LoaderStage::page_faults : LoaderStage::read) += loading.reading;
  auto whole = loading.reading + loading.making;
  if (found.kind == LoaderKind::dali) {
    at(LoaderStage::jpeg_decoder) = cost->decoder * batches;
    at(LoaderStage::gpu_kernels) = loading.on_gpu;
    whole = std::max({loading.reading, loading.making, cost->decoder * batches, loading.on_gpu});
    if (loading.making < whole) std::fill(times.begin() + 1, times.begin() + 7, Seconds{});
  }
  const auto longest = std::ranges::max_element(times);
  found.stage = static_cast<LoaderStage>(longest - times.begin());
  if (whole > Seconds{}) found.of_batch = *longest / whole;
  if (found.limit == bottleneck::LoaderLimit::stage) found.batch = whole / batches;
}

/// Share of the step in which the GPU decodes, on the stream of training or on one of the loader.
double decoding_share(const Scenario& scenario, const Metrics& metrics) {
  if (!metrics.loading || !scenario.job.input.decode_on_gpu) return 0;
  return batch_cost(scenario)->gpu * scenario.job.accumulate / metrics.step_time;
}

/// @param other the wait if no copies for later steps explain it
bottleneck::Wait wait_for_copies(const InputSettings& input, bottleneck::Wait other) {
  if (input.background_copy > 0_B) return bottleneck::Wait::background_copy;
  return input.prefetch ? bottleneck::Wait::prefetch : other;
}

}  // namespace

Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics, const SavedShares& saved,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl) {
  if (metrics.step_time == Seconds{}) return bottleneck::EmptyStep{};
  const auto share_of = [&](Seconds part) { return part / metrics.step_time; };
  const auto& settings = scenario.job.input;
  // A step never waits for a fast enough loader. A late one limits it, however long kernels run.
  constexpr double late = 0.05;
  if (metrics.loading && metrics.input_wait > late * metrics.step_time) {
    bottleneck::Loader found{.share = metrics.input_wait / metrics.step_time,
                             .limit = limit_of_loader(*metrics.loading, settings),
                             .workers = settings.loader_workers,
                             .batch = metrics.loading->batch,
                             .kind = settings.loader};
    add_stage(found, scenario, *metrics.loading);
    return found;
  }
  const auto& gpu = scenario.platform.gpu_models.front().name;
  // Training still gets most of the GPU, but decoding elsewhere would help more than any kernel.
  constexpr double large = 0.1;
  if (const auto decoding = decoding_share(scenario, metrics);
      decoding > large && metrics.exposed_communication < metrics.compute)
    return bottleneck::GpuDecoding{gpu, decoding};
  // No faster hardware shortens the latency of collectives.
  const auto exposed = share_of(metrics.exposed_communication);
  if (metrics.exposed_communication > std::max({metrics.compute, metrics.optimizer, metrics.input_wait,
                                                metrics.launch_bound, metrics.idle})) {
    const auto limit = communication(metrics, links, nccl, exposed);
    if (std::holds_alternative<bottleneck::Latency>(limit.limit)) return limit;
  }
  constexpr double noticeable = 0.01;
  const auto best = std::ranges::max_element(saved);
  if (*best < noticeable)
    return bottleneck::Idle{wait_for_copies(settings, bottleneck::Wait::other), share_of(metrics.idle)};
  switch (static_cast<WorkKind>(best - saved.begin())) {
    case WorkKind::kernels:
      if (metrics.optimizer > metrics.compute) return bottleneck::Optimizer{gpu, share_of(metrics.optimizer)};
      return bottleneck::Kernels{gpu, share_of(metrics.compute)};
    case WorkKind::collectives:
      return communication(metrics, links, nccl, exposed);
    case WorkKind::launches:
      return bottleneck::Idle{bottleneck::Wait::launches, share_of(metrics.launch_bound)};
    case WorkKind::copies:
      break;
  }
  return bottleneck::Idle{wait_for_copies(settings, bottleneck::Wait::input_copy),
                          share_of(metrics.input_wait)};
}

}  // namespace gradway
