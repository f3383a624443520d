// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace/link_tracks.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/metrics/link_use.hpp"
#include "sim/report/trace/slices.hpp"

namespace gradway::report {
namespace {

std::vector<ResourceId> busiest(const Run& run, std::size_t most) {
  const auto& platform = run.scenario.platform;
  std::map<std::string, ResourceId> by_name;  // of resources that are listed themselves
  for (const auto& [id, bytes] : run.measured.carried) by_name.emplace(platform.name_of(id), id);
  std::vector<ResourceId> resources;
  for (const auto& use : run.measured.links) {
    if (resources.size() == most) break;
    const auto known = by_name.find(use.name);
    if (known != by_name.end() && std::isfinite(platform.resources[known->second.index()].capacity))
      resources.push_back(known->second);
  }
  return resources;
}

int node_of(const Platform& platform, ResourceId id) {
  const auto& resource = platform.resources[id.index()];
  if (resource.kind == ResourceKind::storage || resource.kind == ResourceKind::cores)
    return resource.of == all_nodes ? 0 : static_cast<int>(resource.of);
  if (resource.kind != ResourceKind::link) return platform.devices[resource.of].node;
  const auto& link = platform.links[resource.of];
  return std::max(platform.device(link.from).node, platform.device(link.to).node);
}

/// Converts changes to points. Of changes in the same nanosecond the last one counts.
std::vector<LinkTrack::Point> points(const std::vector<UseChange>& changes) {
  std::vector<LinkTrack::Point> samples;
  for (const auto& change : changes) {
    const auto at_ns = nanoseconds(change.at);
    if (!samples.empty() && samples.back().at_ns == at_ns) samples.pop_back();
    samples.push_back({at_ns, change.own, change.others});
  }
  return samples;
}

}  // namespace

std::vector<LinkTrack> busiest_links(const Run& run, std::size_t most) {
  const auto& platform = run.scenario.platform;
  const auto ids = busiest(run, most);
  const auto use = link_use(platform, run.ops, run.timeline, ids);
  std::vector<LinkTrack> tracks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    LinkTrack track;
    track.name = platform.name_of(ids[i]);
    track.node = node_of(platform, ids[i]);
    const auto members = std::ranges::count(run.folding.resource_representative, ids[i]);
    track.alike = static_cast<std::size_t>(members - 1);
    track.points = points(use[i]);
    track.has_others = std::ranges::any_of(track.points, [](const auto& point) { return point.others > 0; });
    tracks.push_back(std::move(track));
  }
  return tracks;
}

}  // namespace gradway::report
