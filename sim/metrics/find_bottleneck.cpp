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
  bottleneck::Communication result{.share = share,
                                   .sent = metrics.bytes_sent_per_gpu,
                                   .rate = metrics.bytes_sent_per_gpu / metrics.communication,
                                   .limit = {}};
  if (links.empty()) return result;
  const auto active = metrics.step_time / metrics.communication;
  const auto full = std::ranges::find_if(links, [&](const ResourceUse& link) {
    return link.busy_fraction * active + link.wanted_by_others >= saturated;
  });
  const auto& busiest = links.front();
  const auto used = busiest.busy_fraction * active;
  if (full != links.end()) {
    result.limit = bottleneck::FullLink{full->name, full->wanted_by_others > 0, full->spread};
  } else if (!nccl) {
    result.limit = bottleneck::Latency{busiest.name, used, {}};
  } else if (const auto latency = nccl->latency / metrics.communication; latency >= mostly) {
    result.limit = bottleneck::Latency{busiest.name, used, latency};
  } else {
    result.limit = bottleneck::Channels{busiest.name, used, nccl->limit.part,
                                        std::string{nccl->limit.transport}, nccl->limit.far};
  }
  return result;
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
void add_stage(bottleneck::Loader& loader, const Scenario& scenario, const Loading& loading) {
  const auto cost = batch_cost(scenario);
  const double batches = scenario.job.accumulate;
  std::array<Seconds, loader_stages> times{};
  const auto mapped = scenario.job.input.dataset->format == SampleFormat::mapped;
  const auto time_of = [&](LoaderStage stage) -> Seconds& { return times[static_cast<std::size_t>(stage)]; };
  if (cost->core > Seconds{})
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = loading.making * (cost->on_core[i] / cost->core);
  time_of(mapped ? LoaderStage::page_faults : LoaderStage::read) += loading.reading;
  auto batch_time = loading.reading + loading.making;
  if (loader.kind == LoaderKind::dali) {
    time_of(LoaderStage::jpeg_decoder) = cost->decoder * batches;
    time_of(LoaderStage::gpu_kernels) = loading.on_gpu;
    batch_time = std::max({loading.reading, loading.making, cost->decoder * batches, loading.on_gpu});
    if (loading.making < batch_time) std::fill(times.begin() + 1, times.begin() + 7, Seconds{});
  }
  const auto longest = std::ranges::max_element(times);
  loader.stage = static_cast<LoaderStage>(longest - times.begin());
  if (batch_time > Seconds{}) loader.of_batch = *longest / batch_time;
  if (loader.limit == bottleneck::LoaderLimit::stage) loader.batch = batch_time / batches;
}

/// Share of the step in which the GPU decodes, on the stream of training or on one of the loader.
double decoding_share(const Scenario& scenario, const Metrics& metrics) {
  if (!metrics.loading || !scenario.job.input.decode_on_gpu) return 0;
  return batch_cost(scenario)->gpu * scenario.job.accumulate / metrics.step_time;
}

/// @param fallback the wait if no copies for later steps explain it
bottleneck::Wait wait_for_copies(const InputSettings& input, bottleneck::Wait fallback) {
  if (input.background_copy > 0_B) return bottleneck::Wait::background_copy;
  return input.prefetch ? bottleneck::Wait::prefetch : fallback;
}

}  // namespace

Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics, const SavedShares& saved,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl) {
  if (metrics.step_time == Seconds{}) return bottleneck::EmptyStep{};
  const auto share_of = [&](Seconds time) { return time / metrics.step_time; };
  const auto& settings = scenario.job.input;
  // A step never waits for a fast enough loader. A late one limits it, however long kernels run.
  constexpr double late = 0.05;
  if (metrics.loading && metrics.input_wait > late * metrics.step_time) {
    bottleneck::Loader loader{.share = metrics.input_wait / metrics.step_time,
                              .limit = limit_of_loader(*metrics.loading, settings),
                              .workers = settings.loader_workers,
                              .batch = metrics.loading->batch,
                              .kind = settings.loader};
    add_stage(loader, scenario, *metrics.loading);
    return loader;
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
  // Where nothing alone would help, such as kernels that take as long as their launches, kernels count first.
  if (*best < noticeable && metrics.compute <= std::max(metrics.idle, metrics.optimizer))
    return bottleneck::Idle{wait_for_copies(settings, bottleneck::Wait::other), share_of(metrics.idle)};
  if (*best < noticeable) return bottleneck::Kernels{gpu, share_of(metrics.compute)};
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
