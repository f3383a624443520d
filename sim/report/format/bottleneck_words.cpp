// SPDX-License-Identifier: Apache-2.0
#include "sim/report/format/words.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace gradway::report {
namespace {

/// Why a channel between far nodes carries no more.
std::string_view in_words(FarLimit limit) {
  switch (limit) {
    case FarLimit::window:
      return "the window of TCP connections, once per round trip, is the limit";
    case FarLimit::loss:
      return "lost packets, after which TCP connections slow down, are the limit";
    case FarLimit::buffer:
      return "the buffers of NCCL's channels, once per round trip, are the limit";
    case FarLimit::none:
      break;
  }
  return "NCCL's own copying is the limit";
}

std::string unsaturated_links_clause(const std::string& moved, const std::string& busiest, double used) {
  return fmt::format("{}; no link is saturated (the busiest, {}, is {:.0f} % used during it)", moved, busiest,
                     100 * used);
}

/// Describes what limits communication. @param moved clause with its share of the step and its rate
struct DescribeCommunicationLimit {
  std::string moved;

  BottleneckWords operator()(const std::monostate& /*none*/) const { return {"collectives", moved}; }
  BottleneckWords operator()(const bottleneck::FullLink& link) const {
    const auto collisions =
        link.spread < 1 ? fmt::format(
                              ": flows that switches hash to the same uplink leave {:.0f} % of the rate "
                              "of all uplinks",
                              100 * link.spread)
                        : "";
    return {link.name, fmt::format("{}, and this link is saturated during it{}{}", moved,
                                   link.is_shared ? " with a neighbour's traffic" : "", collisions)};
  }
  BottleneckWords operator()(const bottleneck::Latency& latency) const {
    const auto idle_links = unsaturated_links_clause(moved, latency.busiest, latency.used);
    if (!latency.of_collectives)
      return {"latency", idle_links + ", so the latency of their steps is the limit"};
    return {"latency",
            fmt::format("{}; {:.0f} % of the time of the collectives is the latency of their steps",
                        idle_links, 100 * *latency.of_collectives)};
  }
  BottleneckWords operator()(const bottleneck::Channels& channels) const {
    if (channels.far != FarLimit::none)
      return {"distance between nodes",
              fmt::format("{}, so {}", unsaturated_links_clause(moved, channels.busiest, channels.used),
                          in_words(channels.far))};
    return {
        fmt::format("{} ({})", gradway::in_words(channels.part), channels.transport),
        fmt::format("{}, so NCCL's own copying ({}) is the limit",
                    unsaturated_links_clause(moved, channels.busiest, channels.used), channels.transport)};
  }
};

/// ", 70 % of it to decode samples"
std::string longest_of(const bottleneck::Loader& loader) {
  constexpr std::array<std::string_view, loader_stages> activities{
      "read samples",    "wait for page faults", "decompress columns",
      "parse lines",     "decode samples",       "transform samples",
      "collate a batch", "wait for its decoder", "run kernels on the GPU"};
  return fmt::format(", {:.0f} % of it to {}", 100 * loader.of_batch,
                     activities[static_cast<std::size_t>(loader.stage)]);
}

/// The part of a loader with threads that is the limit.
std::string threads_of(const bottleneck::Loader& loader) {
  if (loader.kind == LoaderKind::tf_data && loader.workers == 1) return "tf.data's thread needs";
  if (loader.kind == LoaderKind::tf_data)
    return fmt::format("the {} threads of tf.data need", loader.workers);
  if (loader.stage == LoaderStage::read) return "DALI's reader, one thread, needs";
  if (loader.stage == LoaderStage::jpeg_decoder) return "the GPU's JPEG decoder needs";
  if (loader.stage == LoaderStage::gpu_kernels) return "DALI's GPU stage needs";
  if (loader.workers == 1) return "DALI's CPU thread needs";
  return fmt::format("the {} CPU threads of DALI need", loader.workers);
}

struct DescribeBottleneck {
  BottleneckWords operator()(const bottleneck::EmptyStep& /*none*/) const {
    return {"nothing", "the step takes no time"};
  }
  BottleneckWords operator()(const bottleneck::Kernels& kernels) const {
    return {kernels.gpu + " kernels",
            fmt::format("forward and backward kernels run {:.0f} % of the step", 100 * kernels.share)};
  }
  BottleneckWords operator()(const bottleneck::Optimizer& optimizer) const {
    return {optimizer.gpu + " memory",
            fmt::format("the optimizer takes {:.0f} % of the step", 100 * optimizer.share)};
  }
  BottleneckWords operator()(const bottleneck::Communication& exposed) const {
    return std::visit(DescribeCommunicationLimit{fmt::format("{:.0f} % of the step is exposed communication; "
                                                             "each GPU sends {:.4g} MB at {:.3g} GB/s",
                                                             100 * exposed.share, exposed.sent.value() / 1e6,
                                                             exposed.rate.value() / 1e9)},
                      exposed.limit);
  }
  BottleneckWords operator()(const bottleneck::Loader& loader) const {
    const auto waits = fmt::format("the GPU waits for its batch {:.0f} % of the step", 100 * loader.share);
    switch (loader.limit) {
      case bottleneck::LoaderLimit::storage:
        return {"storage", waits + ", and storage is saturated"};
      case bottleneck::LoaderLimit::cores:
        return {"CPU cores",
                waits + (loader.network_cores > 0
                             ? fmt::format(", and loader workers and copies of TCP, which take {:.1f} cores, "
                                           "keep all cores busy",
                                           loader.network_cores)
                             : ", and loader workers keep all cores busy")};
      case bottleneck::LoaderLimit::training_process:
        return {"loader", waits + ", which the training process loads itself, without workers"};
      case bottleneck::LoaderLimit::stage:
        return {"loader", fmt::format("{}: {} {:.4g} ms per batch{}", waits, threads_of(loader),
                                      1e3 * loader.batch.value(), longest_of(loader))};
      case bottleneck::LoaderLimit::workers:
        break;
    }
    return {"loader workers", fmt::format("{}: each of the {} workers needs {:.4g} ms per batch{}", waits,
                                          loader.workers, 1e3 * loader.batch.value(), longest_of(loader))};
  }
  BottleneckWords operator()(const bottleneck::GpuDecoding& decoding) const {
    return {"decoding on the GPU", fmt::format("{} spends {:.0f} % of the step on decoding samples, which "
                                               "training does not get",
                                               decoding.gpu, 100 * decoding.share)};
  }
  BottleneckWords operator()(const bottleneck::Idle& idle) const {
    const auto of_step = fmt::format("{:.0f} % of the step", 100 * idle.share);
    switch (idle.wait) {
      case bottleneck::Wait::input_copy:
        return {"input copy", "the GPU waits for its input " + of_step};
      case bottleneck::Wait::launches:
        return {"CPU launches", "the GPU waits for the CPU to issue kernels " + of_step};
      case bottleneck::Wait::background_copy:
      case bottleneck::Wait::prefetch:
        return {
            idle.wait == bottleneck::Wait::prefetch ? "prefetch" : "background copy",
            fmt::format("the GPU is idle {}, while copies for later steps occupy its copy engine", of_step)};
      case bottleneck::Wait::other:
        break;
    }
    return {"waiting", "the GPU waits for other ranks or latencies " + of_step};
  }
};

}  // namespace

BottleneckWords describe(const Bottleneck& bottleneck) {
  return std::visit(DescribeBottleneck{}, bottleneck);
}

}  // namespace gradway::report
