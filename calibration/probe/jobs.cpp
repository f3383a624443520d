// SPDX-License-Identifier: Apache-2.0
#include "calibration/probe/jobs.hpp"

#include <utility>

#include <fmt/format.h>

#include "calibration/harness/host.hpp"
#include "calibration/probe/beside.hpp"
#include "calibration/probe/collectives.hpp"
#include "calibration/probe/copies.hpp"
#include "calibration/probe/cuda_check.hpp"
#include "calibration/probe/facts.hpp"
#include "calibration/probe/instrument.hpp"
#include "calibration/probe/kernels/families.hpp"
#include "calibration/probe/kernels/kernels.hpp"
#include "calibration/probe/nccl_library.hpp"
#include "calibration/probe/throttle_watch.hpp"

namespace gradway::probe {
namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

// Variables of NCCL that disable the faster transports.
const Environment as_is;
const Environment over_shm{{"NCCL_P2P_DISABLE", "1"}};
const Environment over_net{{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}};

/// The probe, while throttling of the GPU's clocks is observed.
std::function<void(Context&)> watched(std::function<void(Context&)> probe) {
  return [probe = std::move(probe)](Context& context) {
    check(cudaSetDevice(context.gpu), "choosing a GPU");
    ThrottleWatch watch{context.gpu};
    probe(context);
    if (const auto verdict = watch.verdict(); !verdict.empty()) context.remark(verdict);
  };
}

Job alone(std::string section, std::string name, Seconds estimate, std::function<void(Context&)> probe) {
  return {std::move(section), std::move(name), as_is, false, estimate, watched(std::move(probe))};
}

void add_transport(std::vector<Job>& jobs, const std::string& tag, const Environment& environment,
                   Seconds collectives, Seconds beside, const Options& options) {
  const auto add = [&](std::string section, std::string name, Seconds estimate,
                       void (*probe)(Context&, const std::string&)) {
    jobs.push_back({std::move(section), std::move(name), environment, true, estimate,
                    watched([probe, tag](Context& context) { probe(context, tag); })});
  };
  add("collectives", fmt::format("collectives, {}", tag), collectives, probe_collectives);
  if (options.adapt) return;
  add("beside", fmt::format("contention of kernels and collectives, {}", tag), beside, probe_beside_kernels);
  // Collectives over NVLink hardly contend with copies from the host.
  if (!options.quick || tag != "p2p")
    add("beside", fmt::format("contention of copies and collectives, {}", tag), 0.3 * beside,
        probe_beside_copies);
}

bool has_nccl() {
  try {
    nccl();
    return true;
  } catch (const Refusal&) {
    return false;
  }
}

}  // namespace

Job facts_job() {
  return {"facts", "description of the node", as_is, false, Seconds{10}, probe_facts};
}

std::vector<Job> all_jobs(int gpus, int nodes, const Options& options) {
  // Measured on 1 and 4 H200; estimates for --adapt follow from the number of rows.
  const double pace = options.quick || options.adapt ? 0.25 : 1;
  std::vector<Job> jobs;
  jobs.push_back(alone("instrument", "the instrument itself", Seconds{2}, probe_instrument));
  jobs.push_back(alone("links", "copies", pace * Seconds{7 + 1.0 * gpus}, probe_copies));
  jobs.push_back(alone("links", "copies at the same time", pace * Seconds{4.0 * gpus}, probe_patterns));
  if (!options.adapt) jobs.push_back(alone("kernels", "kernels", pace * Seconds{9}, probe_kernels));
  if (!options.adapt && nodes == 1)
    jobs.push_back({"load", "all GPUs under load", as_is, true, Seconds{12}, watched(probe_load)});
  jobs.push_back({"host", "host memory and disk", as_is, false, Seconds{10},
                  [folder = options.out.parent_path()](Context& context) { probe_host(context, folder); }});
  if (nodes > 1) {
    // Between nodes the network is the slowest link of every ring, whatever is used inside of nodes.
    add_transport(jobs, "net", as_is, pace * Seconds{20}, pace * Seconds{40}, options);
  } else if (gpus > 1 && !has_nccl()) {
    // One failure with instructions instead of one per job.
    for (const auto* section : {"collectives", "beside"})
      jobs.push_back(alone(section, section, Seconds{1}, [](Context&) { nccl(); }));
  } else if (gpus > 1) {
    add_transport(jobs, "p2p", as_is, pace * Seconds{13}, pace * Seconds{34}, options);
    if (!options.adapt) {
      jobs.push_back({"collectives", "all-reduces with algorithm and protocol forced", as_is, true,
                      pace * Seconds{20}, watched([](Context& context) { probe_forced(context, "p2p"); })});
    }
    add_transport(jobs, "shm", over_shm, pace * Seconds{20}, pace * Seconds{48}, options);
    if (!options.quick) {
      jobs.push_back({"collectives", "collectives, net", over_net, true, Seconds{15},
                      watched([](Context& context) { probe_collectives(context, "net"); })});
    }
  }
  return jobs;
}

}  // namespace gradway::probe
