// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/bottleneck.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gradway {
namespace {

// A link this busy while collectives run is what bounds them; below it, their own channels do.
constexpr double saturated = 0.9;

/// Collectives of which latencies are at least this share are bound by them.
constexpr double mostly = 0.5;

Bottleneck channels(const NcclUse& nccl, const Metrics& metrics, const std::string& idle_links) {
  const auto share = nccl.latency / metrics.communication;
  if (share >= mostly) {
    return {"latency",
            fmt::format("{}; {:.0f} % of the time of the collectives are the latencies of their steps",
                        idle_links, 100 * share)};
  }
  return {fmt::format("{} ({})", in_words(nccl.limit.part), nccl.limit.transport),
          fmt::format("{}, so NCCL's own copying ({}) is the limit", idle_links, nccl.limit.transport)};
}

Bottleneck communication(const Metrics& metrics, const std::vector<ResourceUse>& links,
                         const std::optional<NcclUse>& nccl, double share) {
  const auto rate = metrics.bytes_sent_per_gpu / metrics.communication;
  const auto moved = fmt::format(
      "{:.0f} % of the step is communication that no kernel hides; each GPU sends {:.4g} MB at {:.3g} GB/s",
      100 * share, metrics.bytes_sent_per_gpu.value() / 1e6, rate.value() / 1e9);
  if (!links.empty()) {
    const auto active = metrics.step_time / metrics.communication;
    const auto full = std::ranges::find_if(links, [&](const ResourceUse& link) {
      return link.busy_fraction * active + link.wanted_by_others >= saturated;
    });
    if (full != links.end()) {
      return {full->name, fmt::format("{}, and this link is full meanwhile{}", moved,
                                      full->wanted_by_others > 0 ? " with a neighbour's traffic" : "")};
    }
    const auto use = links.front().busy_fraction * active;
    const auto idle_links = fmt::format("{}; no link is full (the busiest, {}, is {:.0f} % used meanwhile)",
                                        moved, links.front().name, 100 * use);
    if (nccl) return channels(*nccl, metrics, idle_links);
    return {"latency", fmt::format("{}, so the latency of their steps is the limit", idle_links)};
  }
  return {"collectives", moved};
}

/// Which stage of the loader sets the pace: what all share and is used up, or each worker by itself.
Bottleneck loading(const Scenario& scenario, const Metrics& metrics, double share) {
  constexpr double used_up = 0.95;
  const auto waits = fmt::format("the GPU waits for its batch {:.0f} % of the step", 100 * share);
  const auto& of = *metrics.loading;
  if (of.storage_busy.value_or(0) >= used_up)
    return {"storage", fmt::format("{}, and storage gives all that it can", waits)};
  if (of.cores_busy.value_or(0) >= used_up)
    return {"CPU cores", fmt::format("{}, and loader workers keep all cores busy", waits)};
  const auto workers = scenario.job.input.loader_workers;
  if (workers == 0) return {"loader", waits + ", which the training process makes itself: it has no workers"};
  return {"loader workers", fmt::format("{}: each of {} workers needs {:.4g} ms for one", waits, workers,
                                        1e3 * of.batch.value())};
}

}  // namespace

Bottleneck find_bottleneck(const Scenario& scenario, const Metrics& metrics,
                           const std::vector<ResourceUse>& links, const std::optional<NcclUse>& nccl) {
  enum Share { compute, optimizer, exposed, input, launch, idle };
  const std::array<Seconds, 6> parts{metrics.compute,    metrics.optimizer,    metrics.exposed_communication,
                                     metrics.input_wait, metrics.launch_bound, metrics.idle};
  if (metrics.step_time == Seconds{}) return {"nothing", "the step takes no time"};
  const auto largest = std::ranges::max_element(parts);
  const auto share = *largest / metrics.step_time;
  // A loader that keeps up is not waited for: one that is sets the pace, however long kernels run.
  constexpr double late = 0.05;
  if (metrics.loading && metrics.input_wait > late * metrics.step_time)
    return loading(scenario, metrics, metrics.input_wait / metrics.step_time);
  const auto& gpu = scenario.platform.gpu_models.front().name;
  switch (static_cast<Share>(largest - parts.begin())) {
    case compute:
      return {gpu + " kernels",
              fmt::format("forward and backward kernels run {:.0f} % of the step", 100 * share)};
    case optimizer:
      return {gpu + " memory", fmt::format("the optimizer takes {:.0f} % of the step", 100 * share)};
    case exposed:
      return communication(metrics, links, nccl, share);
    case input:
      return {"input copy", fmt::format("the GPU waits for its input {:.0f} % of the step", 100 * share)};
    case launch:
      return {"CPU launches",
              fmt::format("the GPU waits for the CPU to issue kernels {:.0f} % of the step", 100 * share)};
    case idle:
      break;
  }
  const bool has_background = scenario.job.input.background_copy > 0_B;
  if (has_background || scenario.job.input.prefetch) {
    return {has_background ? "background copy" : "prefetch",
            fmt::format("the GPU has nothing to do {:.0f} % of the step, in which the copies "
                        "for steps to come hold its copy engine",
                        100 * share)};
  }
  return {"waiting",
          fmt::format("the GPU waits for other ranks or latencies {:.0f} % of the step", 100 * share)};
}

}  // namespace gradway
