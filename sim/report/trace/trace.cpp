// SPDX-License-Identifier: Apache-2.0
#include "sim/report/trace/trace.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "sim/metrics/steps.hpp"
#include "sim/report/format/text.hpp"
#include "sim/report/format/words.hpp"
#include "sim/report/trace/events.hpp"
#include "sim/report/trace/slices.hpp"

namespace gradway::report {
namespace {

constexpr std::size_t all_ranks_up_to = 64;
constexpr std::size_t all_tasks_up_to = 500'000;  // over all ranks and steps: a file of about 100 MB
constexpr std::size_t ranks_of_large_runs = 8;
constexpr std::size_t links_traced = 8;

// Thread ids leave space for many lanes per track; process ids are below those of ranks.
constexpr std::size_t ids_a_rank = 100'000;
constexpr std::size_t ids_a_track = 10'000;
constexpr std::size_t thread_of_steps = ids_a_rank - 1;

std::size_t node_of(const Platform& platform, std::size_t rank) {
  return static_cast<std::size_t>(platform.device(platform.gpus[rank]).node);
}

/// "node 0: 8 x l40s"
std::string node_name(const Run& run, std::size_t node) {
  const auto& platform = run.scenario.platform;
  int gpus = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(run.workload.ranks); ++rank)
    if (node_of(platform, rank) == node) ++gpus;
  if (gpus == 0) return fmt::format("node {}", node);
  return fmt::format("node {}: {} x {}", node, gpus, platform.gpu_models.front().name);
}

/// An arrow to a collective of a bucket.
struct Arrow {
  std::vector<std::size_t>
      from;  ///< candidates for its start, latest first: the first one with a duration is taken
  std::size_t to = 0;
  std::string name_json;
};

/// Arrows from the last gradient of each bucket to its collectives in turn.
std::vector<Arrow> arrows_of(const Program& program) {
  std::vector<Arrow> arrows;
  for (std::size_t b = 0; b < program.units.size(); ++b) {
    if (program.units[b].filled_by == Task::none) continue;
    const auto filled_by = static_cast<std::size_t>(program.units[b].filled_by);
    std::vector<std::size_t> from{filled_by};
    for (auto task = filled_by; task-- > 0;) {
      if (program.tasks[task].phase != Phase::backward) continue;
      from.push_back(task);
      break;
    }
    for (auto task = filled_by; task < program.tasks.size(); ++task) {
      const auto& candidate = program.tasks[task];
      if (!std::holds_alternative<Call>(candidate.work) || candidate.unit != static_cast<std::int32_t>(b))
        continue;
      arrows.push_back({from, task, json_text(fmt::format("bucket {}", b))});
      from.insert(from.begin(), task);
    }
  }
  return arrows;
}

/// Writes a trace. Its functions are called in the order of their declaration.
class TraceWriter {
 public:
  TraceWriter(std::ostream& out, const Run& run)
      : events_{out}, run_{run}, names_{task_labels(run.workload)} {
    for (auto& labels : names_)
      for (auto& label : labels) label = json_text(label);
    for (const auto& program : run.workload.programs) {
      arrows_.push_back(arrows_of(program));
      auto& program_args = args_.emplace_back();
      for (const auto& task : program.tasks) program_args.push_back(args(task));
    }
  }

  void steps(const std::string& words) {
    const auto process = static_cast<std::size_t>(run_.scenario.platform.nodes) + 1;
    const TraceThread thread{process, thread_of_steps};
    const auto name = run_.scenario.name.empty() ? "run" : run_.scenario.name;
    events_.process(process, 0, fmt::format("{}: {}", name, words));
    events_.thread(thread, "steps");
    for (const auto& window : step_windows(run_.workload, run_.ops, run_.timeline)) {
      if (nanoseconds(window.to) <= nanoseconds(window.from)) continue;
      const auto label =
          fmt::format("step {}{}", window.step, run_.window.has(window.step) ? ", reported" : "");
      events_.slice(thread, json_text(label), "step", nanoseconds(window.from), nanoseconds(window.to),
                    fmt::format(R"("step":{})", window.step));
    }
    const auto& repeated = run_.window.repeated;
    if (repeated.left_out == 0) return;
    const auto label = fmt::format("happens {} times; the trace has it once",
                                   thousands_text(1 + static_cast<std::size_t>(repeated.left_out)));
    events_.slice(thread, json_text(label), "step", nanoseconds(repeated.from), nanoseconds(repeated.to),
                  fmt::format(R"("step":{},"times":{})", run_.window.step, 1 + repeated.left_out));
  }

  /// Writes the processes: one per node of shown ranks and links.
  void nodes(const std::vector<std::size_t>& ranks, const std::vector<LinkTrack>& links) {
    const auto& platform = run_.scenario.platform;
    std::map<int, std::vector<std::size_t>> shown;
    for (const auto& link : links) shown[link.node];
    for (const auto rank : ranks) shown[static_cast<int>(node_of(platform, rank))].push_back(rank);
    const auto last = static_cast<std::size_t>(platform.nodes);
    for (const auto& [node, on_it] : shown) {
      if (node < 0) {
        events_.process(process_of(node), last + 1, "between nodes");
        continue;
      }
      const auto number = static_cast<std::size_t>(node);
      events_.process(process_of(node), number + 1, node_name(run_, number),
                      on_it.empty() ? "links only" : counted_text(on_it.size(), "rank") + " shown");
    }
  }

  /// @param position of the rank among the shown ranks
  /// @param slices of the rank
  void rank(std::size_t rank, std::size_t position, const std::vector<Slice>& slices) {
    const auto& platform = run_.scenario.platform;
    const auto process = process_of(static_cast<int>(node_of(platform, rank)));
    const auto name = fmt::format("rank {} ({})", rank, platform.name_of(platform.gpus[rank]));
    const auto thread_of = [&](const Slice& slice) {
      return TraceThread{process, (position + 1) * ids_a_rank +
                                      (static_cast<std::size_t>(slice.track) + 1) * ids_a_track +
                                      static_cast<std::size_t>(slice.lane)};
    };
    std::set<std::size_t> known;
    for (const auto& slice : slices) {
      const auto thread = thread_of(slice);
      if (known.insert(thread.thread).second) {
        const auto row = slice.lane == 0 ? "" : fmt::format(" ({})", slice.lane + 1);
        events_.thread(
            thread, fmt::format("{}: {}{}", name, track_names[static_cast<std::size_t>(slice.track)], row));
      }
      write(thread, slice, rank);
    }
    write_arrows(run_.workload.actors[rank].program, slices, thread_of);
    gpu_busy(process, json_text(fmt::format("rank {} GPU busy", rank)), slices);
  }

  void link(const LinkTrack& link) {
    const auto process = process_of(link.node);
    auto name = link.name;
    if (link.alike > 0) name += fmt::format(" (and {} identical)", thousands_text(link.alike));
    const auto name_json = json_text(name);
    const auto write = [&](std::int64_t at_ns, double job, double neighbours) {
      const auto values =
          link.has_others ? fmt::format(R"("%":{:.7g},"% of neighbours":{:.7g})", 100 * job, 100 * neighbours)
                          : fmt::format(R"("%":{:.7g})", 100 * job);
      events_.counter({process, process}, name_json, at_ns, values);
    };
    if (link.points.empty() || link.points.front().at_ns > 0) write(0, 0, 0);
    for (const auto& point : link.points) write(point.at_ns, point.own, point.others);
  }

 private:
  std::size_t process_of(int node) const {
    return static_cast<std::size_t>(node < 0 ? run_.scenario.platform.nodes + 2 : node + 1);
  }

  void write(TraceThread thread, const Slice& slice, std::size_t rank) {
    const auto phase = name_of(slice.phase);
    auto args = fmt::format(R"("rank":{},"step":{})", rank, slice.step);
    if (slice.task == Origin::none)
      return events_.slice(thread, json_text(phase), phase, slice.start_ns, slice.end_ns, args);
    const auto task = static_cast<std::size_t>(slice.task);
    events_.slice(thread, names_[slice.program][task], phase, slice.start_ns, slice.end_ns,
                  args + args_[slice.program][task]);
  }

  template <class ThreadOf>
  void write_arrows(ProgramId program, const std::vector<Slice>& slices, const ThreadOf& thread_of) {
    const auto& arrows = arrows_[program.index()];
    std::map<std::pair<std::int32_t, std::size_t>, const Slice*> slice_of;  // by step and task
    std::set<std::size_t> wanted;
    for (const auto& arrow : arrows) {
      wanted.insert(arrow.to);
      wanted.insert(arrow.from.begin(), arrow.from.end());
    }
    for (const auto& slice : slices) {
      const auto task = static_cast<std::size_t>(slice.task);
      if (slice.track == Track::phases || slice.track == Track::launch || !wanted.contains(task)) continue;
      slice_of[{slice.step, task}] = &slice;
    }
    for (std::int32_t step = 0; step < run_.workload.steps; ++step) {
      for (const auto& arrow : arrows) {
        const auto target = slice_of.find({step, arrow.to});
        const auto from = std::ranges::find_if(arrow.from, [&](std::size_t task) {
          return slice_of.contains({step, task});
        });
        if (target == slice_of.end() || from == arrow.from.end()) continue;
        const auto& closing = *slice_of.at({step, *from});
        events_.arrow(arrow.name_json, thread_of(closing), closing.end_ns, thread_of(*target->second),
                      target->second->start_ns);
      }
    }
  }

  /// Writes a counter of kernels on any stream.
  void gpu_busy(std::size_t process, const std::string& name_json, const std::vector<Slice>& slices) {
    std::vector<std::pair<std::int64_t, std::int64_t>> kernels;
    for (const auto& slice : slices) {
      if (slice.track == Track::compute || slice.track == Track::other)
        kernels.emplace_back(slice.start_ns, slice.end_ns);
    }
    std::ranges::sort(kernels);
    const auto write = [&](std::int64_t at_ns, int percent) {
      events_.counter({process, process}, name_json, at_ns, fmt::format(R"("%":{})", percent));
    };
    std::int64_t until = 0;
    if (kernels.empty() || kernels.front().first > 0) write(0, 0);
    for (auto next = kernels.begin(); next != kernels.end();) {
      write(next->first, 100);
      until = next->second;
      for (++next; next != kernels.end() && next->first <= until; ++next)
        until = std::max(until, next->second);
      write(until, 0);
    }
  }

  std::string args(const Task& task) const {
    auto text = fmt::format(R"(,"phase":"{}")", name_of(task.phase));
    const auto layer = static_cast<std::size_t>(task.layer);
    if (task.layer != Task::none && layer < run_.scenario.model.layers.size()) {
      text += fmt::format(R"(,"layer":{})", json_text(run_.scenario.model.layers[layer].name));
    }
    if (task.unit != Task::none) text += fmt::format(R"(,"bucket":{})", task.unit);
    if (const auto bytes = bytes_of(task.work); bytes.value() > 0)
      text += fmt::format(R"(,"bytes":{:.0f})", bytes.value());
    return text;
  }

  TraceEvents events_;
  const Run& run_;
  // By program and task.
  std::vector<std::vector<std::string>> names_;
  std::vector<std::vector<std::string>> args_;
  std::vector<std::vector<Arrow>> arrows_;  ///< by program
};

std::size_t tasks_of_all_ranks(const Workload& workload) {
  std::size_t tasks = 0;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(workload.ranks); ++rank)
    tasks += workload.program_of(ActorId{rank}).tasks.size();
  return tasks * static_cast<std::size_t>(workload.steps);
}

}  // namespace

void write_trace(std::ostream& out, const Run& run) {
  const bool is_short = tasks_of_all_ranks(run.workload) <= all_tasks_up_to;
  const auto shown = shown_ranks(run.folding, is_short ? all_ranks_up_to : 1, ranks_of_large_runs);
  out << fmt::format(
      R"({{"displayTimeUnit":"ms","otherData":{{"scenario":{},"engine":{},"ranks":{}}},"traceEvents":[)",
      json_text(run.scenario.name), json_text(run.engine), json_text(shown.words));
  const auto links = busiest_links(run, links_traced);
  const Slices slices{run, shown.ranks};
  TraceWriter writer{out, run};
  writer.steps(shown.words);
  writer.nodes(shown.ranks, links);
  for (std::size_t i = 0; i < shown.ranks.size(); ++i)
    writer.rank(shown.ranks[i], i, slices.of(shown.ranks[i]));
  for (const auto& link : links) writer.link(link);
  out << "\n]}\n";
}

}  // namespace gradway::report
