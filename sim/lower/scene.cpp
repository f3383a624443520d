// SPDX-License-Identifier: Apache-2.0
#include "sim/lower/scene.hpp"

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

bool copies(const Program& program, Place to) {
  return std::ranges::any_of(program.tasks, [&](const Task& task) {
    const auto* copy = std::get_if<Copy>(&task.work);
    return copy && copy->to == to;
  });
}

/// Beside the traffic of the job. @pre it was checked when the scenario was read
std::vector<TransferPath> background_ways(const Scenario& scenario) {
  std::vector<TransferPath> ways;
  if (scenario.job.traffic.empty()) return ways;
  const Routes routes{scenario.platform};
  for (const auto& neighbour : scenario.job.traffic) {
    const auto from = find_device(scenario.platform, neighbour.from);
    const auto to = find_device(scenario.platform, neighbour.to);
    expects(from && to, "both ends of traffic are parts of the platform");
    auto way = background_path(routes, *from, *to);
    expects(way.has_value(), "traffic has a way");
    ways.push_back(*std::move(way));
  }
  return ways;
}

void find_copy_ways(Scene& scene, const Workload& workload, const Platform& platform,
                    const std::vector<std::uint32_t>& gpus) {
  scene.in.resize(workload.actors.size());
  scene.out.resize(workload.actors.size());
  const auto some = [&](Place to) {
    return std::ranges::any_of(workload.programs, [&](const auto& program) { return copies(program, to); });
  };
  const bool any_in = some(Place::gpu);
  const bool any_out = some(Place::host);
  if (!any_in && !any_out) return;
  const Routes routes{platform};
  for (std::size_t a = 0; a < workload.actors.size(); ++a) {
    const auto gpu = gpus[workload.actors[a].at.index()];
    if (gpu == Op::absent) continue;
    if (any_in) scene.in[a] = path_from_host(routes, platform, gpu).value_or(TransferPath{});
    if (any_out) scene.out[a] = path_to_host(routes, platform, gpu).value_or(TransferPath{});
  }
}

/// Of a rank its own GPU; of a loader that of the rank that it hands its batches to.
DeviceId gpu_of(const Workload& workload, const Actor& actor) {
  return actor.channels.empty()
             ? actor.at
             : workload.actors[workload.channels[actor.channels.front().index()].to.index()].at;
}

/// Of actors that read samples or work on them.
void find_loading_ways(Scene& scene, const Workload& workload, const Platform& platform) {
  scene.reads.resize(workload.actors.size());
  scene.hits.resize(workload.actors.size());
  scene.cores.resize(workload.actors.size());
  if (platform.loading.empty()) return;
  const Routes routes{platform};
  for (std::size_t a = 0; a < workload.actors.size(); ++a) {
    const auto& actor = workload.actors[a];
    const auto& program = workload.programs[actor.program.index()];
    const auto& way = platform.loading[static_cast<std::size_t>(platform.device(actor.at).node)];
    if (does<Read>(program)) {
      scene.reads[a] = way.storage;
      scene.hits[a] = way.cache;
      if (way.over_nics) {
        const auto over = path_over_nic(routes, gpu_of(workload, actor));
        expects(over.has_value(), "storage over network cards finds one");
        scene.reads[a].insert(scene.reads[a].end(), over->begin(), over->end());
      }
      const auto socket = platform.device(actor.at).kind == DeviceKind::socket ? std::optional{actor.at}
                                                                               : routes.home_socket(actor.at);
      if (socket && platform.memories[socket->index()]) {
        scene.reads[a].push_back(*platform.memories[socket->index()]);
        scene.hits[a].push_back(*platform.memories[socket->index()]);
      }
    }
    if (does<HostWork>(program) && way.cores) scene.cores[a] = {*way.cores};
  }
}

Folding folding_of(const Scene& scene, const Workload& workload, const Platform& platform,
                   const std::vector<std::uint32_t>& gpus) {
  std::vector<ActorUse> uses;
  uses.reserve(workload.actors.size());
  for (std::size_t a = 0; a < workload.actors.size(); ++a) {
    auto& use = uses.emplace_back();
    use.push_back(scene.in[a].resources);
    const auto gpu = gpus[workload.actors[a].at.index()];
    if (gpu != Op::absent) use.back().push_back(platform.gpu_resources[gpu]);
    if (!scene.out[a].resources.empty()) use.push_back(scene.out[a].resources);
    if (!scene.reads[a].empty()) use.push_back(scene.reads[a]);
    if (!scene.hits[a].empty()) use.push_back(scene.hits[a]);
    if (!scene.cores[a].empty()) use.push_back(scene.cores[a]);
  }
  std::vector<const std::vector<ResourceId>*> others;
  for (const auto& way : scene.traffic) others.push_back(&way.resources);
  return find_folding(workload, uses, scene.meetings.uses(), others, platform);
}

}  // namespace

Scene scene_of(const Workload& workload, const Scenario& scenario, const Communicators& communicators,
               FoldRanks fold) {
  const auto& platform = scenario.platform;
  Scene scene{.in = {},
              .out = {},
              .reads = {},
              .hits = {},
              .cores = {},
              .traffic = background_ways(scenario),
              .meetings = {workload, communicators},
              .folding = {}};
  const auto gpus = gpu_numbers(platform);
  find_copy_ways(scene, workload, platform, gpus);
  find_loading_ways(scene, workload, platform);
  scene.folding =
      fold == FoldRanks::yes ? folding_of(scene, workload, platform, gpus) : no_folding(workload, platform);
  return scene;
}

}  // namespace gradway
