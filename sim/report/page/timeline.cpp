// SPDX-License-Identifier: Apache-2.0
#include "sim/report/page/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include "sim/metrics/view.hpp"
#include "sim/report/text/words.hpp"
#include "sim/report/trace/link_tracks.hpp"
#include "sim/report/trace/shown_ranks.hpp"
#include "sim/report/trace/slices.hpp"

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

/// Turns slices into rows of numbers, rank by rank.
class TimelineWriter {
 public:
  TimelineWriter(const Run& run, const StepWindow& window)
      : run_{run},
        from_{nanoseconds(window.from)},
        to_{nanoseconds(window.to)},
        labels_{task_labels(run.workload)} {}

  void add(std::size_t rank, std::vector<Slice> slices) {
    std::erase_if(slices, [&](const Slice& slice) { return slice.end_ns <= from_ || slice.start_ns >= to_; });
    const auto row_of = [](const Slice& slice) { return std::pair{slice.track, slice.lane}; };
    std::ranges::stable_sort(slices, {}, row_of);
    const auto& platform = run_.scenario.platform;
    const auto& device = platform.device(platform.gpus[rank]);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (i == 0 || row_of(slices[i]) != row_of(slices[i - 1])) {
        rows_.push_back({{"rank", rank},
                         {"node", device.node},
                         {"device", device.name},
                         {"stream", track_names[static_cast<std::size_t>(slices[i].track)]}});
      }
      add(slices[i]);
    }
  }

  /// @param words what the rows say of the ranks that have none
  Json take(const std::string& words) {
    return {{"step", {{"from_us", microseconds(from_)}, {"to_us", microseconds(to_)}}},
            {"ranks", words},
            {"rows", std::move(rows_)},
            {"names", names_.json()},
            {"phases", phases_.json()},
            {"slices", std::move(slices_)}};
  }

 private:
  void add(const Slice& slice) {
    const std::string phase{name_of(slice.phase)};
    const bool is_phase = slice.task == Origin::none;
    const auto task = static_cast<std::size_t>(slice.task);
    slices_.push_back(
        {rows_.size() - 1, microseconds(slice.start_ns), microseconds(slice.end_ns - slice.start_ns),
         names_.number(is_phase ? phase : labels_[slice.program][task]), phases_.number(phase),
         is_phase ? Task::none : run_.workload.programs[slice.program].tasks[task].unit,
         is_phase ? 0 : whole(bytes_of(run_.workload.programs[slice.program].tasks[task].work))});
  }

  const Run& run_;
  std::int64_t from_;  ///< the step, in nanoseconds
  std::int64_t to_;
  std::vector<std::vector<std::string>> labels_;  ///< by program and task
  Names names_;
  Names phases_;
  Json rows_ = Json::array();
  Json slices_ = Json::array();
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

/// By task, of one step: ops of rank 0 and of its groups, launches aside. A collective of which nothing takes
/// time is where its ranks meet.
std::vector<Span> spans_on_rank_0(const Run& run, int step) {
  const View view{run.workload, run.folding, ActorId{0}};
  const MatchingCalls calls{run.workload};
  std::vector<Span> spans(view.program().tasks.size());
  std::vector<Span> marks(view.program().tasks.size());
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const auto& origin = run.ops.op(OpId{i}).origin;
    if (origin.step != step || !view.sees(origin)) continue;
    if (origin.activity == Activity::launch) continue;
    auto& of = origin.activity == Activity::marker ? marks : spans;
    cover(of[static_cast<std::size_t>(view.task_of(origin, calls))], run.timeline.start[i], run.timeline.end[i]);
  }
  for (std::size_t task = 0; task < spans.size(); ++task) {
    if (spans[task].start == Seconds::infinite()) spans[task] = marks[task];
  }
  return spans;
}

}  // namespace

Json timeline_json(const Run& run) {
  const auto& window = run.window;
  const auto shown = shown_ranks(run.folding, 0, most_ranks);
  const Slices slices{run, shown.ranks};
  TimelineWriter writer{run, window};
  for (const auto rank : shown.ranks) writer.add(rank, slices.of(rank));
  return writer.take(shown.words);
}

Json buckets_json(const Run& run) {
  const auto& program = run.workload.first_program();
  const auto spans = spans_on_rank_0(run, run.window.step);
  Json list = Json::array();
  for (std::size_t b = 0; b < program.units.size(); ++b) {
    const auto& bucket = program.units[b];
    if (bucket.filled_by == Task::none) continue;
    Span reduced;
    for (std::size_t task = 0; task < program.tasks.size(); ++task) {
      const auto& it = program.tasks[task];
      if (std::holds_alternative<Call>(it.work) && it.unit == static_cast<std::int32_t>(b))
        cover(reduced, spans[task].start, spans[task].end);
    }
    const auto layer = [&](const Unit::Gradient& gradient) {
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
  const auto& window = run.window;
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
