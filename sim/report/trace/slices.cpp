// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace/slices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/metrics/link_use.hpp"
#include "sim/report/format/text.hpp"

namespace gradway::report {
namespace {

Track track_of(Lane lane, Activity activity) {
  switch (activity) {
    case Activity::launch:
      return Track::launch;
    case Activity::copy:
      return Track::copy;
    case Activity::collective:
      return Track::communicator;
    case Activity::load:
      return Track::loader;
    default:
      break;
  }
  return lane == Lane::compute ? Track::compute : Track::other;
}

/// Whether the start of a phase ends another. Backward and communication run concurrently; any other phase
/// ends the previous ones.
bool ends(Phase next, Phase running) {
  const auto contention = [](Phase phase) {
    return phase == Phase::backward || phase == Phase::communication;
  };
  return next != running && !(contention(next) && contention(running));
}

/// Segments of a pipeline stage: one per pass of a micro-batch, and one per other phase.
std::vector<std::int32_t> segments_by_pass(const Program& program) {
  std::vector<std::int32_t> of_task(program.tasks.size(), Origin::none);
  for (std::size_t pass = 0; pass < program.passes.size(); ++pass)
    for (auto task = program.passes[pass].first; task < program.passes[pass].end; ++task)
      of_task[task] = static_cast<std::int32_t>(pass);
  std::map<Phase, std::int32_t> by_phase;
  auto count = static_cast<std::int32_t>(program.passes.size());
  for (std::size_t task = 0; task < program.tasks.size(); ++task) {
    const auto phase = program.tasks[task].phase;
    if (of_task[task] != Origin::none || program.is_background_copy(program.tasks[task]) ||
        phase == Phase::communication)
      continue;
    const auto [place, is_new] = by_phase.try_emplace(phase, count);
    if (is_new) ++count;
    of_task[task] = place->second;
  }
  return of_task;
}

/// By task: the number of its segment, a contiguous part of a phase.
std::vector<std::int32_t> segments(const Program& program) {
  if (!program.passes.empty()) return segments_by_pass(program);
  std::vector<std::int32_t> of_task;
  std::map<Phase, std::int32_t> running;
  std::int32_t count = 0;
  for (const auto& task : program.tasks) {
    if (program.is_background_copy(task)) {
      of_task.push_back(Origin::none);
      continue;
    }
    std::erase_if(running, [&](const auto& phase) { return ends(task.phase, phase.first); });
    const auto [place, is_new] = running.try_emplace(task.phase, count);
    if (is_new) ++count;
    of_task.push_back(place->second);
  }
  return of_task;
}

void cover(Slice& slice, const Slice& covered) {
  slice.start_ns = std::min(slice.start_ns, covered.start_ns);
  slice.end_ns = std::max(slice.end_ns, covered.end_ns);
}

/// The simulated loader of a rank; empty if there is none.
std::optional<std::size_t> loader_of(const Run& run, std::size_t rank) {
  const auto& channels = run.workload.actors[rank].channels;
  if (channels.empty()) return std::nullopt;
  const auto loader = run.workload.channels[channels.front().index()].from;
  return run.folding.actor_representative[loader.index()].index();
}

/// Assigns each slice to the first free lane of its track. @param slices in order of track and start
void choose_lanes(std::vector<Slice>& slices) {
  std::vector<std::int64_t> ends;  // by lane of the current track
  std::optional<Track> track;
  for (auto& slice : slices) {
    if (track != slice.track) ends.clear();
    track = slice.track;
    const auto free = std::ranges::find_if(ends, [&](auto end) { return end <= slice.start_ns; });
    slice.lane = static_cast<int>(free - ends.begin());
    if (free == ends.end()) ends.push_back(0);
    ends[static_cast<std::size_t>(slice.lane)] = slice.end_ns;
  }
}

}  // namespace

std::int64_t nanoseconds(Seconds time) {
  return static_cast<std::int64_t>(std::llround(time.value() * 1e9));
}

Slices::Slices(const Run& run, const std::vector<std::size_t>& ranks) : run_{run}, calls_{run.workload} {
  for (const auto& program : run.workload.programs) segment_.push_back(segments(program));
  for (const auto rank : ranks) {
    by_actor_[run.folding.actor_representative[rank].index()];
    for (const auto group : run.workload.actors[rank].groups)
      by_group_[run.folding.group_representative[group.index()].index()];
    if (const auto loader = loader_of(run, rank)) by_actor_[*loader];
  }
  const auto& ops = run.ops.ops();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto& origin = ops[i].origin;
    if (ops[i].kind == OpKind::join || origin.activity == Activity::marker || origin.task == Origin::none)
      continue;
    const bool is_of_group = origin.actor == Origin::none;
    auto& by_owner = is_of_group ? by_group_ : by_actor_;
    const auto place = by_owner.find(static_cast<std::size_t>(is_of_group ? origin.group : origin.actor));
    if (place == by_owner.end()) continue;
    Slice slice;
    slice.start_ns = nanoseconds(run.timeline.start[i]);
    slice.end_ns = nanoseconds(run.timeline.end[i]);
    slice.program = origin.program;
    slice.task = origin.task;
    slice.step = origin.step;
    slice.phase = origin.phase;
    const auto& program = run.workload.programs[origin.program];
    slice.track =
        track_of(program.lane(program.tasks[static_cast<std::size_t>(origin.task)]), origin.activity);
    place->second.push_back(slice);
  }
}

std::vector<Slice> Slices::of(std::size_t rank) const {
  auto slices = by_actor_.at(run_.folding.actor_representative[rank].index());
  const auto& actor = run_.workload.actors[rank];
  const auto& tasks = run_.workload.programs[actor.program.index()].tasks;
  for (std::uint32_t slot = 0; slot < actor.groups.size(); ++slot) {
    const auto group = run_.folding.group_representative[actor.groups[slot].index()];
    for (auto call : by_group_.at(group.index())) {
      call.task = calls_.task_of(actor.program, {slot}, {.task = call.task, .program = call.program});
      call.program = static_cast<std::uint16_t>(actor.program.index());
      call.phase = tasks[static_cast<std::size_t>(call.task)].phase;
      slices.push_back(call);
    }
  }
  if (const auto loader = loader_of(run_, rank)) {
    const auto& loading = by_actor_.at(*loader);
    slices.insert(slices.end(), loading.begin(), loading.end());
  }
  const auto task_key = [](const Slice& slice) {
    return std::tuple{slice.track, slice.step, slice.program, slice.task};
  };
  std::ranges::stable_sort(slices, {}, task_key);
  std::vector<Slice> merged;
  for (const auto& slice : slices) {
    if (!merged.empty() && task_key(merged.back()) == task_key(slice)) {
      cover(merged.back(), slice);
    } else {
      merged.push_back(slice);
    }
  }
  std::erase_if(merged, [](const Slice& slice) { return slice.end_ns <= slice.start_ns; });
  add_phases(merged);
  std::ranges::stable_sort(merged, {}, [](const Slice& slice) {
    return std::pair{slice.track, slice.start_ns};
  });
  choose_lanes(merged);
  return merged;
}

void Slices::add_phases(std::vector<Slice>& slices) const {
  std::map<std::pair<std::int32_t, std::int32_t>, Slice> phases;  // by step and segment
  for (const auto& slice : slices) {
    const auto segment = segment_[slice.program][static_cast<std::size_t>(slice.task)];
    if (slice.track == Track::launch || slice.track == Track::loader || segment == Origin::none) continue;
    // A pass covers only its kernels, because its messages overlap with the adjacent passes.
    const auto& passes = run_.workload.programs[slice.program].passes;
    const bool is_pass = segment < static_cast<std::int32_t>(passes.size());
    if (is_pass && slice.track != Track::compute) continue;
    auto phase = slice;
    if (is_pass)
      phase.phase =
          passes[static_cast<std::size_t>(segment)].pass == Pass::forward ? Phase::forward : Phase::backward;
    phase.task = Origin::none;
    phase.track = Track::phases;
    const auto [place, is_new] = phases.try_emplace({slice.step, segment}, phase);
    if (!is_new) cover(place->second, slice);
  }
  for (const auto& [key, phase] : phases) slices.push_back(phase);
}

std::vector<std::vector<std::string>> task_labels(const Workload& workload) {
  std::vector<std::vector<std::string>> labels;
  for (const auto& program : workload.programs) {
    auto& program_labels = labels.emplace_back();
    for (const auto& task : program.tasks) {
      const auto bytes = bytes_of(task.work);
      program_labels.push_back(bytes > Bytes{} ? fmt::format("{} ({})", task.name, bytes_text(bytes))
                                               : task.name);
    }
  }
  return labels;
}

ShownRanks shown_ranks(const Folding& folding, std::size_t all_up_to, std::size_t most) {
  const auto count = folding.ranks;
  ShownRanks shown;
  if (count <= all_up_to) {
    shown.ranks.resize(count);
    std::iota(shown.ranks.begin(), shown.ranks.end(), std::size_t{0});
  } else {
    for (std::size_t rank = 0; rank < count && shown.ranks.size() < most; ++rank) {
      if (folding.is_representative(ActorId{rank})) shown.ranks.push_back(rank);
    }
  }
  const auto total = thousands_text(count);
  const auto classes = folding.simulated_ranks();
  if (shown.ranks.size() == count) {
    shown.words = count == 1 ? "the only rank" : fmt::format("all {} ranks", total);
  } else if (classes == 1) {
    shown.words = fmt::format("rank 0 of {}; the others behave identically", total);
  } else if (shown.ranks.size() == classes) {
    shown.words = fmt::format("ranks {} of {}; each of the others behaves like one of these",
                              fmt::join(shown.ranks, ", "), total);
  } else {
    shown.words = fmt::format("ranks {} of {}; other ranks behave differently and are not shown",
                              fmt::join(shown.ranks, ", "), total);
  }
  return shown;
}

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
    track.alike = run.folding.resources.represented_by(ids[i]) - 1;
    track.points = points(use[i]);
    track.has_others = std::ranges::any_of(track.points, [](const auto& point) { return point.others > 0; });
    tracks.push_back(std::move(track));
  }
  return tracks;
}

}  // namespace gradway::report
