// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/lowering_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/contract.hpp"
#include "sim/graph/op_graph.hpp"
#include "sim/platform/data_paths.hpp"

namespace gradway {
namespace {

template <class Work>
bool does(const Program& program) {
  return std::ranges::any_of(program.tasks,
                             [](const Task& task) { return std::holds_alternative<Work>(task.work); });
}

bool copies(const Program& program, Place place) {
  return std::ranges::any_of(program.tasks, [&](const Task& task) {
    const auto* copy = std::get_if<Copy>(&task.work);
    return copy && copy->to == place;
  });
}

/// @pre the traffic was checked when the scenario was read
std::vector<TrafficFlow> traffic_flows(const Platform& platform, const std::vector<BackgroundFlow>& traffic) {
  std::vector<TrafficFlow> flows;
  if (traffic.empty()) return flows;
  const Routes routes{platform};
  for (const auto& neighbour : traffic) {
    const auto from = find_device(platform, neighbour.from);
    const auto to = find_device(platform, neighbour.to);
    expects(from && to, "both ends of traffic are devices of the platform");
    auto link_path = background_path(routes, *from, *to);
    expects(link_path.has_value(), "links lead from one end of traffic to the other");
    flows.push_back({std::move(link_path->resources),
                     neighbour.rate.value_or(neighbour.load * link_path->slowest), neighbour.weight,
                     neighbour.start, neighbour.end.value_or(neighbour.start) - neighbour.start,
                     neighbour.period.value_or(Seconds{})});
  }
  return flows;
}

/// Finds the paths of the copies of actors.
class CopyPaths {
 public:
  CopyPaths(const Workload& workload, const Routes& routes, const std::vector<std::uint32_t>& gpus)
      : workload_{workload}, routes_{routes}, gpus_{gpus} {
    for (const auto& program : workload.programs) {
      any_in_ = any_in_ || copies(program, Place::gpu);
      any_out_ = any_out_ || copies(program, Place::host);
    }
  }

  TransferPath in(std::size_t actor) const { return any_in_ ? find(path_from_host, actor) : TransferPath{}; }
  TransferPath out(std::size_t actor) const { return any_out_ ? find(path_to_host, actor) : TransferPath{}; }

 private:
  template <class Find>
  TransferPath find(const Find& path_of, std::size_t actor) const {
    const auto gpu = gpus_[workload_.actors[actor].at.index()];
    if (gpu == Op::absent) return {};
    return path_of(routes_, routes_.platform(), gpu).value_or(TransferPath{});
  }

  const Workload& workload_;
  const Routes& routes_;
  const std::vector<std::uint32_t>& gpus_;
  bool any_in_ = false;
  bool any_out_ = false;
};

/// The GPU of a rank; for a loader the GPU of the rank that it hands its batches to.
DeviceId gpu_of(const Workload& workload, const Actor& actor) {
  return actor.channels.empty()
             ? actor.at
             : workload.actors[workload.channels[actor.channels.front().index()].to.index()].at;
}

bool reads_ahead(const Program& program) {
  return std::ranges::any_of(program.tasks, [](const Task& task) {
    const auto* read = std::get_if<Read>(&task.work);
    return read != nullptr && read->from == ReadFrom::ahead;
  });
}

/// Finds the paths of the reads of one actor.
void find_read_paths(LoweringPlan& plan, std::size_t a, const Workload& workload, const LoadingPath& loading,
                     const Routes& routes) {
  const auto& platform = routes.platform();
  const auto& actor = workload.actors[a];
  plan.reads[a] = loading.storage;
  plan.cache_hits[a] = loading.cache;
  plan.cold_reads[a] = loading.cold;
  if (loading.over_nics || loading.cold_over_nics) {
    const auto over = path_over_nic(routes, gpu_of(workload, actor));
    expects(over.has_value(), "storage over the network has a network card");
    if (loading.over_nics) plan.reads[a].insert(plan.reads[a].end(), over->begin(), over->end());
    if (loading.cold_over_nics)
      plan.cold_reads[a].insert(plan.cold_reads[a].end(), over->begin(), over->end());
  }
  const auto socket = platform.device(actor.at).kind == DeviceKind::socket ? std::optional{actor.at}
                                                                           : routes.home_socket(actor.at);
  if (socket && platform.memories[socket->index()]) {
    for (auto* path : {&plan.reads[a], &plan.cache_hits[a]})
      path->push_back(*platform.memories[socket->index()]);
    if (!loading.cold.empty()) plan.cold_reads[a].push_back(*platform.memories[socket->index()]);
  }
  if (!reads_ahead(workload.programs[actor.program.index()])) return;
  plan.reads_ahead[a] = plan.reads[a];
  plan.reads_ahead[a].insert(plan.reads_ahead[a].end(), loading.cache.begin(), loading.cache.end());
}

/// Finds the paths of actors that read or preprocess samples.
void find_loading_paths(LoweringPlan& plan, const Workload& workload, const Routes& routes) {
  const auto& platform = routes.platform();
  if (platform.loading.empty()) return;
  for (auto* paths : {&plan.reads, &plan.cache_hits, &plan.cold_reads, &plan.reads_ahead, &plan.cores})
    paths->resize(workload.actors.size());
  for (std::size_t a = 0; a < workload.actors.size(); ++a) {
    const auto& actor = workload.actors[a];
    const auto& program = workload.programs[actor.program.index()];
    const auto& loading = platform.loading[static_cast<std::size_t>(platform.device(actor.at).node)];
    if (does<Read>(program)) find_read_paths(plan, a, workload, loading, routes);
    if (does<HostWork>(program) && loading.cores) plan.cores[a] = {*loading.cores};
  }
}

/// Whether interchangeable domains can stand for each other: the workload uses nothing besides them.
bool uses_only_domains(const Workload& workload, const LoweringPlan& plan, const Platform& platform,
                       const IdenticalDomains& alike) {
  return alike.hold() && workload.channels.empty() && plan.traffic.empty() && platform.loading.empty();
}

Folding fold_workload(const LoweringPlan& plan, const Workload& workload, const Platform& platform,
                      const std::vector<std::uint32_t>& gpus, const CopyPaths& copies,
                      const IdenticalDomains* alike) {
  const auto use_of = [&](std::size_t a) {
    ActorUse use{copies.in(a).resources};
    const auto gpu = gpus[workload.actors[a].at.index()];
    if (gpu != Op::absent) use.back().push_back(platform.gpu_resources[gpu]);
    if (auto out = copies.out(a).resources; !out.empty()) use.push_back(std::move(out));
    if (!plan.has_loading()) return use;
    for (const auto* paths :
         {&plan.reads, &plan.cache_hits, &plan.cold_reads, &plan.reads_ahead, &plan.cores})
      if (!(*paths)[a].empty()) use.push_back((*paths)[a]);
    return use;
  };
  std::vector<const std::vector<ResourceId>*> traffic;
  for (const auto& flow : plan.traffic) traffic.push_back(&flow.path);
  return find_folding(workload, use_of, plan.collectives.group_uses(), traffic, platform, alike);
}

}  // namespace

LoweringPlan make_lowering_plan(const Workload& workload, const Scenario& scenario,
                                const Communicators& communicators, FoldRanks fold) {
  const auto& platform = scenario.platform;
  LoweringPlan plan{.precision = scenario.job.precision,
                    .copy_in = std::vector<TransferPath>(workload.actors.size()),
                    .copy_out = std::vector<TransferPath>(workload.actors.size()),
                    .reads = {},
                    .cache_hits = {},
                    .cold_reads = {},
                    .reads_ahead = {},
                    .cores = {},
                    .traffic = traffic_flows(platform, scenario.job.traffic),
                    .collectives = {workload, communicators},
                    .folding = {}};
  const auto gpus = gpu_numbers(platform);
  const auto& routes = communicators.routes();
  const auto& alike = routes.identical_domains();
  find_loading_paths(plan, workload, routes);
  const CopyPaths copies{workload, routes, gpus};
  const bool only_domains = uses_only_domains(workload, plan, platform, alike);
  plan.folding = fold == FoldRanks::yes
                     ? fold_workload(plan, workload, platform, gpus, copies, only_domains ? &alike : nullptr)
                     : no_folding(workload, platform);
  for (std::size_t a = 0; a < workload.actors.size(); ++a) {
    if (only_domains && !plan.folding.resources.may_be_on(alike.domain_of(workload.actors[a].at))) continue;
    plan.copy_in[a] = copies.in(a);
    plan.copy_out[a] = copies.out(a);
  }
  return plan;
}

}  // namespace gradway
