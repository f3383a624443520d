// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/metrics/view.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/page/page_parts.hpp"
#include "sim/report/trace/slices.hpp"

namespace gradway::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_ranks = 4;
constexpr std::size_t links_shown = 8;
// Limits that keep pages fast: with more slices, short neighbours are joined; use over time is averaged over
// this many parts of the step. The trace has each slice.
constexpr std::size_t most_slices = 12'000;
constexpr std::size_t most_slices_of_row = 1'000;
constexpr std::int64_t use_bins = 400;

double microseconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

std::int64_t whole(Bytes amount) {
  return static_cast<std::int64_t>(std::llround(amount.value()));
}

/// Numbers names in the order of first use.
class NameTable {
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

/// A slice of the page. It may stand for several short slices of one phase and unit.
struct PageSlice {
  std::size_t row = 0;
  Slice first;
  std::int64_t end_ns = 0;
  std::size_t count = 1;
  std::int64_t bytes = 0;
  std::int32_t unit = Task::none;
};

/// Joins adjacent slices of a row that are shorter than the resolution and closer than it, if they have the
/// same phase and unit or are launches. A joined slice is at most 8 times the resolution.
std::vector<PageSlice> joined(std::span<const PageSlice> row, std::int64_t resolution_ns) {
  std::vector<PageSlice> slices;
  const auto is_short = [&](const PageSlice& slice) {
    return slice.count > 1 || slice.end_ns - slice.first.start_ns < resolution_ns;
  };
  for (const auto& slice : row) {
    const bool joins =
        !slices.empty() && is_short(slice) && is_short(slices.back()) &&
        (slice.first.track == Track::launch ||
         (slices.back().first.phase == slice.first.phase && slices.back().unit == slice.unit)) &&
        slice.first.start_ns - slices.back().end_ns < resolution_ns &&
        slice.end_ns - slices.back().first.start_ns < 8 * resolution_ns;
    if (!joins) {
      slices.push_back(slice);
      continue;
    }
    slices.back().end_ns = slice.end_ns;
    slices.back().count += slice.count;
    slices.back().bytes += slice.bytes;
  }
  return slices;
}

/// Converts slices to rows of numbers, by rank.
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
    const auto gpu = platform.gpus[rank];
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (i == 0 || row_of(slices[i]) != row_of(slices[i - 1])) {
        rows_.push_back({{"rank", rank},
                         {"node", platform.device(gpu).node},
                         {"device", platform.name_of(gpu)},
                         {"stream", track_names[static_cast<std::size_t>(slices[i].track)]}});
      }
      add(slices[i]);
    }
  }

  /// @param words note on the ranks that are not shown
  Json take(const std::string& words) {
    const auto resolution = choose_resolution();
    Json slices = Json::array();
    for (const auto& slice : shown_) slices.push_back(json_of(slice));
    return {{"step", {{"from_us", 0.0}, {"to_us", microseconds(to_ - from_)}}},
            {"ranks", words},
            {"joined_us", resolution > 0 ? Json(microseconds(resolution)) : Json(nullptr)},
            {"rows", std::move(rows_)},
            {"names", names_.json()},
            {"phases", phases_.json()},
            {"slices", std::move(slices)}};
  }

 private:
  void add(const Slice& slice) {
    PageSlice shown{.row = rows_.size() - 1, .first = slice, .end_ns = slice.end_ns};
    if (slice.task != Origin::none) {
      const auto& task = run_.workload.programs[slice.program].tasks[static_cast<std::size_t>(slice.task)];
      shown.unit = task.unit;
      shown.bytes = whole(bytes_of(task.work));
    }
    shown_.push_back(shown);
  }

  /// If there are too many slices, joins as few as necessary.
  /// @return the coarsest resolution; 0 if none was joined
  std::int64_t choose_resolution() {
    if (shown_.size() <= most_slices) return 0;
    std::int64_t coarsest = 0;
    std::vector<PageSlice> shown;
    const auto finest = std::max<std::int64_t>(1, (to_ - from_) >> 20);
    for (auto begin = shown_.begin(); begin != shown_.end();) {
      const auto end =
          std::find_if(begin, shown_.end(), [&](const auto& slice) { return slice.row != begin->row; });
      const std::span<const PageSlice> row{begin, end};
      std::vector<PageSlice> fewer{row.begin(), row.end()};
      for (auto resolution = finest; fewer.size() > most_slices_of_row && resolution < (to_ - from_) / 16;
           resolution *= 2) {
        fewer = joined(row, resolution);
        coarsest = std::max(coarsest, resolution);
      }
      shown.insert(shown.end(), fewer.begin(), fewer.end());
      begin = end;
    }
    shown_ = std::move(shown);
    return coarsest;
  }

  Json json_of(const PageSlice& shown) {
    const auto& slice = shown.first;
    const std::string phase{name_of(slice.phase)};
    const auto& name =
        slice.task == Origin::none ? phase : labels_[slice.program][static_cast<std::size_t>(slice.task)];
    return {shown.row,
            microseconds(slice.start_ns - from_),
            microseconds(shown.end_ns - slice.start_ns),
            names_.number(shown.count > 1 ? fmt::format("{} slices", shown.count) : name),
            phases_.number(phase),
            shown.unit,
            shown.bytes};
  }

  const Run& run_;
  std::int64_t from_;  ///< the step, in nanoseconds
  std::int64_t to_;
  std::vector<std::vector<std::string>> labels_;  ///< by program and task
  NameTable names_;
  NameTable phases_;
  Json rows_ = Json::array();
  std::vector<PageSlice> shown_;  ///< by row and start
};

/// Start and end of an activity.
struct ActivitySpan {
  Seconds start = Seconds::infinite();
  Seconds end{};
};

void cover(ActivitySpan& span, Seconds start, Seconds end) {
  span.start = std::min(span.start, start);
  span.end = std::max(span.end, end);
}

/// Whether a call reduces gradients, rather than gathering or sending the result.
bool reduces(const Call& call) {
  return call.kind == CollectiveKind::all_reduce || call.kind == CollectiveKind::reduce_scatter;
}

/// Spans of one step by task: ops of rank 0 and of its groups, without launches. A collective without
/// duration is placed at the rendezvous of its ranks.
std::vector<ActivitySpan> spans_on_rank_0(const Run& run, int step) {
  const View view{run.workload, run.folding, ActorId{0}};
  const MatchingCalls calls{run.workload};
  std::vector<ActivitySpan> spans(view.program().tasks.size());
  std::vector<ActivitySpan> marks(view.program().tasks.size());
  for (std::size_t i = 0; i < run.ops.size(); ++i) {
    const auto& origin = run.ops.op(OpId{i}).origin;
    if (origin.step != step || !view.sees(origin)) continue;
    if (origin.activity == Activity::launch) continue;
    auto& covered = origin.activity == Activity::marker ? marks : spans;
    cover(covered[static_cast<std::size_t>(view.task_of(origin, calls))], run.timeline.start[i],
          run.timeline.end[i]);
  }
  for (std::size_t task = 0; task < spans.size(); ++task) {
    if (spans[task].start == Seconds::infinite()) spans[task] = marks[task];
  }
  return spans;
}

/// Use of a link by the job from a time on.
struct UseSample {
  std::int64_t at_ns = 0;
  double used = 0;
};

/// The samples from the start to the end of the step. The first one is at its start.
std::vector<UseSample> uses_within(const std::vector<LinkTrack::Point>& points, std::int64_t from,
                                   std::int64_t to) {
  std::vector<UseSample> samples{{from, 0}};
  for (const auto& point : points) {
    if (point.at_ns >= to) break;
    if (point.at_ns <= from) {
      samples.front().used = point.own;
    } else {
      samples.push_back({point.at_ns, point.own});
    }
  }
  return samples;
}

/// Averages over equal parts of the step. The total that a link carries is preserved.
std::vector<UseSample> averaged(const std::vector<UseSample>& uses, std::int64_t from, std::int64_t to) {
  std::vector<UseSample> bins;
  std::size_t current = 0;
  for (std::int64_t bin = 0; bin < use_bins; ++bin) {
    const auto start = from + (to - from) * bin / use_bins;
    const auto end = from + (to - from) * (bin + 1) / use_bins;
    double sum = 0;
    for (auto moment = start; moment < end;) {
      while (current + 1 < uses.size() && uses[current + 1].at_ns <= moment) ++current;
      const auto next = current + 1 < uses.size() ? std::min(end, uses[current + 1].at_ns) : end;
      sum += uses[current].used * static_cast<double>(next - moment);
      moment = next;
    }
    bins.push_back({start, sum / static_cast<double>(std::max<std::int64_t>(1, end - start))});
  }
  return bins;
}

/// The period of the step that stands for several equal ones; null if all are drawn.
Json repeated_json(const StepWindow& window) {
  const auto& repeated = window.repeated;
  if (repeated.left_out == 0) return nullptr;
  const auto from = nanoseconds(window.from);
  return {{"from_us", microseconds(nanoseconds(repeated.from) - from)},
          {"to_us", microseconds(nanoseconds(repeated.to) - from)},
          {"left_out", repeated.left_out}};
}

}  // namespace

Json timeline_json(const Run& run) {
  const auto& window = run.window;
  const auto shown = shown_ranks(run.folding, 0, most_ranks);
  const Slices slices{run, shown.ranks};
  TimelineWriter writer{run, window};
  for (const auto rank : shown.ranks) writer.add(rank, slices.of(rank));
  auto timeline = writer.take(shown.words);
  timeline["repeated"] = repeated_json(window);
  return timeline;
}

Json buckets_json(const Run& run) {
  const auto& program = run.workload.first_program();
  const auto spans = spans_on_rank_0(run, run.window.step);
  const auto from = nanoseconds(run.window.from);
  Json list = Json::array();
  for (std::size_t b = 0; b < program.units.size(); ++b) {
    const auto& bucket = program.units[b];
    if (bucket.filled_by == Task::none) continue;
    ActivitySpan reduced;
    std::vector<std::string_view> kinds;
    for (auto task = static_cast<std::size_t>(bucket.filled_by); task < program.tasks.size(); ++task) {
      const auto& candidate = program.tasks[task];
      const auto* call = std::get_if<Call>(&candidate.work);
      if (call == nullptr || candidate.unit != static_cast<std::int32_t>(b) || !reduces(*call)) continue;
      cover(reduced, spans[task].start, spans[task].end);
      if (std::ranges::find(kinds, name_of(call->kind)) == kinds.end()) kinds.push_back(name_of(call->kind));
    }
    const auto layer = [&](const Unit::Gradient& gradient) {
      return run.scenario.model.layers[static_cast<std::size_t>(gradient.layer)].name;
    };
    const auto us = [&](Seconds date) { return microseconds(nanoseconds(date) - from); };
    list.push_back({{"size_bytes", whole(bucket.size)},
                    {"gradients", bucket.gradients.size()},
                    {"first_layer", layer(bucket.gradients.front())},
                    {"last_layer", layer(bucket.gradients.back())},
                    {"collective", fmt::format("{}", fmt::join(kinds, ", "))},
                    {"ready_us", us(spans[static_cast<std::size_t>(bucket.filled_by)].end)},
                    {"start_us", us(reduced.start)},
                    {"end_us", us(reduced.end)}});
  }
  return list;
}

Json use_json(const Run& run) {
  const auto from = nanoseconds(run.window.from);
  const auto to = nanoseconds(run.window.to);
  Json list = Json::array();
  for (const auto& link : busiest_links(run, links_shown)) {
    auto uses = uses_within(link.points, from, to);
    Json bin;
    if (uses.size() > static_cast<std::size_t>(use_bins)) {
      uses = averaged(uses, from, to);
      bin = microseconds(to - from) / static_cast<double>(use_bins);
    }
    Json points = Json::array();
    for (const auto& [time_ns, used] : uses) points.push_back({microseconds(time_ns - from), used});
    points.push_back({microseconds(to - from), uses.back().used});
    list.push_back({{"name", link.name},
                    {"alike", link.alike},
                    {"bin_us", std::move(bin)},
                    {"points", std::move(points)}});
  }
  return list;
}

}  // namespace gradway::report
