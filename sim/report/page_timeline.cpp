// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include "sim/metrics/steps.hpp"
#include "sim/report/link_tracks.hpp"
#include "sim/report/shown_ranks.hpp"
#include "sim/report/slices.hpp"
#include "sim/report/words.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_ranks = 4;
constexpr std::size_t links_shown = 8;

double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

std::int64_t whole(Bytes amount) {
  return static_cast<std::int64_t>(std::llround(amount.value()));
}

StepWindow reported_step(const Run& run) {
  return gradway::reported_step(run.workload, run.ops, run.timeline);
}

/// Numbers names in the order in which they come.
class Names {
 public:
  std::size_t number(const std::string& name) {
    const auto [place, is_new] = known_.try_emplace(name, known_.size());
    if (is_new) names_.push_back(name);
    return place->second;
  }
  const Json& json() const { return names_; }

 private:
  std::map<std::string, std::size_t> known_;
  Json names_ = Json::array();
};

/// When something was under way.
struct Span {
  Seconds start = Seconds::infinite();
  Seconds end{};
};

void cover(Span& span, Seconds start, Seconds end) {
  span.start = std::min(span.start, start);
  span.end = std::max(span.end, end);
}

/// By task, of one step: ops of rank 0 and of all ranks, launches aside. A collective of which nothing takes
/// time is where its ranks meet.
std::vector<Span> spans_on_rank_0(const Run& run, int step) {
  std::vector<Span> spans(run.workload.tasks.size());
  std::vector<Span> marks(run.workload.tasks.size());
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const auto& origin = run.ops.op(OpId{i}).origin;
    if (origin.step != step || origin.rank > 0 || origin.task == Origin::none) continue;
    if (origin.activity == Activity::launch) continue;
    auto& of = origin.activity == Activity::marker ? marks : spans;
    cover(of[static_cast<std::size_t>(origin.task)], run.timeline.start[i], run.timeline.end[i]);
  }
  for (std::size_t task = 0; task < spans.size(); ++task) {
    if (spans[task].start == Seconds::infinite()) spans[task] = marks[task];
  }
  return spans;
}

}  // namespace

Json timeline_json(const Run& run) {
  const auto& platform = run.scenario.platform;
  const auto window = reported_step(run);
  const auto from = nanoseconds(window.from);
  const auto to = nanoseconds(window.to);
  const auto shown = shown_ranks(run.folding, 0, most_ranks);
  const Slices all{run, shown.ranks};
  const auto labels = task_labels(run.workload);
  Names names;
  Names phases;
  Json rows = Json::array();
  Json slices = Json::array();
  for (const auto rank : shown.ranks) {
    auto of_rank = all.of(rank);
    std::erase_if(of_rank, [&](const Slice& slice) { return slice.end_ns <= from || slice.start_ns >= to; });
    std::ranges::stable_sort(of_rank, {}, [](const Slice& slice) {
      return std::tuple{slice.track, slice.lane, slice.start_ns};
    });
    const auto& device = platform.device(platform.gpus[rank]);
    std::pair<Track, int> row{Track::phases, -1};
    for (const auto& slice : of_rank) {
      if (row != std::pair{slice.track, slice.lane}) {
        row = {slice.track, slice.lane};
        rows.push_back({{"rank", rank},
                        {"node", device.node},
                        {"device", device.name},
                        {"stream", track_names[static_cast<std::size_t>(slice.track)]}});
      }
      const auto phase = std::string{name_of(slice.phase)};
      const bool is_phase = slice.task == Origin::none;
      const auto task = static_cast<std::size_t>(slice.task);
      slices.push_back({rows.size() - 1, microseconds(slice.start_ns),
                        microseconds(slice.end_ns - slice.start_ns),
                        names.number(is_phase ? phase : labels[task]), phases.number(phase),
                        is_phase ? Task::none : run.workload.tasks[task].bucket,
                        is_phase ? 0 : whole(run.workload.tasks[task].bytes)});
    }
  }
  return {{"step", {{"from_us", microseconds(from)}, {"to_us", microseconds(to)}}},
          {"ranks", shown.words},
          {"rows", std::move(rows)},
          {"names", names.json()},
          {"phases", phases.json()},
          {"slices", std::move(slices)}};
}

Json buckets_json(const Run& run) {
  const auto& workload = run.workload;
  const auto spans = spans_on_rank_0(run, reported_step(run).step);
  Json list = Json::array();
  for (std::size_t b = 0; b < workload.buckets.size(); ++b) {
    const auto& bucket = workload.buckets[b];
    if (bucket.filled_by == Task::none) continue;
    Span reduced;
    for (std::size_t task = 0; task < workload.tasks.size(); ++task) {
      const auto& it = workload.tasks[task];
      if (it.kind == TaskKind::collective && it.bucket == static_cast<std::int32_t>(b))
        cover(reduced, spans[task].start, spans[task].end);
    }
    const auto layer = [&](const Bucket::Gradient& gradient) {
      return run.scenario.model.layers[static_cast<std::size_t>(gradient.layer)].name;
    };
    const auto us = [](Seconds date) { return microseconds(nanoseconds(date)); };
    list.push_back({{"size_bytes", whole(bucket.size)},
                    {"gradients", bucket.gradients.size()},
                    {"first_layer", layer(bucket.gradients.front())},
                    {"last_layer", layer(bucket.gradients.back())},
                    {"ready_us", us(spans[static_cast<std::size_t>(bucket.filled_by)].end)},
                    {"start_us", us(reduced.start)},
                    {"end_us", us(reduced.end)}});
  }
  return list;
}

Json use_json(const Run& run) {
  const auto window = reported_step(run);
  const auto from = nanoseconds(window.from);
  const auto to = nanoseconds(window.to);
  Json list = Json::array();
  for (const auto& link : busiest_links(run, links_shown)) {
    Json points = Json::array();
    double before = 0;
    for (const auto& point : link.points) {
      if (point.at_ns >= to) break;
      if (point.at_ns > from && points.empty()) points.push_back({microseconds(from), before});
      if (point.at_ns >= from) points.push_back({microseconds(point.at_ns), point.own});
      before = point.own;
    }
    if (points.empty()) points.push_back({microseconds(from), before});
    points.push_back({microseconds(to), before});
    list.push_back({{"name", link.name}, {"alike", link.alike}, {"points", std::move(points)}});
  }
  return list;
}

}  // namespace gradway::report
