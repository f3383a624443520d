// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/text.hpp"
#include "sim/report/words.hpp"

namespace gradway::report {
namespace {

constexpr int all_ranks_up_to = 64;
constexpr int ranks_of_large_runs = 8;

enum class Thread : std::size_t { launch, compute, communicator, copy, other };
constexpr std::array<std::string_view, 5> thread_names{"CPU launch", "compute", "NCCL", "copy engine",
                                                       "other streams"};
constexpr int rows_a_thread = 100;  // thread ids 100.., 200.., so that further rows stay beside their first

Thread thread_of(const Task& task, Activity activity) {
  switch (activity) {
    case Activity::launch:
      return Thread::launch;
    case Activity::copy:
      return Thread::copy;
    case Activity::collective:
      return Thread::communicator;
    default:
      break;
  }
  return task.stream == Stream::compute ? Thread::compute : Thread::other;
}

/// When a task is seen on a thread of a rank, from its first op to its last.
struct Slice {
  double start = std::numeric_limits<double>::infinity();
  double end = -std::numeric_limits<double>::infinity();
  std::int32_t task = Origin::none;
  std::int32_t step = 0;
  Thread thread = Thread::compute;

  void cover(const Slice& other) {
    start = std::min(start, other.start);
    end = std::max(end, other.end);
  }
};

/// Text as a JSON string.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(std::llround(seconds * 1e9));
}

std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

/// The slices of the ranks that are shown, in order of rank, thread, start, step and task.
class Slices {
 public:
  Slices(const Run& run, int ranks) : run_{run}, by_rank_(static_cast<std::size_t>(ranks)) {
    const auto& ops = run.ops.ops();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const auto& origin = ops[i].origin;
      if (ops[i].kind == OpKind::join || origin.activity == Activity::marker || origin.task == Origin::none)
        continue;
      if (origin.rank >= ranks) continue;
      const auto& task = run.workload.tasks[static_cast<std::size_t>(origin.task)];
      const Slice slice{run.timeline.start[i].value(), run.timeline.end[i].value(), origin.task, origin.step,
                        thread_of(task, origin.activity)};
      (origin.rank == Origin::none ? of_all_ : by_rank_[static_cast<std::size_t>(origin.rank)])
          .push_back(slice);
    }
  }

  /// One rank's slices, or those of the rank that was simulated for it; what belongs to all ranks is among
  /// them.
  std::vector<Slice> of(std::size_t rank) const {
    auto slices = by_rank_[run_.folding.rank_representative[rank]];
    slices.insert(slices.end(), of_all_.begin(), of_all_.end());
    const auto task_key = [](const Slice& slice) { return std::tuple{slice.thread, slice.step, slice.task}; };
    std::ranges::stable_sort(slices, {}, task_key);
    std::vector<Slice> merged;
    for (const auto& slice : slices) {
      if (!merged.empty() && task_key(merged.back()) == task_key(slice)) {
        merged.back().cover(slice);
      } else {
        merged.push_back(slice);
      }
    }
    std::erase_if(merged,
                  [](const Slice& slice) { return nanoseconds(slice.end) <= nanoseconds(slice.start); });
    std::ranges::stable_sort(merged, {}, [](const Slice& slice) {
      return std::pair{slice.thread, slice.start};
    });
    return merged;
  }

 private:
  const Run& run_;
  std::vector<std::vector<Slice>> by_rank_;  ///< filled for the ranks that were simulated
  std::vector<Slice> of_all_;
};

/// Writes the events of a trace, one a line.
class TraceWriter {
 public:
  TraceWriter(std::ostream& out, const Run& run) : out_{out}, run_{run} {
    for (const auto& task : run.workload.tasks) {
      names_.push_back(json_text(task.name));
      args_.push_back(args(task));
    }
  }

  void process(std::size_t rank) {
    const auto& platform = run_.scenario.platform;
    const auto device =
        rank < platform.gpus.size() ? fmt::format(" ({})", platform.device(platform.gpus[rank]).name) : "";
    metadata("process_name", rank, 0,
             fmt::format(R"("name":{})", json_text(fmt::format("rank {}{}", rank, device))));
    metadata("process_sort_index", rank, 0, fmt::format(R"("sort_index":{})", rank));
  }

  /// @param slices of one rank, sorted by thread and start
  void slices(std::size_t rank, const std::vector<Slice>& slices) {
    std::vector<std::int64_t> row_ends;  // of the current thread
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (i == 0 || slices[i].thread != slices[i - 1].thread) row_ends.clear();
      const auto start = nanoseconds(slices[i].start);
      auto row = static_cast<std::size_t>(
          std::ranges::find_if(row_ends, [&](auto end) { return end <= start; }) - row_ends.begin());
      const auto thread = static_cast<std::size_t>(slices[i].thread);
      if (row == row_ends.size() && row_ends.size() < rows_a_thread) {
        row_ends.push_back(0);
        name_thread(rank, thread, row);
      }
      row = std::min<std::size_t>(row, rows_a_thread - 1);
      row_ends[row] = nanoseconds(slices[i].end);
      slice(rank, thread_id(thread, row), slices[i]);
    }
  }

 private:
  static std::size_t thread_id(std::size_t thread, std::size_t row) {
    return (thread + 1) * rows_a_thread + row;
  }

  void name_thread(std::size_t rank, std::size_t thread, std::size_t row) {
    const auto id = thread_id(thread, row);
    const auto suffix = row == 0 ? "" : fmt::format(" ({})", row + 1);
    metadata("thread_name", rank, id, fmt::format(R"("name":"{}{}")", thread_names[thread], suffix));
    metadata("thread_sort_index", rank, id, fmt::format(R"("sort_index":{})", id));
  }

  void metadata(std::string_view what, std::size_t rank, std::size_t thread, const std::string& arg) {
    event(
        fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", what, rank, thread, arg));
  }

  void slice(std::size_t rank, std::size_t thread, const Slice& slice) {
    const auto task = static_cast<std::size_t>(slice.task);
    const auto start = nanoseconds(slice.start);
    event(fmt::format(
        R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"step":{}{}}}}})",
        names_[task], name_of(run_.workload.tasks[task].phase), rank, thread, microseconds(start),
        microseconds(nanoseconds(slice.end) - start), slice.step, args_[task]));
  }

  void event(const std::string& text) {
    out_ << (first_ ? "\n" : ",\n") << text;
    first_ = false;
  }

  std::string args(const Task& task) const {
    auto text = fmt::format(R"(,"phase":"{}")", name_of(task.phase));
    const auto layer = static_cast<std::size_t>(task.layer);
    if (task.layer != Task::none && layer < run_.scenario.model.layers.size()) {
      text += fmt::format(R"(,"layer":{})", json_text(run_.scenario.model.layers[layer].name));
    }
    if (task.bucket != Task::none) text += fmt::format(R"(,"bucket":{})", task.bucket);
    if (task.bytes.value() > 0) text += fmt::format(R"(,"bytes":{:.0f})", task.bytes.value());
    return text;
  }

  std::ostream& out_;
  const Run& run_;
  std::vector<std::string> names_;
  std::vector<std::string> args_;
  bool first_ = true;
};

}  // namespace

void write_trace(std::ostream& out, const Run& run) {
  const auto all = run.workload.ranks;
  const auto shown = all > all_ranks_up_to ? ranks_of_large_runs : all;
  const auto ranks =
      shown == all ? fmt::format("all {}", all) : fmt::format("the first {} of {}", shown, all);
  out << fmt::format(
      R"({{"displayTimeUnit":"ms","otherData":{{"scenario":{},"engine":{},"ranks":"{}"}},"traceEvents":[)",
      json_text(run.scenario.name), json_text(run.engine), ranks);
  const Slices slices{run, shown};
  TraceWriter writer{out, run};
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(shown); ++rank) {
    writer.process(rank);
    writer.slices(rank, slices.of(rank));
  }
  out << "\n]}\n";
}

}  // namespace gradway::report
