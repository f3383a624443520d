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
  const auto& resources = run.scenario.platform.resources;
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < resources.size(); ++i) by_name.emplace(resources[i].name, i);
  std::vector<ResourceId> found;
  for (const auto& use : run.measured.links) {
    if (found.size() == most) break;
    const ResourceId id{by_name.at(use.name)};
    if (run.folding.stands_for_itself(id) && std::isfinite(resources[id.index()].capacity))
      found.push_back(id);
  }
  return found;
}

int node_of(const Platform& platform, ResourceId id) {
  for (const auto& link : platform.links) {
    if (link.resource == id) return std::max(platform.device(link.from).node, platform.device(link.to).node);
  }
  for (std::size_t i = 0; i < platform.memories.size(); ++i) {
    if (platform.memories[i] == id) return platform.devices[i].node;
  }
  return -1;
}

/// Of changes in the same nanosecond the last one counts.
std::vector<LinkTrack::Point> points(const std::vector<UseChange>& changes) {
  std::vector<LinkTrack::Point> found;
  for (const auto& change : changes) {
    const auto at = nanoseconds(change.at);
    if (!found.empty() && found.back().at_ns == at) found.pop_back();
    found.push_back({at, change.own, change.others});
  }
  return found;
}

}  // namespace

std::vector<LinkTrack> busiest_links(const Run& run, std::size_t most) {
  const auto& platform = run.scenario.platform;
  const auto ids = busiest(run, most);
  const auto use = link_use(platform, run.ops, run.timeline, ids);
  std::vector<LinkTrack> tracks;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    LinkTrack track;
    track.name = platform.resources[ids[i].index()].name;
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
